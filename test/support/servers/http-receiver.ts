import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a receiver got it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReceiverAnswer {
  status: number;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

/** Answers requests as it is told, and remembers them. */
export interface HttpReceiver {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** Null leaves the request without an answer. */
  answer(answerOf: (request: ReceivedRequest) => ReceiverAnswer | null): void;
  close(): Promise<void>;
}

export async function startHttpReceiver(): Promise<HttpReceiver> {
  const received: ReceivedRequest[] = [];
  let answerOf = (_: ReceivedRequest): ReceiverAnswer | null => ({ status: 204 });
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers,
      body: Buffer.concat(chunks).toString(),
    };
    received.push(request);
    const answer = answerOf(request);
    if (answer !== null) response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(next) {
      answerOf = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
