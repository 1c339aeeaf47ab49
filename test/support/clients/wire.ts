import type { Socket } from 'node:net';

/** Header fields as they stand on the wire: order, case and repetition kept. */
export type RawHeaders = readonly (readonly [name: string, value: string])[];

export interface MessageHead {
  /** The request or status line. */
  startLine: string;
  headers: RawHeaders;
  /** The bytes up to and with the blank line. */
  raw: Buffer;
}

/** The first value of a field, whatever its case. */
export function headerOf(headers: RawHeaders, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headers.find(([field]) => field.toLowerCase() === wanted)?.[1];
}

/** Reads HTTP/1.1 messages from a socket byte by byte, without any parser of Node's, so that nothing is tidied up. */
export interface WireReader {
  /** The next head, or null when the peer closed before one was complete. */
  head(): Promise<MessageHead | null>;
  /** Exactly `length` bytes, or null when the peer closed first. */
  take(length: number): Promise<Buffer | null>;
  /** A line without its CRLF, or null. */
  line(): Promise<string | null>;
  /** Whatever has arrived, at least one byte; null after the end. */
  some(): Promise<Buffer | null>;
  /** True once the peer has closed its side, cleanly or not. */
  ended(): boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

export function createWireReader(socket: Socket): WireReader {
  let buffered: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake = () => {};
  const finish = () => {
    ended = true;
    wake();
  };
  socket.on('data', (chunk: Buffer) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    wake();
  });
  socket.on('end', finish);
  socket.on('close', finish);
  socket.on('error', finish);

  const more = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const cut = (length: number): Buffer => {
    const taken = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return taken;
  };
  const through = async (mark: Buffer): Promise<Buffer | null> => {
    for (;;) {
      const at = buffered.indexOf(mark);
      if (at !== -1) return cut(at + mark.length);
      if (ended) return null;
      await more();
    }
  };
  return {
    async head() {
      const raw = await through(HEAD_END);
      return raw === null ? null : parseHead(raw);
    },
    async take(length) {
      while (buffered.length < length) {
        if (ended) return null;
        await more();
      }
      return cut(length);
    },
    async line() {
      const raw = await through(LINE_END);
      return raw === null ? null : raw.toString('latin1', 0, raw.length - 2);
    },
    async some() {
      while (buffered.length === 0) {
        if (ended) return null;
        await more();
      }
      return cut(buffered.length);
    },
    ended: () => ended,
  };
}

function parseHead(raw: Buffer): MessageHead {
  const [startLine = '', ...lines] = raw.toString('latin1', 0, raw.length - 4).split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { startLine, headers, raw };
}

/** Reads a chunked body (RFC 9112, 7.1). `complete` is false when it broke off before its last chunk. */
export async function readChunked(
  reader: WireReader,
  onChunk: (chunk: Buffer) => void,
): Promise<{ complete: boolean }> {
  for (;;) {
    const line = await reader.line();
    if (line === null) return { complete: false };
    const size = Number.parseInt(line, 16);
    if (!Number.isFinite(size)) throw new Error(`not a chunk size: ${JSON.stringify(line)}`);
    if (size === 0) return { complete: (await reader.line()) !== null };
    const chunk = await reader.take(size);
    if (chunk === null) return { complete: false };
    onChunk(chunk);
    await reader.take(2);
  }
}

/** Writes with back-pressure. Resolves to false once the socket is gone. */
export async function writeTo(socket: Socket, bytes: Buffer | string): Promise<boolean> {
  if (socket.destroyed || !socket.writable) return false;
  if (!socket.write(bytes)) await drained(socket);
  return !socket.destroyed;
}

/** Resolves when the socket takes more, or never will. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.once('drain', done);
    socket.once('close', done);
  });
}
