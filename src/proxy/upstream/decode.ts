import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { createTolerantInflate } from '../../http/body/inflate.ts';
import { GatewayError } from '../../lib/error.ts';

/** Turns an encoded body into its bytes, with back-pressure both ways. */
export interface Decoder {
  /** False: stop writing until `onDrain` is called. */
  write(chunk: Buffer): boolean;
  end(): void;
  pause(): void;
  resume(): void;
  destroy(): void;
}

export interface DecoderEvents {
  /** False: the reader takes no more until it calls `resume`. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onError(error: Error): void;
  onDrain(): void;
}

const factories: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ flush: constants.Z_SYNC_FLUSH }),
  'x-gzip': () => createGunzip({ flush: constants.Z_SYNC_FLUSH }),
  deflate: () => createTolerantInflate({ flush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => createZstdDecompress(),
};

/**
 * A decoder for a `content-encoding` value, or null when it names none. Encodings were applied in the order
 * listed (RFC 9110, 8.4), so they are undone from the last.
 * @param framing undoes the framing of what comes out of them, where there is one
 * @throws GatewayError `upstream_protocol` for an encoding that is not known
 */
export function createDecoder(
  contentEncoding: string,
  events: DecoderEvents,
  framing: Transform | null = null,
): Decoder | null {
  const names = contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse();
  const stages = names.map((name) => {
    const factory = factories[name];
    if (factory === undefined || names.length > 3) {
      throw new GatewayError(
        'upstream_protocol',
        `The upstream answered with an unknown content-encoding "${name}"`,
      );
    }
    return factory();
  });
  if (framing !== null) stages.push(framing);
  const first = stages[0];
  const last = stages.at(-1);
  if (first === undefined || last === undefined) return null;
  for (const [index, stage] of stages.entries()) {
    stage.on('error', events.onError);
    const next = stages[index + 1];
    if (next !== undefined) stage.pipe(next);
  }
  last.on('data', (chunk: Buffer) => {
    if (!events.onData(chunk)) last.pause();
  });
  last.on('end', events.onEnd);
  first.on('drain', events.onDrain);
  return {
    write: (chunk) => first.write(chunk),
    end: () => void first.end(),
    pause: () => void last.pause(),
    resume: () => void last.resume(),
    destroy: () => {
      for (const stage of stages) stage.destroy();
    },
  };
}
