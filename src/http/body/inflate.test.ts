import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { fc } from '../../../test/support/machine/properties.ts';
import { createTolerantInflate } from './inflate.ts';

const inflated = (pieces: readonly Buffer[]): Promise<Buffer> =>
  buffer(Readable.from(pieces).pipe(createTolerantInflate({})));

function cut(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

describe('the content coding deflate', () => {
  it('is decoded with and without the zlib header, however it is split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5000 }),
        fc.integer({ min: 1, max: 700 }),
        async (data, size) => {
          for (const encode of [deflateSync, deflateRawSync])
            assert.deepEqual(await inflated(cut(encode(data), size)), Buffer.from(data));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads no faster than its consumer', async () => {
    const data = Buffer.alloc(20_000_000);
    const stream = createTolerantInflate({});
    stream.end(deflateRawSync(data));
    let bytes = 0;
    for await (const piece of stream) {
      bytes += (piece as Buffer).length;
      assert.ok(stream.readableLength < 200_000, `${stream.readableLength} bytes wait to be read`);
    }
    assert.equal(bytes, data.length);
  });

  it('fails if it is truncated or damaged', async () => {
    const whole = deflateSync(Buffer.from('hello '.repeat(100)));
    for (const broken of [
      whole.subarray(0, -6),
      deflateRawSync('hello').subarray(0, 3),
      Buffer.from('xxxxxxx'),
    ]) {
      const stream = createTolerantInflate({});
      stream.end(broken);
      await assert.rejects(buffer(stream), /unexpected end of file|invalid|incorrect/);
    }
  });
});
