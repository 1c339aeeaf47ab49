import { once } from 'node:events';
import { WebSocket } from 'ws';
import { bearer, type RunningGateway } from '../gateway/gateway.ts';
import { PATIENCE_MS } from '../machine/patience.ts';

/** A message of the gateway, read. */
export interface Message {
  type: string;
  status?: number;
  stream_id?: string;
  delta?: string;
  error?: { code: string | null; message: string; type: string; param: string | null };
  headers?: Record<string, string>;
  response?: { id: string; status: string; output: unknown[]; error?: { code: string; message: string } };
}

/** A client of responses over a WebSocket. */
export interface SocketClient {
  ws: WebSocket;
  /** Everything received, in order. */
  messages: Message[];
  /** Sends `response.create`, or whatever else `message` names as its type. */
  create(message: object): void;
  /** Waits for the next message of one of these types and takes everything before it. */
  until(...types: string[]): Promise<Message>;
  /** Waits for the end of an answer and gives all its messages. */
  answer(): Promise<Message[]>;
  /** The close code, once it is closed. */
  closed: Promise<number>;
}

const terminal = ['response.completed', 'response.incomplete', 'response.failed', 'error'];

export function textOf(messages: readonly Message[]): string {
  return messages
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => delta)
    .join('');
}

export async function openSocket(
  gateway: RunningGateway,
  { headers = bearer(gateway.key), path = '/v1/responses' } = {},
): Promise<SocketClient> {
  const ws = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, { headers, perMessageDeflate: true });
  const messages: Message[] = [];
  let taken = 0;
  let wake = () => {};
  ws.on('message', (data) => {
    messages.push(JSON.parse(String(data)) as Message);
    wake();
  });
  const closed = new Promise<number>((resolve) => {
    ws.on('close', (code) => {
      resolve(code);
      wake();
    });
  });
  ws.on('error', () => {});
  await Promise.race([once(ws, 'open'), closed]);
  const until = async (...types: string[]): Promise<Message> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = messages.findIndex(({ type }, index) => index >= taken && types.includes(type));
      const message = messages[found];
      if (message !== undefined) {
        taken = found + 1;
        return message;
      }
      const left = deadline - performance.now();
      const seen = JSON.stringify(messages.slice(taken).map(({ type }) => type));
      if (left <= 0 || ws.readyState === ws.CLOSED) throw new Error(`none of ${types} came, but ${seen}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  return {
    ws,
    messages,
    create: (message) => ws.send(JSON.stringify({ type: 'response.create', ...message })),
    until,
    async answer() {
      const from = taken;
      await until(...terminal);
      return messages.slice(from, taken);
    },
    closed,
  };
}

/** The HTTP answer to a handshake that is refused. */
export async function refusedSocket(
  gateway: RunningGateway,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; header(name: string): string | undefined; body: Record<string, unknown> }> {
  const ws = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, { headers: { ...headers } });
  ws.on('error', () => {});
  const [, response] = await once(ws, 'unexpected-response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  ws.terminate();
  return {
    status: response.statusCode,
    header: (name) => response.headers[name],
    body: JSON.parse(Buffer.concat(pieces).toString()),
  };
}
