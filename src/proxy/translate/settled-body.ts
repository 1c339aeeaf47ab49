import { randomBytes } from 'node:crypto';
import { COMMA } from '../../codecs/json/bytes.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import { jsonBytes } from './json-bytes.ts';
import { type Beginning, copyOf, type SettledRun } from './settled-conversation.ts';

/** Stands in the text of a request where its list of turns belongs. */
const MARK = randomBytes(10).toString('hex');

/** Entries of a list as JSON, each behind a comma: others stand before them. Nothing where there are none; null where `write` has null. */
export function entriesJson<T extends Buffer | null>(
  items: readonly unknown[],
  write: (json: string) => T,
): Buffer | T {
  if (items.length === 0) return nothing;
  const json = write(JSON.stringify(items).slice(0, -1));
  if (json !== null) json[0] = COMMA;
  return json;
}

const nothing = Buffer.alloc(0);

/** Entries of the target's list as they are sent. */
export interface SentEntries {
  /** Before all settled exchanges. */
  first: readonly unknown[];
  /** Settled runs that are not sent as they are kept. */
  runs: ReadonlyMap<SettledRun, readonly Buffer[]>;
  /** Behind all others, as JSON. */
  last: Buffer;
}

/** The translation as JSON, in pieces: what is the same as before is not written anew, and not copied. */
export function written(
  beginning: Beginning,
  translated: JsonObject,
  list: string,
  { first, last, runs }: SentEntries,
): readonly Buffer[] {
  const value = { ...translated, [list]: null };
  if (beginning.frame === null || !isSame(beginning.frame.value, value)) {
    const [before = '', after = ''] = JSON.stringify({ ...translated, [list]: MARK }).split(`"${MARK}"`);
    beginning.frame = { value, before: Buffer.from(`${before}[`), after: Buffer.from(`]${after}`) };
  }
  if (first.length > 0 && (beginning.first === null || !isSame(beginning.first.value, first)))
    beginning.first = { value: first, json: copyOf(entriesJson(first, (json) => jsonBytes(json, true))) };
  const pieces = [beginning.frame.before];
  const add = (json: Buffer) => {
    if (json.length > 0) pieces.push(pieces.length > 1 ? json : json.subarray(1));
  };
  if (first.length > 0 && beginning.first !== null) add(beginning.first.json);
  for (const run of beginning.settled) {
    const sent = runs.get(run);
    if (sent === undefined) add(run.translated);
    else for (const json of sent) add(json);
  }
  add(last);
  pieces.push(beginning.frame.after);
  return pieces;
}

/** Whether two values are written alike. What was not read anew is the same object. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((entry, index) => isSame(entry, other[index]))
    );
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  if (names.length !== others.length) return false;
  return names.every((name, index) => {
    const same = others[index] === name;
    return same && isSame((one as JsonObject)[name], (other as JsonObject)[name]);
  });
}
