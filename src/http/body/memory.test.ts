import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { bodyMemory, ONE_WRITE_BYTES } from './memory.ts';

const SIZE = 65_536;

describe('the memory of a body', () => {
  it('is freed when its last user releases it, and not before', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 50 }), (steps) => {
        const pieces = [Buffer.allocUnsafeSlow(SIZE), Buffer.allocUnsafeSlow(SIZE)];
        const memory = bodyMemory(pieces);
        assert.ok(memory);
        let users = 1;
        for (const retains of steps) {
          if (users === 0) break;
          if (retains) memory.retain();
          else memory.release();
          users += retains ? 1 : -1;
          for (const piece of pieces) assert.equal(piece.length, users === 0 ? 0 : SIZE);
        }
      }),
    );
  });

  it('is freed although its views were sliced meanwhile', () => {
    const piece = Buffer.allocUnsafeSlow(ONE_WRITE_BYTES + 1);
    const memory = bodyMemory([piece]);
    const rest = piece.subarray(10);
    memory?.release();
    assert.equal(rest.length, 0);
  });

  it('is left to the garbage collector if the body is sent in one write', () => {
    const half = ONE_WRITE_BYTES / 2;
    const pieces = [Buffer.allocUnsafeSlow(half), Buffer.allocUnsafeSlow(half)];
    assert.equal(bodyMemory(pieces), null);
    assert.ok(bodyMemory([...pieces, Buffer.from('a')]));
  });

  it('is left alone if it belongs to a larger buffer, or is small', () => {
    const whole = Buffer.alloc(2 * SIZE, 'a');
    assert.equal(bodyMemory([whole.subarray(SIZE), Buffer.allocUnsafeSlow(100), Buffer.from('pool')]), null);
    assert.equal(bodyMemory([]), null);
  });
});
