import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createCountsSum, decodeCounts, encodeCounts, type ValueCounts } from './value-counts.ts';

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

it('are read as they were written, whole numbers in few bytes', () => {
  const written = counts([0, 3, 70_000, 4_000_000_000], [0, 0.1, -2.5, 1e9], [1, 256, 70_000, 2 ** 40]);
  assert.deepEqual(plain(decodeCounts(encodeCounts(written))), plain(written));
  assert.deepEqual(plain(decodeCounts(encodeCounts(counts([], [])))), plain(counts([], [])));
  const bytes = encodeCounts(counts([1, 2, 3], [1, 2, 3]));
  assert.equal(bytes.length, 4 + 6 + 3 * (1 + 1 + 1 + 1 + 2 + 1));
  // As a part of something larger, at any place.
  const within = new Uint8Array(bytes.length + 1);
  within.set(bytes, 1);
  assert.deepEqual([...decodeCounts(within.subarray(1)).numbers], [1, 2, 3]);
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
