import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../../../test/support/machine/fake-clock.ts';
import { createDropReports } from './drop-reports.ts';

function setUp() {
  const clock = createFakeClock();
  const told: unknown[] = [];
  const logged: unknown[] = [];
  const reports = createDropReports({
    clock,
    emitter: { emit: (name, { data }) => void told.push([name, data]) },
    log: { error: (facts: unknown) => void logged.push(facts) } as never,
  });
  return { clock, logged, reports, told };
}
const dropped = (where: string, count: number, reason = 'full') => [
  'event.dropped',
  { where, count, reason },
];

describe('reports of dropped events', () => {
  it('report the first drop at once, and a storm once a minute with its count', () => {
    const { clock, logged, reports, told } = setUp();
    for (let n = 0; n < 1_000; n += 1) reports.add('a', 'full');
    assert.deepEqual(told, [dropped('a', 1)]);
    clock.pass(59_999);
    assert.equal(told.length, 1);
    clock.pass(1);
    assert.deepEqual(told.slice(1), [dropped('a', 999)]);
    clock.pass(120_000);
    assert.equal(told.length, 2);
    reports.add('a', 'other');
    assert.deepEqual(told.slice(2), [dropped('a', 1, 'other')]);
    assert.equal(logged.length, told.length);
  });

  it('report each place separately, and the rest at the end', () => {
    const { clock, reports, told } = setUp();
    for (const where of ['a', 'b', 'b']) reports.add(where, 'full');
    assert.deepEqual(told, [dropped('a', 1), dropped('b', 1)]);
    reports.close();
    assert.deepEqual(told.slice(2), [dropped('b', 1)]);
    clock.pass(600_000);
    assert.equal(told.length, 3);
  });
});
