import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ResourceServer {
  url: string;
  /** The bearer tokens of all requests, in order. */
  presented: string[];
  /** From now on this token is not good, whoever says so; `*` for all. */
  refuse(token: string): void;
  /** Called with each token before it is answered. */
  before: (token: string) => Promise<void>;
  close(): Promise<void>;
}

/** A model server that lets in who has a good access token. */
export async function startResourceServer(
  accepts: (token: string) => Promise<boolean>,
): Promise<ResourceServer> {
  const refused = new Set<string>();
  const http = createServer((request, response) => {
    request.resume();
    void (async () => {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      server.presented.push(token);
      await server.before(token);
      const good = !refused.has(token) && !refused.has('*') && (await accepts(token));
      const body = !good
        ? { error: { message: `not good: ${token}` } }
        : request.url === '/v1/models'
          ? { object: 'list', data: [{ id: 'm-1' }, { id: 'm-2' }] }
          : answer;
      response.writeHead(good ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: ResourceServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    presented: [],
    before: async () => {},
    refuse: (token) => void refused.add(token),
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}

const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
