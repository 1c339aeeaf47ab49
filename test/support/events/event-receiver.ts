import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudEvent } from '../../../src/events/cloudevents/event.ts';
import { decodeHttp } from '../../../src/events/cloudevents/http.ts';

export interface EventReceiver {
  readonly url: string;
  close(): Promise<void>;
}

/** A receiver of webhooks. @param answer the status for an event, with the path that it came to */
export async function startEventReceiver(
  answer: (event: CloudEvent, path: string) => number | Promise<number>,
): Promise<EventReceiver> {
  const read = async (request: IncomingMessage): Promise<CloudEvent> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const decoded = decodeHttp({ headers, body: Buffer.concat(chunks) });
    const [event] = decoded.ok ? decoded.value.events : [];
    if (event === undefined) throw new Error(JSON.stringify(decoded));
    return event;
  };
  const server = createServer((request, response) => {
    void read(request)
      .then((event) => answer(event, request.url ?? ''))
      // A sender that was killed leaves half a message behind.
      .catch(() => 400)
      .then((status) => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
