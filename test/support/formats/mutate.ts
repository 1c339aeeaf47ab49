/** Damage to JSON by chance: the same seed does the same damage. */

/** A whole number from 0 to below `limit`. */
export type Chance = (limit: number) => number;

/** Mulberry32 (Tommy Ettinger, public domain): small, fast, and good enough to spread damage. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

export function oneOf<T>(chance: Chance, list: readonly T[]): T {
  const value = list[chance(list.length)];
  if (value === undefined && !list.includes(value as T)) throw new Error('nothing to choose from');
  return value as T;
}

/** Stands for a value that is nested deeper than any stack, until the JSON is text. */
const DEEP = '\u0001deep\u0001';
const DEPTH = 20_000;

/** JSON texts that programs trip over. */
const hostile: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '1.5',
  '1e308',
  '-0',
  '9007199254740993',
  '4294967296',
  '""',
  '" "',
  '"null"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00x"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"{\\"a\\":"',
  '"[]"',
  '"{}"',
  '"data:image/png;base64,"',
  '"data:;base64,@@"',
  '"mg1.a.b.c.d"',
  '"mg1.YQ.YQ.YQ.YQ"',
  '"data: x\\n\\nevent: y"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '[{}]',
  '{"type":"text"}',
  '{"__proto__":{"type":"text"}}',
  '{"constructor":null,"toString":1}',
  '{"type":"constructor"}',
];

interface Place {
  holder: unknown[] | Record<string, unknown>;
  key: string | number;
}

/**
 * The text of `value` with one to four members changed, taken away, renamed, wrapped or repeated.
 * @param spare values of which parts are put into wrong places
 */
export function mutated(value: unknown, spare: readonly unknown[], chance: Chance): string {
  const root = { value: structuredClone(value) };
  const times = chance(2) === 0 ? 1 : 1 + chance(4);
  for (let turn = 0; turn < times; turn += 1) damage(placeIn(root, chance), spare, chance);
  const text = JSON.stringify(root.value) ?? 'null';
  return text.replaceAll(JSON.stringify(DEEP), () => '['.repeat(DEPTH) + ']'.repeat(DEPTH));
}

/** Some member, at any depth, of what `root` holds. */
function placeIn(root: { value: unknown }, chance: Chance): Place {
  let place: Place = { holder: root, key: 'value' };
  for (;;) {
    const inner = valueAt(place);
    const whole = place.holder === root;
    if (typeof inner !== 'object' || inner === null || chance(whole ? 100 : 8) === 0) return place;
    const keys = Array.isArray(inner) ? [...inner.keys()] : Object.keys(inner);
    if (keys.length === 0) return place;
    place = { holder: inner as Place['holder'], key: oneOf<string | number>(chance, keys) };
  }
}

function valueAt({ holder, key }: Place): unknown {
  return (holder as Record<string | number, unknown>)[key];
}

function put({ holder, key }: Place, value: unknown): void {
  // A plain assignment to `__proto__` would be lost.
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

function damage(place: Place, spare: readonly unknown[], chance: Chance): void {
  const { holder, key } = place;
  switch (chance(9)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      return;
    case 1:
      put(place, oneOf(chance, [[valueAt(place)], { [key]: valueAt(place) }]));
      return;
    case 2:
      if (Array.isArray(holder)) holder.splice(chance(holder.length + 1), 0, structuredClone(valueAt(place)));
      else put({ holder, key: renamed(String(key), chance) }, structuredClone(valueAt(place)));
      return;
    case 3: {
      const other = placeIn({ value: oneOf(chance, spare) }, chance);
      put(place, structuredClone(valueAt(other)));
      return;
    }
    case 4: {
      const other = placeIn({ value: oneOf(chance, spare) }, chance);
      put(
        { holder, key: Array.isArray(holder) ? holder.length : String(other.key) },
        structuredClone(valueAt(other)),
      );
      return;
    }
    case 5:
      put(place, textDamage(valueAt(place), chance));
      return;
    default:
      put(place, chance(200) === 0 ? DEEP : JSON.parse(oneOf(chance, hostile)));
  }
}

function renamed(key: string, chance: Chance): string {
  return oneOf(chance, [
    '__proto__',
    'type',
    'id',
    'constructor',
    `${key}s`,
    key.slice(1),
    key.toUpperCase(),
  ]);
}

function textDamage(value: unknown, chance: Chance): unknown {
  if (typeof value !== 'string') return oneOf(chance, [JSON.stringify(value), [value], null]);
  const at = chance(value.length + 1);
  return oneOf(chance, [
    value.slice(0, at),
    value.slice(at),
    `${value.slice(0, at)}\u0000${value.slice(at)}`,
    `${value.slice(0, at)}"${value.slice(at)}`,
    value.repeat(2),
    'x'.repeat(chance(4_000)),
  ]);
}

/** Bytes with some of them changed, taken away, or put in. */
export function damagedBytes(bytes: Buffer, chance: Chance): Buffer {
  const at = chance(bytes.length + 1);
  const length = chance(40);
  switch (chance(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(Array.from({ length }, () => chance(256))),
        bytes.subarray(at),
      ]);
    default: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[chance(copy.length)] = chance(256);
      return copy;
    }
  }
}
