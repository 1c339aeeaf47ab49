import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { createIndexedSet } from './indexed-set.ts';

describe('an indexed set', () => {
  it('holds what a Set would hold after any additions and deletions', () => {
    const moves = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 60 });
    fc.assert(
      fc.property(moves, (list) => {
        const people = Array.from({ length: 10 }, (_, name) => ({ name, slot: -1 }));
        const set = createIndexedSet<(typeof people)[number]>();
        const model = new Set<number>();
        for (const [comes, name] of list) {
          const person = people[name];
          assert.ok(person);
          if (comes) set.add(person);
          else set.remove(person);
          if (comes) model.add(name);
          else model.delete(name);
          const present = set.members().map((member) => member.name);
          assert.deepEqual(new Set(present), model);
          assert.equal(present.length, set.size);
        }
      }),
    );
  });

  it('can be emptied while it is walked through', () => {
    const set = createIndexedSet<{ slot: number }>();
    for (let count = 0; count < 5; count += 1) set.add({ slot: -1 });
    for (const member of set.members()) set.remove(member);
    assert.equal(set.size, 0);
  });
});
