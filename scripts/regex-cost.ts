import { type AST, RegExpParser } from '@eslint-community/regexpp';

/**
 * Whether a regular expression takes time in proportion to its text, whatever the text is, in an engine that backtracks.
 *
 * The pattern becomes an automaton with one state for each character that it takes (Glushkov), and the search for a place
 * to begin becomes a first state that any character keeps. Such an engine walks every path until one matches, so its
 * time is bounded by how many paths read the same text:
 * - two ways round a loop that read the same text: exponential, as in `(a+)+$`;
 * - a loop, and a way from it into another, all of which read the same text: quadratic at least, as in `\d+\w+$`. The
 *   search is such a loop too, which is why `[ \t]+$` is quadratic although it has one loop alone
 *   (Weideman et al., "Analyzing matching time behavior of backtracking regular expression matchers", 2016).
 * Neither asks whether some text makes the match fail: a pattern that is refused may still be harmless, and one that passes
 * is not harmful.
 */
export type Finding = 'exponential' | 'quadratic' | 'quadratic search' | 'not decided';

/** How a state was reached: by one way, or by several that read the same. */
type Ways = 1 | 2;

/** A piece of a pattern: where it begins and ends, and how it can be passed without a character. */
interface Piece {
  /** Null where it takes at least one character. */
  empty: { anchored: boolean; guarded: boolean } | null;
  /** `anchored`: only at the beginning of the text. */
  first: Map<number, { ways: Ways; anchored: boolean }>;
  /** `guarded`: something must hold behind it for the pattern to match. */
  last: Map<number, { ways: Ways; guarded: boolean }>;
}

interface Step {
  ways: Ways;
  /** It leads round a loop that has an end, such as `{1,200}`. */
  bounded: boolean;
}

interface Automaton {
  /** What each state takes, as a set of the sample's characters. */
  takes: bigint[];
  steps: Map<number, Step>[];
}

/** A repetition up to this many states is written out; a longer one is a loop with an end. */
const MAX_WRITTEN_OUT = 80;

class Undecided extends Error {}

/** @returns what is wrong with the pattern; null when it is linear */
export function regexCost(source: string, flags: string): Finding | null {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const automaton: Automaton = { takes: [], steps: [] };
  try {
    const whole = alternatives(pattern.alternatives, builder(automaton, source, flags));
    return findingOf(automaton, whole, flags.includes('y'));
  } catch (error) {
    if (error instanceof Undecided) return 'not decided';
    throw error;
  }
}

interface Builder extends Automaton {
  multiline: boolean;
  sample(raw: string): bigint;
}

function builder(automaton: Automaton, source: string, flags: string): Builder {
  const known = new Map<string, bigint>();
  const characters = sampleOf(source);
  const kept = flags.replace(/[gyd]/g, '');
  return {
    ...automaton,
    multiline: flags.includes('m'),
    sample(raw) {
      const found = known.get(raw);
      if (found !== undefined) return found;
      const one = new RegExp(`^${raw}$`, kept.replace('m', ''));
      let set = 0n;
      for (const [index, character] of characters.entries())
        if (one.test(character)) set |= 1n << BigInt(index);
      known.set(raw, set);
      return set;
    },
  };
}

/** Characters of every kind that patterns tell apart, and those of the pattern itself. */
function sampleOf(source: string): string[] {
  const codes = Array.from({ length: 0x180 }, (_, code) => code);
  const rare = [0x2028, 0x2029, 0x201c, 0x2264, 0x212a, 0x3000, 0x4e00, 0xfeff, 0xd83d, 0x1f600];
  const own = [...source].map((character) => character.codePointAt(0) ?? 0);
  return [...new Set([...codes, ...rare, ...own])].map((code) => String.fromCodePoint(code));
}

const nothing = (anchored: boolean, guarded: boolean): Piece => ({
  empty: { anchored, guarded },
  first: new Map(),
  last: new Map(),
});

function alternatives(list: readonly AST.Alternative[], build: Builder): Piece {
  const pieces = list.map(({ elements }) =>
    elements
      .map((element) => piece(element, build))
      .reduce((a, b) => joined(a, b, build), nothing(false, false)),
  );
  const [first = nothing(false, false), ...others] = pieces;
  for (const other of others) {
    for (const [state, way] of other.first) first.first.set(state, way);
    for (const [state, way] of other.last) first.last.set(state, way);
    first.empty = either(first.empty, other.empty);
  }
  return first;
}

