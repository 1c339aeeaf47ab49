import { GatewayError } from '../../lib/error.ts';
import { type CharacterClass, characterSet, type Range, type Takes } from './character-set.ts';

/** A part of a pattern. */
export type Node =
  | { kind: 'empty' }
  | { kind: 'take'; takes: Takes }
  | { kind: 'edge'; at: 'start' | 'end' }
  | { kind: 'sequence' | 'choice'; nodes: readonly Node[] }
  /** `most` is null for without end. */
  | { kind: 'repeat'; node: Node; least: number; most: number | null };

interface Source {
  characters: readonly string[];
  at: number;
}

/** In characters; longer ones are no filters that people write. */
const MAX_LENGTH = 256;
const MAX_REPEAT = 1_000;

const digit: CharacterClass = (code) => code >= 48 && code <= 57;
const word: CharacterClass = (code) =>
  digit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const space: CharacterClass = (code) => /\s/.test(String.fromCodePoint(code));
const not =
  (has: CharacterClass): CharacterClass =>
  (code) =>
    !has(code);
/** All but the ends of lines. */
const any: CharacterClass = (code) => code !== 10 && code !== 13 && code !== 0x2028 && code !== 0x2029;

const classes: Readonly<Record<string, CharacterClass>> = {
  d: digit,
  D: not(digit),
  w: word,
  W: not(word),
  s: space,
  S: not(space),
};
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/**
 * Reads JavaScript's syntax of regular expressions as far as it is regular: characters, classes, groups, alternatives,
 * repetition and the edges of the text.
 * @throws GatewayError `invalid_request`
 */
export function parsePattern(text: string): Node {
  const source: Source = { characters: [...text], at: 0 };
  if (source.characters.length > MAX_LENGTH) throw unreadable(`it has more than ${MAX_LENGTH} characters`);
  const node = choice(source);
  if (source.at < source.characters.length) throw unreadable('a ")" has no "("');
  return node;
}

function choice(source: Source): Node {
  const nodes = [sequence(source)];
  while (skip(source, '|')) nodes.push(sequence(source));
  return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'choice', nodes };
}

function sequence(source: Source): Node {
  const nodes: Node[] = [];
  for (let next = peek(source); next !== null && next !== '|' && next !== ')'; next = peek(source)) {
    nodes.push(repeated(source, atom(source)));
  }
  return nodes.length === 0 ? { kind: 'empty' } : { kind: 'sequence', nodes };
}

function repeated(source: Source, node: Node): Node {
  const bounds = boundsAt(source);
  if (bounds === null) return node;
  if (node.kind === 'edge') throw unreadable('an edge of the text cannot be repeated');
  const [least, most] = bounds;
  if (most !== null && most < least) throw unreadable('a repetition ends before it begins');
  if (least > MAX_REPEAT || (most ?? 0) > MAX_REPEAT) throw unreadable('it repeats too much');
  // Whether as little or as much as possible is taken makes no difference to whether there is a match.
  skip(source, '?');
  if (boundsAt(source) !== null) throw unreadable('a repetition is repeated');
  return { kind: 'repeat', node, least, most };
}

/** The bounds of the repetition that is next, read; null where none is. */
function boundsAt(source: Source): readonly [least: number, most: number | null] | null {
  if (skip(source, '*')) return [0, null];
  if (skip(source, '+')) return [1, null];
  if (skip(source, '?')) return [0, 1];
  if (peek(source) !== '{') return null;
  const match = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(
    source.characters.slice(source.at, source.at + 24).join(''),
  );
  if (match === null) throw unreadable('"{" begins no repetition: write "\\{" for the character');
  source.at += match[0].length;
  const least = Number(match[1]);
  if (match[2] === undefined) return [least, least];
  return [least, match[3] === '' ? null : Number(match[3])];
}

function atom(source: Source): Node {
  const character = take(source);
  switch (character) {
    case '(':
      return group(source);
    case '[':
      return { kind: 'take', takes: bracket(source) };
    case '.':
      return { kind: 'take', takes: characterSet([], [any], false) };
    case '^':
      return { kind: 'edge', at: 'start' };
    case '$':
      return { kind: 'edge', at: 'end' };
    case '\\': {
      const escaped = escapeAt(source);
      return {
        kind: 'take',
        takes: typeof escaped === 'number' ? just(escaped) : characterSet([], [escaped], false),
      };
    }
    case '*':
    case '+':
    case '?':
    case '{':
      throw unreadable(`nothing comes before "${character}"`);
    default:
      return { kind: 'take', takes: just(codeOf(character)) };
  }
}

function just(code: number): Takes {
  return characterSet([[code, code]], [], false);
}

function group(source: Source): Node {
  if (skip(source, '?') && !skip(source, ':'))
    throw unreadable('of the groups that begin with "(?", only "(?:" can be used');
  const node = choice(source);
  if (!skip(source, ')')) throw unreadable('a "(" has no ")"');
  return node;
}

function bracket(source: Source): Takes {
  const negated = skip(source, '^');
  const ranges: Range[] = [];
  const named: CharacterClass[] = [];
  while (!skip(source, ']')) {
    const from = memberOf(source);
    const isRange = peek(source) === '-' && (source.characters[source.at + 1] ?? ']') !== ']';
    if (!isRange) {
      if (typeof from === 'number') ranges.push([from, from]);
      else named.push(from);
      continue;
    }
    take(source);
    const to = memberOf(source);
    if (typeof from !== 'number' || typeof to !== 'number' || to < from)
      throw unreadable('a range of characters goes from a lower to a higher one');
    ranges.push([from, to]);
  }
  return characterSet(ranges, named, negated);
}

function memberOf(source: Source): number | CharacterClass {
  const character = take(source);
  return character === '\\' ? escapeAt(source) : codeOf(character);
}

/** The character, or class of characters, after a backslash. */
function escapeAt(source: Source): number | CharacterClass {
  const character = take(source);
  const named = Object.hasOwn(classes, character) ? classes[character] : undefined;
  if (named) return named;
  const control = Object.hasOwn(controls, character) ? controls[character] : undefined;
  if (control !== undefined) return control;
  if (/[A-Za-z0-9]/.test(character)) throw unreadable(`"\\${character}" is not supported`);
  return codeOf(character);
}

function peek(source: Source): string | null {
  return source.characters[source.at] ?? null;
}

function skip(source: Source, expected: string): boolean {
  if (peek(source) !== expected) return false;
  source.at++;
  return true;
}

function take(source: Source): string {
  const character = peek(source);
  if (character === null) throw unreadable('it ends too early');
  source.at++;
  return character;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function unreadable(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The pattern cannot be read: ${problem}`, { param: 'filter[]' });
}
