import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type RunningGateway, startGateway } from './gateway.ts';

/** A gateway whose connections, one for each provider and named as it, all lead to one scripted upstream. */
export interface ProviderGateway {
  gateway: RunningGateway;
  upstream: Upstream;
  /** Stops both. */
  stop(): Promise<void>;
}

/** @param providers ids of providers */
export async function startProviderGateway(providers: readonly string[]): Promise<ProviderGateway> {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    connections: providers.map((provider) => ({ provider, name: provider, baseUrl: upstream.url })),
  });
  return {
    gateway,
    upstream,
    async stop() {
      await gateway.stop();
      await upstream.close();
    },
  };
}
