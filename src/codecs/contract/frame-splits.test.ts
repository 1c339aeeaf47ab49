import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recorded } from '../../../test/support/formats/stream-records.ts';
import { splitFrames } from '../../lib/streams/sse.ts';

describe('frames', () => {
  for (const { format, name, bytes } of recorded) {
    it(`are the same for every split of ${format}/${name}`, () => {
      const expected = splitFrames(bytes);
      assert.equal(expected.rest.length, 0);
      for (let at = 0; at <= bytes.length; at += 1) {
        const left = splitFrames(bytes.subarray(0, at));
        const right = splitFrames(Buffer.concat([left.rest, bytes.subarray(at)]));
        assert.deepEqual([...left.frames, ...right.frames], expected.frames);
      }
    });
  }
});
