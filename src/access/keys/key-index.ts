import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../schema.ts';
import type { keyStore } from '../store.ts';
import type { KeyPages } from './key-pages.ts';
import { createPacking, type PackedKeys, rowOf } from './packed-keys.ts';

/** Keys by one of their fields. */
export interface KeyLookup {
  get(text: string): KeyRecord | undefined;
}

/** The gateway keys that requests are let in by. Immutable. */
export interface KeyIndex {
  /** By the SHA-256 (hex) of their text. */
  readonly byHash: KeyLookup;
  readonly byId: KeyLookup;
  readonly packed: PackedKeys;
  /** What was changed since those were packed, by id; null for a key that was removed. */
  readonly changed: ReadonlyMap<string, KeyRecord | null>;
}

type Source = Pick<ReturnType<typeof keyStore>, 'changesAfter' | 'named'>;

/** Keys read in one go: some milliseconds. */
const PAGE = 1_000;
/** With more changes than that at once all keys are read again. */
const MOST_CHANGES = 500;
/** With more changes than that all keys are packed again. */
const MOST_CHANGED = 1_000;

/** These keys and no others. */
export function keyIndexOf(records: readonly KeyRecord[]): KeyIndex {
  return keySetOf(createPacking().done(), new Map(records.map((key) => [key.id, key])));
}

/**
 * Reads the keys: all of them the first time, then those that were changed, by whichever process. While nothing was
 * changed the value is the same.
 */
export function keyReader(keys: Source, pages: KeyPages): () => Promise<KeyIndex> {
  let cached: { seen: number; value: KeyIndex } | null = null;
  return async () => {
    const { first, ids, last } = await keys.changesAfter(cached?.seen ?? Number.MAX_SAFE_INTEGER);
    // What changes while they are read is among the changes after `last`.
    if (cached === null || first > cached.seen + 1 || last < cached.seen || ids.length > MOST_CHANGES)
      cached = { seen: last, value: await allKeys(pages) };
    else if (ids.length > 0) cached = { seen: last, value: await changed(keys, cached.value, ids) };
    return cached.value;
  };
}

/** All keys. There may be 100,000: they are read in pages, with room for other work between them. */
export async function allKeys(pages: KeyPages): Promise<KeyIndex> {
  const packing = createPacking();
  for (let last = ''; ; ) {
    const page = await pages(last, PAGE);
    packing.add(page.rows);
    last = page.last;
    if (page.count < PAGE) return keySetOf(packing.done(), new Map());
    await setImmediate();
  }
}

/** The ids of all keys. */
export function idsOf({ changed, packed }: KeyIndex): string[] {
  const ids = Array.from({ length: packed.size }, (_, place) => packed.idAt(place));
  const added = [...changed].filter(([id, key]) => key !== null && packed.placeOfId(id) === -1);
  return [...ids.filter((id) => changed.get(id) !== null), ...added.map(([id]) => id)];
}

export interface KeyChange {
  /** Undefined for a key that there was not, or is not any more. */
  before: KeyRecord | undefined;
  after: KeyRecord | undefined;
}

/** The keys that differ. Costs as much as there are changes, where not all keys were read or packed again. */
export function* changesBetween(before: KeyIndex, after: KeyIndex): Generator<KeyChange> {
  const ids = new Set([...before.changed.keys(), ...after.changed.keys()]);
  if (before.packed !== after.packed) addDifferent(ids, before.packed, after.packed);
  for (const id of ids) {
    const [was, is] = [before.byId.get(id), after.byId.get(id)];
    if (was !== is) yield { before: was, after: is };
  }
}

/** Adds the ids of the keys that only one of two has, or has otherwise. */
function addDifferent(ids: Set<string>, one: PackedKeys, other: PackedKeys): void {
  for (let place = 0; place < other.size; place += 1) {
    const id = other.idAt(place);
    const was = one.placeOfId(id);
    if (was === -1 || !one.rowAt(was).equals(other.rowAt(place))) ids.add(id);
  }
  for (let place = 0; place < one.size; place += 1) {
    const id = one.idAt(place);
    if (other.placeOfId(id) === -1) ids.add(id);
  }
}

async function changed(keys: Source, before: KeyIndex, ids: readonly string[]): Promise<KeyIndex> {
  const records = new Map((await keys.named(ids)).map((key) => [key.id, key]));
  const all = new Map(before.changed);
  for (const id of ids) all.set(id, records.get(id) ?? null);
  if (all.size <= MOST_CHANGED) return keySetOf(before.packed, all);
  return keySetOf(await repacked(before.packed, all), new Map());
}

async function repacked(
  packed: PackedKeys,
  changed: ReadonlyMap<string, KeyRecord | null>,
): Promise<PackedKeys> {
  const packing = createPacking();
  let rows: string[] = [];
  for (let place = 0; place < packed.size; place += 1) {
    if (!changed.has(packed.idAt(place))) rows.push(packed.rowAt(place).toString());
    if (rows.length < PAGE) continue;
    packing.add(rows.join('\n'));
    rows = [];
    await setImmediate();
  }
  const added = [...changed.values()].filter((key) => key !== null).map(rowOf);
  packing.add([...rows, ...added].join('\n'));
  return packing.done();
}

function keySetOf(packed: PackedKeys, changed: ReadonlyMap<string, KeyRecord | null>): KeyIndex {
  const changedByHash = new Map<string, KeyRecord>();
  for (const key of changed.values()) if (key !== null) changedByHash.set(key.hash, key);
  return {
    packed,
    changed,
    byHash: {
      get(hash) {
        const key = changedByHash.get(hash);
        if (key !== undefined) return key;
        const place = packed.placeOfHash(hash);
        const was = place === -1 ? undefined : packed.recordAt(place);
        return was === undefined || changed.has(was.id) ? undefined : was;
      },
    },
    byId: {
      get(id) {
        const key = changed.get(id);
        if (key !== undefined) return key ?? undefined;
        const place = packed.placeOfId(id);
        return place === -1 ? undefined : packed.recordAt(place);
      },
    },
  };
}
