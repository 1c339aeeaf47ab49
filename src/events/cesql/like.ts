/** Tells whether a whole text matches. */
export type Matcher = (text: string) => boolean;

/** Segments up to this length are compared place by place: so few comparisons are cheaper than any preparation. */
const SHORT = 32;
/** Any one character, in the list of a segment's characters. */
const ANY = -1;

/** What stands between two `%`: code points, or ANY. */
type Segment = readonly number[];

/**
 * Compiles a LIKE pattern: `%` is any run of characters, `_` any one character, `\%` and `\_` are themselves, and any
 * other backslash is itself too. Characters are code points. Nothing is ever tried again: the first place where a
 * segment fits is the best one, so the time grows with the length of the text.
 */
export function compilePattern(pattern: string): Matcher {
  const segments = segmentsOf(pattern);
  const [first = [], ...rest] = segments;
  const last = rest.pop();
  if (segments.every(isPlain) && pattern.isWellFormed()) return plainMatcher(segments.map(textOf));
  if (last === undefined) return (text) => matchEnd(text, first, 0) === 0;
  const middle = rest.filter((segment) => segment.length > 0).map(finder);
  return (text) => {
    let at = matchStart(text, first);
    if (at < 0) return false;
    for (const find of middle) {
      at = find(text, at);
      if (at < 0) return false;
    }
    return matchEnd(text, last, at) >= 0;
  };
}

/** What a pattern says about the ends of a text that matches. */
export interface LiteralEnds {
  /** What stands before the first wildcard. */
  prefix: string;
  /** What stands behind the last wildcard. */
  suffix: string;
  /** There is no wildcard: the prefix is the whole text. */
  whole: boolean;
}

/** The ends are empty where they may be half of a character. */
export function literalEnds(pattern: string): LiteralEnds {
  const segments = segmentsOf(pattern);
  const first = segments[0] ?? [];
  const last = segments.at(-1) ?? [];
  const whole = segments.length === 1 && isPlain(first);
  if (whole) return { prefix: textOf(first), suffix: '', whole };
  const firstAny = first.indexOf(ANY);
  const prefix = textOf(firstAny < 0 ? first : first.slice(0, firstAny));
  const suffix = textOf(last.slice(last.lastIndexOf(ANY) + 1));
  const wellFormed = (text: string) => (text.isWellFormed() ? text : '');
  return { prefix: wellFormed(prefix), suffix: wellFormed(suffix), whole };
}

function segmentsOf(pattern: string): Segment[] {
  const segments: number[][] = [[]];
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    const next = characters[index + 1];
    if (character === '%') segments.push([]);
    else if (character === '_') segments.at(-1)?.push(ANY);
    else if (character === '\\' && (next === '%' || next === '_')) {
      segments.at(-1)?.push(next.charCodeAt(0));
      index += 1;
    } else segments.at(-1)?.push(character.codePointAt(0) ?? 0);
  }
  return segments;
}

const isPlain = (segment: Segment): boolean => !segment.includes(ANY);
const textOf = (segment: Segment): string => segment.map((point) => String.fromCodePoint(point)).join('');

