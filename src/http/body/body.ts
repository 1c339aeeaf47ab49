import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '../../lib/error.ts';
import { createTolerantInflate } from './inflate.ts';

interface ReadOptions {
  /** Most bytes of body, counted before, between and after decompression. */
  limitBytes: number;
  /** Milliseconds until all of it must be there. Default: the server's own limit. */
  timeoutMs?: number;
}

/** A request whose body may be there with its head. */
interface MaybeWhole {
  /** All of its body, which cannot be read any more then; null where it has to be read. */
  takeWhole?(): Buffer | null;
}

const CHUNK_BYTES = 64 * 1024;
/** 8 MiB, the largest window that an HTTP receiver must support (RFC 9659); larger ones are refused. */
const ZSTD_WINDOW_LOG = 23;
/** More codings than this on one body are taken for an attack. */
const MAX_CODINGS = 2;

/** The content codings of RFC 9110, 8.4.1, and RFC 8878 that a request body may use. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: CHUNK_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: CHUNK_BYTES }),
  deflate: () => createTolerantInflate({ chunkSize: CHUNK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
  zstd: () =>
    createZstdDecompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
    }),
};

/**
 * The request's body as the pieces it arrived in, decompressed, never joined.
 *
 * After a rejection the rest of the body is unread; `sendJson` deals with it.
 * @throws GatewayError `request_too_large`, `unsupported_encoding`, `invalid_request` (corrupt or truncated
 * compressed data), `client_closed`, or the GatewayError that the request was destroyed with.
 */
export function readBody(
  request: IncomingMessage & MaybeWhole,
  { limitBytes, timeoutMs }: ReadOptions,
): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const codings = codingsOf(request.headers['content-encoding']);
    refuseDeclaredLength(request, limitBytes);
    if (request.destroyed) throw clientClosed();
    const whole = codings.length === 0 ? request.takeWhole?.() : null;
    if (whole) {
      resolve(whole.length === 0 ? [] : [whole]);
      return;
    }
    const pieces: Buffer[] = [];
    const stages: Transform[] = [];
    const counting: (() => void)[] = [];
    let settled = false;
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => settle(tooSlow(timeoutMs)), timeoutMs);

    const settle = (error: GatewayError | null) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      request.off('error', onRequestError);
      request.off('close', onRequestClose);
      // The request lives as long as its answer takes, and listeners would keep the body with it.
      for (const stop of counting) stop();
      if (error === null) return resolve(pieces);
      request.removeAllListeners('data');
      request.unpipe();
      request.pause();
      for (const stage of stages) stage.destroy();
      pieces.length = 0;
      reject(error);
    };
    const onRequestError = (error: Error) =>
      settle(error instanceof GatewayError ? error : clientClosed(error));
    const onRequestClose = () => {
      if (!request.complete) settle(clientClosed());
    };
    const overLimit = () => settle(tooLarge(limitBytes, null));

    request.on('error', onRequestError);
    request.on('close', onRequestClose);
    let source: Readable = request;
    for (const coding of codings) {
      const stage = coding.create();
      stage.on('error', (error) => settle(corrupt(coding.name, error)));
      stages.push(stage);
      counting.push(count(source, limitBytes, overLimit));
      source = source.pipe(stage);
    }
    counting.push(count(source, limitBytes, overLimit, pieces));
    source.once('end', () => settle(null));
  });
}

/** Keeps the chunks of `source` in `pieces`, if given, and reports when they pass the limit. @returns what ends that */
function count(source: Readable, limitBytes: number, overLimit: () => void, pieces?: Buffer[]): () => void {
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limitBytes) overLimit();
    else pieces?.push(chunk);
  };
  source.on('data', onData);
  return () => void source.off('data', onData);
}

interface Coding {
  name: string;
  create: () => Transform;
}

/** The codings in the order in which they must be undone: the last one applied comes first. */
function codingsOf(header: string | undefined): Coding[] {
  if (header === undefined) return [];
  const codings: Coding[] = [];
  for (const item of header.split(',')) {
    const name = item.trim().toLowerCase();
    if (name === '' || name === 'identity') continue;
    const create = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (create === undefined) {
      throw unsupported(
        `content-encoding "${name.slice(0, 40)}" is not supported: use one of ${Object.keys(decoders).join(', ')}, identity, or none`,
      );
    }
    codings.unshift({ name, create });
  }
  if (codings.length > MAX_CODINGS) {
    throw unsupported(
      `content-encoding names ${codings.length} codings: at most ${MAX_CODINGS} are supported`,
    );
  }
  return codings;
}

export function refuseDeclaredLength(request: IncomingMessage, limitBytes: number): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limitBytes) throw tooLarge(limitBytes, declared);
}

function unsupported(message: string): GatewayError {
  return new GatewayError('unsupported_encoding', message, { param: 'content-encoding' });
}

export function tooLarge(limitBytes: number, declared: number | null): GatewayError {
  const size = declared === null ? 'more' : `${declared} bytes`;
  return new GatewayError(
    'request_too_large',
    `the request body may have at most ${limitBytes} bytes after decompression and has ${size}`,
  );
}

function tooSlow(timeoutMs: number): GatewayError {
  return new GatewayError('request_timeout', `The request body was not complete within ${timeoutMs} ms`);
}

function corrupt(coding: string, cause: Error): GatewayError {
  return new GatewayError(
    'invalid_request',
    `the request body is not complete ${coding} data as content-encoding says: ${cause.message}`,
    { param: 'content-encoding', cause },
  );
}

function clientClosed(cause?: Error): GatewayError {
  return new GatewayError(
    'client_closed',
    'the client closed the connection before its request was complete',
    {
      cause,
    },
  );
}
