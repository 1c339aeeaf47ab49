import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createCountsSum, encodeBrief, encodeCounts, type ValueCounts } from './value-counts.ts';

const counts = (numbers: number[], costs: number[], requests = numbers.map(() => 1)): ValueCounts => ({
  numbers: Uint32Array.from(numbers),
  requests: Float64Array.from(requests),
  failed: Float64Array.from(numbers, () => 0),
  costs: Float64Array.from(costs),
  tokens: Float64Array.from(numbers, (number) => number * 1_000),
  known: Uint8Array.from(costs, (cost) => (cost === 0 ? 0 : 1)),
});

const plain = (one: ValueCounts) =>
  Object.fromEntries(Object.entries(one).map(([name, column]) => [name, [...column]]));

const read = (...all: readonly Uint8Array[]) => {
  const sum = createCountsSum();
  for (const bytes of all) sum.addBytes(bytes);
  return sum.sum();
};

it('are read as they were written, whole numbers in few bytes', () => {
  const written = counts([0, 3, 70_000, 400_000], [0, 0.1, -2.5, 1e9], [1, 256, 70_000, 2 ** 40]);
  assert.deepEqual(plain(read(encodeCounts(written))), plain(written));
  assert.deepEqual(plain(read(encodeCounts(counts([], [])))), plain(counts([], [])));
  const bytes = encodeCounts(counts([1, 2, 3], [1, 2, 3]));
  assert.equal(bytes.length, 4 + 6 + 3 * (1 + 1 + 1 + 1 + 2 + 1));
  // As a part of something larger, at any place.
  const within = new Uint8Array(bytes.length + 1);
  within.set(bytes, 1);
  assert.deepEqual([...read(within.subarray(1), bytes).requests], [2, 2, 2]);
});

it('can be limited to some columns', () => {
  for (const numbers of [[0], [7], [0, 1, 9]]) {
    const written = counts(
      numbers,
      numbers.map(() => 0.25),
    );
    const sum = createCountsSum();
    for (let time = 0; time < 2; time += 1) sum.addBytes(encodeBrief(written, 'costs'), 'costs');
    sum.addBytes(encodeBrief(written, 'requests'), 'requests');
    const { costs, requests, tokens } = sum.sum();
    assert.deepEqual([...sum.sum().numbers], numbers);
    assert.deepEqual(
      [...costs],
      numbers.map(() => 0.5),
    );
    assert.deepEqual(
      [...requests],
      numbers.map(() => 3),
    );
    assert.ok(tokens.every((value) => value === 0));
  }
});

it('are added up by value, costs to the last digit', () => {
  const sum = createCountsSum();
  for (let time = 0; time < 10; time += 1) sum.add(counts([2, 5], [0.1, 1e9]));
  sum.add(counts([0, 5], [0, 0.125]));
  const { costs, known, numbers, requests, tokens } = sum.sum();
  assert.deepEqual([...numbers], [0, 2, 5]);
  assert.deepEqual([...requests], [1, 10, 11]);
  assert.deepEqual([...costs], [0, 1, 1e10 + 0.125]);
  assert.deepEqual([...tokens], [0, 20_000, 55_000]);
  assert.deepEqual([...known], [0, 1, 1]);
});
