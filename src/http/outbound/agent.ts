import type { Agent, Dispatcher } from 'undici';

/** Requests of the gateway's own, over connections of their own. */
export interface OutboundAgent {
  /**
   * undici's `request`.
   * @throws undici's errors of the transport, and TypeError for what is no URL
   */
  request(
    url: string,
    options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
  ): Promise<Dispatcher.ResponseData>;
  /** Ends every connection, whatever it carries. */
  destroy(): Promise<void>;
}

/** An agent of undici's, whose code is loaded with the first request: most gateways never send one. */
export function createOutboundAgent(options: Agent.Options = {}): OutboundAgent {
  let opening: Promise<{ agent: Agent; request: typeof import('./undici.ts').request }> | null = null;
  const open = async () => {
    const { Agent, request } = await import('./undici.ts');
    return { agent: new Agent(options), request };
  };
  return {
    async request(url, options) {
      opening ??= open();
      const { agent, request } = await opening;
      return request(url, { ...options, dispatcher: agent });
    },
    async destroy() {
      await (await opening)?.agent.destroy();
    },
  };
}
