/**
 * The value that has a rank among numbers, the largest being the first: a threshold for those that come first, without sorting all of them.
 * @returns negative infinity where there are fewer
 */
export function nthLargest(values: ArrayLike<number>, rank: number): number {
  // The largest so far, ascending.
  const largest = new Float64Array(rank).fill(Number.NEGATIVE_INFINITY);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0;
    if (value <= (largest[0] ?? 0)) continue;
    let place = 1;
    while (place < rank && (largest[place] ?? 0) < value) {
      largest[place - 1] = largest[place] ?? 0;
      place += 1;
    }
    largest[place - 1] = value;
  }
  return largest[0] ?? Number.NEGATIVE_INFINITY;
}
