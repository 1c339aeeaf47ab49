import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { createRoom } from './room.ts';

const block = { type: 'memory', bytes: 10, whenFull: 'block' } as const;
const drop = { ...block, whenFull: 'drop' } as const;
const FOREVER = Number.POSITIVE_INFINITY;

describe('the room of a storage', () => {
  it('admits waiting senders in the order in which they came', async () => {
    const room = createRoom(block);
    const entered: string[] = [];
    const take = (name: string, bytes: number) =>
      room.take(bytes, FOREVER).then((outcome) => entered.push(`${name} ${outcome}`));
    const all = [take('a', 8), take('b', 6), take('c', 1)];
    await all[0];
    assert.deepEqual(entered, ['a kept'], 'the small one does not pass the one before it');
    room.giveBack(8);
    await Promise.all([...all, take('d', 1)]);
    assert.deepEqual(entered, ['a kept', 'b kept', 'c kept', 'd kept']);
    assert.equal(room.used(), 8);
  });

  it('reports that it is full when no room was made in time, and then admits the next', async () => {
    const room = createRoom(block);
    await room.take(8, FOREVER);
    const large = room.take(5, 1);
    const small = room.take(2, FOREVER);
    assert.equal(await large, 'full');
    assert.equal(await small, 'kept');
    assert.equal(await room.take(1, 0), 'full');
  });

  it('drops what does not fit, if configured so', async () => {
    const room = createRoom(drop);
    assert.equal(await room.take(8, FOREVER), 'kept');
    assert.equal(await room.take(3, FOREVER), 'dropped');
    assert.equal(await room.take(2, FOREVER), 'kept');
  });

  it('refuses at once what never fits', async () => {
    for (const storage of [block, drop])
      assert.equal(await createRoom(storage).take(11, FOREVER), 'too_large');
  });

  it('keeps nobody waiting when it closes', async () => {
    const room = createRoom(block, 12);
    const waiting = room.take(1, FOREVER);
    room.close();
    assert.equal(await waiting, 'full');
  });

  it('never grants more than it has, and everything in the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 50 }), async (sizes) => {
        const room = createRoom(block);
        let kept = 0;
        const all = sizes.map(async (bytes) => {
          assert.equal(await room.take(bytes, FOREVER), 'kept');
          assert.ok(room.used() <= 10);
          kept += 1;
          await Promise.resolve();
          room.giveBack(bytes);
        });
        await Promise.all(all);
        assert.deepEqual([kept, room.used()], [sizes.length, 0]);
      }),
    );
  });
});
