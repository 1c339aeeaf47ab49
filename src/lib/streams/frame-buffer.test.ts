import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FrameBuffer } from './frame-buffer.ts';
import { splitFrames } from './sse.ts';

/** The bytes cut at these places, in some order. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index, all) => bytes.subarray(all[index - 1] ?? 0, end));
}

describe('the buffer of a stream of frames', () => {
  it('gives the same frames for every way the bytes are cut', () => {
    const line = fc.constantFrom('data: a', 'data: é', 'event: e', ': c', '');
    const end = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(line), end, fc.array(fc.nat()), fc.boolean(), (lines, end, places, asBuffers) => {
        const bytes = Buffer.from(lines.join(end));
        const whole = splitFrames(Buffer.concat([bytes, Buffer.from('\n\n')])).frames;
        const buffer = new FrameBuffer<Uint8Array>(splitFrames);
        const frames = cut(bytes, places).flatMap((piece) =>
          buffer.push(asBuffers ? piece : new Uint8Array(piece)),
        );
        assert.deepEqual([...frames, ...buffer.end()], whole);
        assert.equal(buffer.length, 0);
      }),
      { numRuns: 200 },
    );
  });

  it('splits nothing before a frame may be complete', () => {
    const split: number[] = [];
    const buffer = new FrameBuffer<Buffer>((bytes) => {
      split.push(bytes.length);
      return splitFrames(bytes);
    });
    assert.equal(buffer.add(Buffer.from('data: ')), false);
    assert.deepEqual(buffer.read(), []);
    assert.equal(buffer.add(Buffer.from('a\n')), true);
    assert.equal(buffer.add(Buffer.from('\n')), true);
    assert.deepEqual(buffer.read(), [{ event: '', data: 'a' }]);
    assert.deepEqual(split, [9]);
  });

  it('returns its bytes once', () => {
    const buffer = new FrameBuffer<Buffer>(splitFrames);
    buffer.push(Buffer.from('data: a'));
    buffer.push(Buffer.from('b'));
    const bytes = buffer.take();
    assert.ok(Buffer.isBuffer(bytes));
    assert.equal(bytes.toString(), 'data: ab');
    assert.equal(buffer.take().length, 0);
  });

  it('uses its own rule when frames are not lines', () => {
    const pairs = new FrameBuffer<Buffer, string>(
      (bytes) => ({
        frames: bytes.length < 2 ? [] : [bytes.toString('latin1', 0, 2)],
        rest: bytes.subarray(2),
      }),
      (_, length) => length >= 2,
    );
    assert.deepEqual(pairs.push(Buffer.from('a')), []);
    assert.deepEqual(pairs.push(Buffer.from('bc')), ['ab']);
    assert.equal(pairs.length, 1);
  });
});
