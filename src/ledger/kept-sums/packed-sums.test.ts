import assert from 'node:assert/strict';
import { it } from 'node:test';
import { measures, type SumsQuery } from '../sums.ts';
import { createPackedSumsTotal, encodeSums } from './packed-sums.ts';

const HOUR_MS = 3_600_000;

/** The sums of a span by team and owner, with one request for each group. */
function span(groups: { team: string | null; owner: string | null; cost: number | null }[]): Uint8Array {
  const amounts = Object.fromEntries(
    measures.map(({ sumColumn }) => [sumColumn, groups.map(() => 0 as number | null)]),
  );
  return encodeSums({
    names: { team: groups.map(({ team }) => team), owner: groups.map(({ owner }) => owner) },
    amounts: { ...amounts, requests: groups.map(() => 1), cost_usd: groups.map(({ cost }) => cost) },
  });
}

const spans = [
  [
    0,
    span([
      { team: 'a', owner: 'x', cost: 0.1 },
      { team: 'a', owner: null, cost: null },
    ]),
  ],
  [
    HOUR_MS,
    span([
      { team: 'a', owner: 'x', cost: 0.2 },
      { team: null, owner: 'x', cost: null },
      { team: 'b', owner: 'y', cost: 0 },
    ]),
  ],
] as const;

function told(query: Pick<SumsQuery, 'by' | 'only'>) {
  const total = createPackedSumsTotal({ ...query, since: 0 });
  for (const [at, bytes] of spans) total.add(at, bytes);
  return total
    .sums()
    .map(({ costUsd, dimensions, period, requests }) => [
      ...(period === null ? [] : [period]),
      ...Object.values(dimensions),
      requests,
      costUsd,
    ]);
}

it('are added up by the requested columns, and unknown values stay unknown', () => {
  assert.deepEqual(told({ by: ['team'] }), [
    ['a', 3, 0.3],
    [null, 1, null],
    ['b', 1, 0],
  ]);
  assert.deepEqual(told({ by: ['owner', 'team'] }), [
    ['x', 'a', 2, 0.3],
    [null, 'a', 1, null],
    ['x', null, 1, null],
    ['y', 'b', 1, 0],
  ]);
  assert.deepEqual(told({ by: ['hour', 'owner'], only: { team: 'a' } }), [
    [0, 'x', 1, 0.1],
    [0, null, 1, null],
    [HOUR_MS, 'x', 1, 0.2],
  ]);
  assert.deepEqual(told({ by: [], only: { team: 'a' } }), [[3, 0.3]]);
  assert.deepEqual(told({ by: [], only: { team: 'nobody' } }), [[0, 0]]);
  assert.deepEqual(told({ by: ['owner'], only: { team: 'nobody' } }), []);
});

it('of many spans are exact to the last digit', () => {
  const total = createPackedSumsTotal({ by: ['team'], since: 0 });
  const parts = [0.1, 0.7, 1e-7, 123_456.789];
  for (const cost of parts)
    for (let time = 0; time < 10; time += 1) total.add(time, span([{ team: 'a', owner: null, cost }]));
  assert.equal(total.sums()[0]?.costUsd, 1_234_575.890001);
});
