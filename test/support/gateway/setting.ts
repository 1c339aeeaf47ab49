import { after, before } from 'node:test';
import { connectionsTo } from '../formats/formats.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from './gateway.ts';

/** A gateway and the upstream behind it, for all tests of one file. */
export interface Setting {
  readonly gateway: RunningGateway;
  readonly upstream: Upstream;
}

/** Starts both before the file's tests and stops both after them. */
export function setting(options: Omit<GatewayOptions, 'connections'> = {}): Setting {
  const started: { gateway?: RunningGateway; upstream?: Upstream } = {};
  before(async () => {
    const upstream = await startUpstream();
    started.upstream = upstream;
    started.gateway = await startGateway({ ...options, connections: connectionsTo(upstream.url) });
  });
  after(async () => {
    try {
      await started.gateway?.stop();
    } finally {
      await started.upstream?.close();
    }
  });
  return {
    get gateway() {
      if (started.gateway === undefined) throw new Error('the gateway has not started');
      return started.gateway;
    },
    get upstream() {
      if (started.upstream === undefined) throw new Error('the upstream has not started');
      return started.upstream;
    },
  };
}