/** A pattern without `_`: the engine's own searches do it, as long as their worst case is bounded. */
function plainMatcher(segments: readonly string[]): Matcher {
  const [first = '', ...rest] = segments;
  const last = rest.pop();
  if (last === undefined) return (text) => text === first;
  const middle = rest.filter((segment) => segment !== '');
  if (middle.length === 0) {
    const least = first.length + last.length;
    if (last === '') return (text) => text.startsWith(first);
    if (first === '') return (text) => text.endsWith(last);
    return (text) => text.length >= least && text.startsWith(first) && text.endsWith(last);
  }
  const finders = middle.map((segment) =>
    segment.length <= SHORT ? plainFinder(segment) : longFinder(segment),
  );
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const find of finders) {
      at = find(text, at);
      if (at < 0) return false;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/** The offset behind the first place at or after `from` where a segment fits, or -1. */
type Finder = (text: string, from: number) => number;

function plainFinder(segment: string): Finder {
  return (text, from) => {
    const at = text.indexOf(segment, from);
    return at < 0 ? -1 : at + segment.length;
  };
}

/** Knuth, Morris and Pratt: no unit of the text is looked at more than twice. */
function longFinder(segment: string): Finder {
  /** For each length of a match, how much of it is left when the next unit does not fit. */
  const shorter = new Int32Array(segment.length + 1);
  let length = 0;
  for (let index = 1; index < segment.length; index += 1) {
    while (length > 0 && segment.charCodeAt(index) !== segment.charCodeAt(length))
      length = shorter[length] ?? 0;
    if (segment.charCodeAt(index) === segment.charCodeAt(length)) length += 1;
    shorter[index + 1] = length;
  }
  return (text, from) => {
    let fits = 0;
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      while (fits > 0 && code !== segment.charCodeAt(fits)) fits = shorter[fits] ?? 0;
      if (code === segment.charCodeAt(fits)) fits += 1;
      if (fits === segment.length) return at + 1;
    }
    return -1;
  };
}

function finder(segment: Segment): Finder {
  return segment.length <= SHORT ? placeFinder(segment) : bitFinder(segment);
}

function placeFinder(segment: Segment): Finder {
  return (text, from) => {
    for (let at = from; at < text.length; at += widthAt(text, at)) {
      const end = matchStart(text, segment, at);
      if (end >= 0) return end;
    }
    return -1;
  };
}

/**
 * Shift-And: bit n of the state says that the last n+1 characters fit the first n+1 of the segment. One step for each
 * character of the text, over a word for each 32 characters of the segment.
 */
function bitFinder(segment: Segment): Finder {
  const words = Math.ceil(segment.length / 32);
  /** The bits of ANY, which every character fits. */
  const always = new Int32Array(words);
  const mark = (mask: Int32Array, index: number): void => {
    mask[index >> 5] = (mask[index >> 5] ?? 0) | (1 << (index & 31));
  };
  segment.forEach((point, index) => {
    if (point === ANY) mark(always, index);
  });
  const masks = new Map<number, Int32Array>();
  segment.forEach((point, index) => {
    if (point === ANY) return;
    const mask = masks.get(point) ?? Int32Array.from(always);
    masks.set(point, mask);
    mark(mask, index);
  });
  const lastWord = words - 1;
  const lastBit = 1 << ((segment.length - 1) & 31);
  return (text, from) => {
    const state = new Int32Array(words);
    for (let at = from; at < text.length; ) {
      const point = text.codePointAt(at) ?? 0;
      const mask = masks.get(point) ?? always;
      let carry = 1;
      for (let word = 0; word < words; word += 1) {
        const before = state[word] ?? 0;
        state[word] = ((before << 1) | carry) & (mask[word] ?? 0);
        carry = before >>> 31;
      }
      at += point > 0xffff ? 2 : 1;
      if (((state[lastWord] ?? 0) & lastBit) !== 0) return at;
    }
    return -1;
  };
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The offset behind a segment that fits at `from`, or -1. */
function matchStart(text: string, segment: Segment, from = 0): number {
  let at = from;
  for (const expected of segment) {
    if (at >= text.length) return -1;
    const point = text.codePointAt(at) ?? 0;
    if (expected !== ANY && expected !== point) return -1;
    at += point > 0xffff ? 2 : 1;
  }
  return at;
}

/** Where a segment begins that fits at the end of the text, not before `least`, or -1. */
function matchEnd(text: string, segment: Segment, least: number): number {
  let at = text.length;
  for (let index = segment.length - 1; index >= 0; index -= 1) {
    if (at <= least) return -1;
    const pair = at - 2 >= least && (text.codePointAt(at - 2) ?? 0) > 0xffff;
    at -= pair ? 2 : 1;
    const expected = segment[index];
    if (expected !== ANY && expected !== text.codePointAt(at)) return -1;
  }
  return at;
}