function either(a: Piece['empty'], b: Piece['empty']): Piece['empty'] {
  if (a === null || b === null) return a ?? b;
  return { anchored: a.anchored && b.anchored, guarded: a.guarded && b.guarded };
}

function piece(element: AST.Element, build: Builder): Piece {
  switch (element.type) {
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return taking(build.sample(element.raw), build);
    case 'CapturingGroup':
      return alternatives(element.alternatives, build);
    case 'Group':
      if (element.modifiers !== null) throw new Undecided();
      return alternatives(element.alternatives, build);
    case 'Quantifier':
      return repeated(element, build);
    case 'Assertion':
      return assertion(element, build);
    case 'Backreference':
      throw new Undecided();
  }
}

function taking(set: bigint, { steps, takes }: Builder): Piece {
  const state = takes.push(set) - 1;
  steps.push(new Map());
  return {
    empty: null,
    first: new Map([[state, { ways: 1, anchored: false }]]),
    last: new Map([[state, { ways: 1, guarded: false }]]),
  };
}

function assertion(element: AST.Assertion, build: Builder): Piece {
  if (element.kind === 'start') return nothing(!build.multiline, false);
  if (element.kind !== 'lookahead' && element.kind !== 'lookbehind') return nothing(false, true);
  const within = alternatives(element.alternatives, build);
  if (element.kind === 'lookbehind') {
    // It is read backwards from each place, so that a loop in it would be one more search.
    if ([...within.first.keys(), ...within.last.keys()].some((state) => reaches(build, state, state)))
      throw new Undecided();
    return nothing(false, true);
  }
  // What looks ahead is walked like a branch from which nothing goes on.
  return { empty: { anchored: false, guarded: true }, first: within.first, last: new Map() };
}

function repeated({ element, max, min }: AST.Quantifier, build: Builder): Piece {
  const before = build.takes.length;
  let least = piece(element, build);
  const size = Math.max(1, build.takes.length - before);
  const copies = max === Number.POSITIVE_INFINITY ? min + 1 : max;
  if (copies * size > MAX_WRITTEN_OUT) {
    loop(least, build, max !== Number.POSITIVE_INFINITY);
    return min === 0 ? optional(least) : least;
  }
  if (max === 0) return nothing(false, false);
  if (max === Number.POSITIVE_INFINITY) {
    if (min <= 1) {
      loop(least, build, false);
      return min === 0 ? optional(least) : least;
    }
    for (let count = 1; count < min; count += 1) {
      const next = piece(element, build);
      if (count === min - 1) loop(next, build, false);
      least = joined(least, next, build);
    }
    return least;
  }
  // `x{2,4}` is `xx(?:x(?:x)?)?`.
  let tail: Piece | null = null;
  for (let count = max; count > 1; count -= 1) {
    const one = piece(element, build);
    const both: Piece = tail === null ? one : joined(one, tail, build);
    tail = count > min ? optional(both) : both;
  }
  const whole = tail === null ? least : joined(least, tail, build);
  return min === 0 ? optional(whole) : whole;
}

function optional(one: Piece): Piece {
  return { ...one, empty: either(one.empty, { anchored: false, guarded: false }) };
}

function loop({ first, last }: Piece, build: Builder, bounded: boolean): void {
  for (const [from, end] of last)
    for (const [to, begin] of first) step(build, from, to, times(end.ways, begin.ways), bounded);
}

const times = (a: Ways, b: Ways): Ways => (a === 1 && b === 1 ? 1 : 2);

function step({ steps }: Automaton, from: number, to: number, ways: Ways, bounded: boolean): void {
  const before = steps[from]?.get(to);
  steps[from]?.set(
    to,
    before === undefined ? { ways, bounded } : { ways: 2, bounded: bounded && before.bounded },
  );
}

function joined(a: Piece, b: Piece, build: Builder): Piece {
  for (const [from, end] of a.last)
    for (const [to, begin] of b.first) step(build, from, to, times(end.ways, begin.ways), false);
  const first: Piece['first'] = new Map(a.first);
  if (a.empty !== null)
    for (const [state, way] of b.first)
      first.set(state, { ways: way.ways, anchored: way.anchored || a.empty.anchored });
  const last: Piece['last'] = new Map(b.last);
  if (b.empty !== null)
    for (const [state, way] of a.last)
      last.set(state, { ways: way.ways, guarded: way.guarded || b.empty.guarded });
  const empty =
    a.empty === null || b.empty === null
      ? null
      : { anchored: a.empty.anchored || b.empty.anchored, guarded: a.empty.guarded || b.empty.guarded };
  return { empty, first, last };
}

