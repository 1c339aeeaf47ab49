import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const upstreamKey = 'sk-upstream-0123456789abcdef';

export interface Upstream {
  url: string;
  /** Method and path of every request, in order. */
  seen: string[];
  close(): Promise<void>;
}

/** A provider on this machine that knows one key, lists two models and answers chat completions. */
export async function createUpstream(): Promise<Upstream> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.headers.authorization !== `Bearer ${upstreamKey}`) {
    send(response, 401, { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } });
  } else if (request.url === '/v1/models') {
    send(response, 200, { object: 'list', data: [{ id: 'small' }, { id: 'large' }] });
  } else {
    send(response, 404, { error: { message: 'not here', type: 'invalid_request_error' } });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
