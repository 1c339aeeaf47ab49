/** A character of a text, as patterns look at it. */
export interface Character {
  code: number;
  /** Itself, and where case is ignored what it is in the other case, as code points. */
  cases: readonly number[];
}

/** Whether a set has a character. Takes the same time whatever the set was written like. */
export type Takes = (character: Character) => boolean;

export type Range = readonly [from: number, to: number];

/** `\d`, `\w` and their like, which look at the character as it is. */
export type CharacterClass = (code: number) => boolean;

export function characterOf(code: number, ignoreCase: boolean): Character {
  if (!ignoreCase) return { code, cases: [code] };
  const text = String.fromCodePoint(code);
  const cases = [code, codeOf(text.toLowerCase()), codeOf(text.toUpperCase())];
  return { code, cases: cases.filter((one, index) => cases.indexOf(one) === index) };
}

/** The characters of any of the ranges and classes, or where it is negated all others. */
export function characterSet(
  ranges: readonly Range[],
  classes: readonly CharacterClass[],
  negated: boolean,
): Takes {
  const apart = merged(ranges);
  const different = [...new Set(classes)];
  return ({ cases, code }) =>
    (different.some((has) => has(code)) || cases.some((one) => isWithin(apart, one))) !== negated;
}

/** The same characters in ranges that neither overlap nor touch, in order. */
function merged(ranges: readonly Range[]): Range[] {
  const apart: Range[] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = apart.at(-1);
    if (last !== undefined && from <= last[1] + 1) apart[apart.length - 1] = [last[0], Math.max(last[1], to)];
    else apart.push([from, to]);
  }
  return apart;
}

function isWithin(apart: readonly Range[], code: number): boolean {
  let low = 0;
  let high = apart.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const [from, to] = apart[middle] ?? [0, -1];
    if (code < from) high = middle;
    else if (code > to) low = middle + 1;
    else return true;
  }
  return false;
}

function codeOf(text: string): number {
  return text.codePointAt(0) ?? 0;
}
