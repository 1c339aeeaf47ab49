import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readByPeer } from '../machine/kernel.ts';
import type { SeenRequest } from './upstream.ts';

/** What a step of a script may use. */
export interface Turn {
  request: SeenRequest;
  socket: Socket;
  /** Waits while the peer does not read. False once the connection is gone. */
  write(bytes: Buffer | string): Promise<boolean>;
}

/** One thing that a scripted upstream does. */
export type Step = (turn: Turn) => Promise<unknown> | unknown;

/** How a body is cut into pieces; each piece is one HTTP chunk, so that the reader sees the very same cuts. */
export type Split = 'whole' | 'byte' | 'frame' | readonly number[];

type Headers = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

function headLines(status: number, headers: Headers): string {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`;
}

/** Waits until the request's body has arrived, as a well-behaved server does. */
export const readAll: Step = ({ request }) => Promise.race([request.whole, request.closed]);

/** Bytes as they are, the head included if there is to be one. */
export function raw(bytes: Buffer | string): Step {
  return ({ write }) => write(bytes);
}

/** Status line and headers, nothing added. */
export function head(status: number, headers: Headers = {}): Step {
  return async (turn) => {
    await readAll(turn);
    await turn.write(headLines(status, headers));
  };
}

/** A whole answer with its content-length. */
export function body(
  status: number,
  bytes: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): Step {
  return async (turn) => {
    await readAll(turn);
    const payload = Buffer.from(bytes);
    await turn.write(headLines(status, { ...headers, 'content-length': String(payload.length) }));
    if (payload.length > 0) await turn.write(payload);
  };
}

/** A whole JSON answer. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Step {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return body(status, text, { 'content-type': 'application/json', ...headers });
}

/** The head of a chunked event stream. */
export function open(headers: Readonly<Record<string, string>> = {}): Step {
  return head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...headers });
}

/** Pieces of a chunked body. */
export function chunk(bytes: Buffer | string, split: Split = 'whole'): Step {
  const framed = Buffer.concat(cut(Buffer.from(bytes), split).map(chunkOf));
  return ({ write }) => write(framed);
}

/** The last chunk: a clean end. */
export function end(): Step {
  return ({ write }) => write('0\r\n\r\n');
}

/** A whole, cleanly ended event stream. */
export function stream(
  bytes: Buffer | string,
  split: Split = 'whole',
  headers: Readonly<Record<string, string>> = {},
): Step {
  return async (turn) => {
    await open(headers)(turn);
    await chunk(bytes, split)(turn);
    await end()(turn);
  };
}

/** Chunks with a pause between them. */
export function drip(pieces: readonly (Buffer | string)[], ms: number): Step {
  return async (turn) => {
    for (const piece of pieces) {
      await chunk(piece)(turn);
      await delay(ms);
    }
  };
}

/** Nothing, until `gate` opens or the peer leaves. */
export function stall(gate: Promise<unknown>): Step {
  return ({ request }) => Promise.race([gate, request.closed]);
}

export function pause(ms: number): Step {
  return ({ request }) => Promise.race([delay(ms), request.closed]);
}

/** Nothing, until the peer leaves. */
export function hang(): Step {
  return ({ request }) => request.closed;
}

/** FIN after what was written. */
export function fin(): Step {
  return ({ socket }) =>
    new Promise<void>((resolve) => {
      socket.end(() => resolve());
    });
}

/** RST, after what was written has left. */
export function reset(): Step {
  return async ({ socket }) => {
    // A reset throws away what the peer has not read.
    await readByPeer(socket);
    socket.resetAndDestroy();
  };
}

/** RST at once. */
export function resetNow(): Step {
  return ({ socket }) => {
    socket.resetAndDestroy();
  };
}

/** Chunks without end, at the peer's pace. `total` bounds them. */
export function flood(piece: Buffer | string, total: number): Step {
  const framed = chunkOf(Buffer.from(piece));
  const size = Buffer.byteLength(piece);
  return async ({ write }) => {
    for (let sent = 0; sent < total; sent += size) {
      if (!(await write(framed))) return;
    }
  };
}

function chunkOf(piece: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

/** Cuts `bytes`; a list of positions cuts there. */
export function cut(bytes: Buffer, split: Split): Buffer[] {
  if (split === 'whole') return bytes.length === 0 ? [] : [bytes];
  if (split === 'byte') return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  const positions = split === 'frame' ? frameEnds(bytes) : split;
  const edges = [...new Set([0, ...positions.map((at) => Math.min(at, bytes.length)), bytes.length])].sort(
    (a, b) => a - b,
  );
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

function frameEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf('\n\n'); at !== -1; at = bytes.indexOf('\n\n', at + 2)) ends.push(at + 2);
  return ends;
}
