import { Transform } from 'node:stream';
import { createInflate, createInflateRaw, type Inflate, type InflateRaw, type ZlibOptions } from 'node:zlib';

/** The compression method in the first byte of a zlib stream (RFC 1950, 2.2: CM = 8, "deflate"). */
const DEFLATE_METHOD = 8;

/**
 * Undoes the content coding `deflate`: the zlib format, and bare deflate data as well, which some senders use for it
 * (RFC 9110, 8.4.1.2).
 */
export function createTolerantInflate(options: ZlibOptions): Transform {
  let inner: Inflate | InflateRaw | null = null;
  const open = (first: number): Inflate | InflateRaw => {
    const inflate = (first & 0x0f) === DEFLATE_METHOD ? createInflate(options) : createInflateRaw(options);
    inflate.on('data', (bytes: Buffer) => {
      if (!outer.push(bytes)) inflate.pause();
    });
    inflate.on('error', (error) => outer.destroy(error));
    return inflate;
  };
  const outer = new Transform({
    transform(chunk: Buffer, _, done) {
      const [first] = chunk;
      if (first === undefined) return done();
      inner ??= open(first);
      inner.write(chunk, done);
    },
    flush(done) {
      if (inner === null) return done();
      inner.once('end', done);
      inner.end();
    },
    destroy(error, done) {
      inner?.destroy();
      done(error);
    },
  });
  const read = outer._read.bind(outer);
  outer._read = (size) => {
    inner?.resume();
    read(size);
  };
  return outer;
}
