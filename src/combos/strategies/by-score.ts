/**
 * The choices by their scores, the lowest first; in their own order where scores are equal. Each is scored once. A merge
 * of numbers in place of `Array.sort`, which takes twice as long for two hundred of them.
 */
export function byScore<C>(choices: readonly C[], scoreOf: (choice: C, index: number) => number): C[] {
  const scores = new Float64Array(choices.length);
  let from = new Uint32Array(choices.length);
  let to = new Uint32Array(choices.length);
  for (let index = 0; index < choices.length; index += 1) {
    scores[index] = scoreOf(choices[index] as C, index);
    from[index] = index;
  }
  for (let width = 1; width < choices.length; width *= 2) {
    for (let low = 0; low < choices.length; low += 2 * width) merge(scores, { from, to, low, width });
    const merged = to;
    to = from;
    from = merged;
  }
  const ordered: C[] = [];
  for (let index = 0; index < from.length; index += 1) ordered.push(choices[from[index] as number] as C);
  return ordered;
}

interface Runs {
  from: Uint32Array;
  to: Uint32Array;
  /** Where the first of the two runs begins; the second follows it. */
  low: number;
  width: number;
}

/** Merges two sorted runs of indexes. */
function merge(scores: Float64Array, { from, low, to, width }: Runs): void {
  const middle = Math.min(low + width, from.length);
  const end = Math.min(low + 2 * width, from.length);
  let left = low;
  let right = middle;
  for (let at = low; at < end; at += 1) {
    const a = from[left] as number;
    const b = from[right] as number;
    if (left < middle && (right >= end || (scores[a] as number) <= (scores[b] as number))) {
      to[at] = a;
      left += 1;
    } else {
      to[at] = b;
      right += 1;
    }
  }
}