/** Whether a way leads from one state to another, of at least one step. */
function reaches({ steps }: Automaton, from: number, to: number, bounded = true): boolean {
  const seen = new Set<number>();
  const open = [from];
  for (let state = open.pop(); state !== undefined; state = open.pop())
    for (const [next, how] of steps[state] ?? []) {
      if (how.bounded && !bounded) continue;
      if (next === to) return true;
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  return false;
}

/** The state before the text's first character that is matched: any character keeps it. */
const SEARCH = -1;

function findingOf(automaton: Automaton, { first, last }: Piece, sticky: boolean): Finding | null {
  const states = automaton.takes.map((_, state) => state);
  const looping = states.filter((state) => reaches(automaton, state, state));
  // Whoever is there has matched, and no other way is tried.
  const undone = looping.filter((state) => last.get(state)?.guarded !== false);
  if (undone.some((state) => twoWays(automaton, state))) return 'exponential';
  for (const q of undone)
    for (const p of looping)
      if (p !== q && reaches(automaton, p, q) && meets(automaton, p, q)) return 'quadratic';
  if (sticky) return null;
  const begins = [...first].filter(([, { anchored }]) => !anchored).map(([state]) => state);
  const endless = undone.filter((state) => reaches(automaton, state, state, false));
  return endless.some((q) => searchMeets(automaton, begins, q)) ? 'quadratic search' : null;
}

/** Visits everything that can be reached from `start`; true as soon as `done` is. */
function explore<T>(
  start: T,
  key: (one: T) => string,
  next: (one: T) => Iterable<T>,
  done: (one: T) => boolean,
): boolean {
  const seen = new Set([key(start)]);
  const open = [start];
  for (let one = open.pop(); one !== undefined; one = open.pop())
    for (const after of next(one)) {
      if (done(after)) return true;
      if (seen.has(key(after))) continue;
      seen.add(key(after));
      open.push(after);
    }
  return false;
}

/** Whether two different ways lead from a state back to it over the same text. */
function twoWays(automaton: Automaton, state: number): boolean {
  const { steps, takes } = automaton;
  type Pair = readonly [number, number, boolean];
  return explore<Pair>(
    [state, state, false],
    String,
    function* ([a, b, apart]) {
      for (const [nextA, how] of steps[a] ?? [])
        for (const [nextB] of steps[b] ?? [])
          if (((takes[nextA] ?? 0n) & (takes[nextB] ?? 0n)) !== 0n)
            yield [nextA, nextB, apart || nextA !== nextB || (a === b && how.ways > 1)];
    },
    ([a, b, apart]) => apart && a === state && b === state,
  );
}

/** Whether one text leads round `p`, from `p` to `q`, and round `q`. */
function meets({ steps, takes }: Automaton, p: number, q: number): boolean {
  type Triple = readonly [number, number, number];
  return explore<Triple>(
    [p, p, q],
    String,
    function* ([a, b, c]) {
      for (const [nextA] of steps[a] ?? [])
        for (const [nextC] of steps[c] ?? []) {
          const common = (takes[nextA] ?? 0n) & (takes[nextC] ?? 0n);
          if (common === 0n) continue;
          for (const [nextB] of steps[b] ?? [])
            if ((common & (takes[nextB] ?? 0n)) !== 0n) yield [nextA, nextB, nextC];
        }
    },
    ([a, b, c]) => a === p && b === q && c === q,
  );
}

/** The same with the search for `p`: whether the text of a loop leads into that loop too. */
function searchMeets({ steps, takes }: Automaton, begins: readonly number[], q: number): boolean {
  type Pair = readonly [number, number];
  return explore<Pair>(
    [SEARCH, q],
    String,
    function* ([a, c]) {
      for (const [nextC, how] of steps[c] ?? []) {
        if (how.bounded) continue;
        if (a === SEARCH) yield [SEARCH, nextC];
        const nexts = a === SEARCH ? begins : (steps[a]?.keys() ?? []);
        for (const nextA of nexts)
          if (((takes[nextA] ?? 0n) & (takes[nextC] ?? 0n)) !== 0n) yield [nextA, nextC];
      }
    },
    ([a, c]) => a === q && c === q,
  );
}
