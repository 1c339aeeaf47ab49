/** How many letters have to be inserted, removed, changed or swapped with the next to make one word of another. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const changed = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          changed,
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

/** Longest word that is compared with others: what is longer is no slip of the fingers. */
const LONGEST = 32;

/** The candidate that a word was probably meant to be, or undefined. Short words allow for one slip, long ones for two. */
export function likelyName(word: string, candidates: readonly string[]): string | undefined {
  if (word.length < 3 || word.length > LONGEST) return undefined;
  const allowed = word.length < 6 ? 1 : 2;
  let best: string | undefined;
  let least = allowed + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const apart = distance(word, candidate);
    if (apart < least) {
      best = candidate;
      least = apart;
    }
  }
  return least === 0 ? undefined : best;
}
