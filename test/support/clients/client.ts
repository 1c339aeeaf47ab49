import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  createWireReader,
  headerOf,
  type RawHeaders,
  readChunked,
  type WireReader,
  writeTo,
} from './wire.ts';

/** An answer as it stood on the wire. */
export interface Reply {
  status: number;
  headers: RawHeaders;
  header(name: string): string | undefined;
  body: Buffer;
  text: string;
  /** The body as JSON. @throws when it is none */
  json(): Record<string, unknown>;
  json<Body>(): Body;
  /** `complete`: ended as its framing says. `cut`: the connection closed before that. */
  end: 'complete' | 'cut';
}

/** An answer that is still coming. */
export interface OpenReply {
  status: number;
  headers: RawHeaders;
  header(name: string): string | undefined;
  /** What has come of the body. */
  soFar(): string;
  /** Resolves once the body so far contains `text`. @throws when it ends without */
  until(text: string): Promise<void>;
  /** The whole reply. */
  whole: Promise<Reply>;
}

export interface RawClient {
  socket: Socket;
  write(bytes: Buffer | string): Promise<boolean>;
  /** Sends a request; content-length is added for a body unless a framing header is given. */
  send(request: RequestLine): Promise<boolean>;
  /** The head of the next answer; its body is read in the background. */
  open(): Promise<OpenReply>;
  /** The next answer whole. */
  reply(): Promise<Reply>;
  /** Closes at once. */
  destroy(): void;
}

export interface RequestLine {
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  body?: Buffer | string;
}

/** A client on a bare TCP socket, for what a well-behaved HTTP client would never send and for exact bytes. */
export async function openClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const reader = createWireReader(socket);
  await once(socket, 'connect');
  const client: RawClient = {
    socket,
    write: (bytes) => writeTo(socket, bytes),
    send: (request) => writeTo(socket, requestBytes(request)),
    open: () => openReply(reader),
    reply: async () => (await openReply(reader)).whole,
    destroy: () => socket.destroy(),
  };
  return client;
}

/** One request on its own connection, answered whole. */
export async function exchange(port: number, request: RequestLine): Promise<Reply> {
  const client = await openClient(port);
  try {
    await client.send(request);
    return await client.reply();
  } finally {
    client.destroy();
  }
}

export function requestBytes({ method = 'POST', path, headers = {}, body }: RequestLine): Buffer {
  const given = Array.isArray(headers) ? [...headers] : Object.entries(headers);
  const names = given.map(([name]) => name.toLowerCase());
  if (!names.includes('host')) given.unshift(['host', 'gateway.test']);
  if (body !== undefined && !names.includes('content-length') && !names.includes('transfer-encoding')) {
    given.push(['content-length', String(Buffer.byteLength(body))]);
  }
  const lines = given.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n`, 'latin1'),
    Buffer.from(body ?? ''),
  ]);
}

async function openReply(reader: WireReader): Promise<OpenReply> {
  const head = await reader.head();
  if (head === null) throw new Error('the connection closed before an answer began');
  const status = Number(head.startLine.split(' ')[1]);
  const header = (name: string) => headerOf(head.headers, name);
  const pieces: Buffer[] = [];
  let done = false;
  let wake = () => {};
  const onPiece = (piece: Buffer) => {
    // A copy of what so far came would be quadratic; joined when asked for.
    pieces.push(piece);
    wake();
  };
  const soFar = () => Buffer.concat(pieces).toString('utf8');
  const whole = readReplyBody(reader, status, header, onPiece).then((end): Reply => {
    done = true;
    wake();
    const body = Buffer.concat(pieces);
    return {
      status,
      headers: head.headers,
      header,
      body,
      text: body.toString('utf8'),
      // The client asserts on what it needs.
      json: () => JSON.parse(body.toString('utf8')),
      end,
    };
  });
  return {
    status,
    headers: head.headers,
    header,
    soFar,
    whole,
    async until(text) {
      while (!soFar().includes(text)) {
        if (done)
          throw new Error(`the answer ended without ${JSON.stringify(text)}: ${soFar().slice(0, 2000)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function readReplyBody(
  reader: WireReader,
  status: number,
  header: (name: string) => string | undefined,
  onPiece: (piece: Buffer) => void,
): Promise<'complete' | 'cut'> {
  if (status === 204 || status === 304) return 'complete';
  if (header('transfer-encoding')?.toLowerCase().includes('chunked')) {
    return (await readChunked(reader, onPiece)).complete ? 'complete' : 'cut';
  }
  const length = header('content-length');
  if (length !== undefined) {
    let left = Number(length);
    while (left > 0) {
      const some = await reader.take(1);
      if (some === null) return 'cut';
      onPiece(some);
      left -= 1;
      const step = Math.min(left, 65_536);
      if (step === 0) break;
      const piece = await reader.take(step);
      if (piece === null) return 'cut';
      onPiece(piece);
      left -= step;
    }
    return 'complete';
  }
  for (let some = await reader.some(); some !== null; some = await reader.some()) onPiece(some);
  return 'complete';
}
