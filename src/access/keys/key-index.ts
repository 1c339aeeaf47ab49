import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../schema.ts';
import type { keyStore } from '../store.ts';

/** The gateway keys that requests may present. */
export interface KeyIndex {
  /** By the SHA-256 (hex) of their text. */
  byHash: ReadonlyMap<string, KeyRecord>;
  byId: ReadonlyMap<string, KeyRecord>;
}

type Source = Pick<ReturnType<typeof keyStore>, 'after' | 'changesAfter' | 'named'>;

/** Keys read in one go: some milliseconds. */
const PAGE = 1_000;
/** With more changes than that at once all keys are read again. */
const MOST_CHANGES = 500;

export function keyIndexOf(records: readonly KeyRecord[]): KeyIndex {
  return {
    byHash: new Map(records.map((key) => [key.hash, key])),
    byId: new Map(records.map((key) => [key.id, key])),
  };
}

/**
 * Reads the keys: all of them the first time, then those that were changed, by whichever process. While nothing was
 * changed the value is the same.
 */
export function keyReader(keys: Source): () => Promise<KeyIndex> {
  let known: { seen: number; value: KeyIndex } | null = null;
  return async () => {
    const { first, ids, last } = await keys.changesAfter(known?.seen ?? Number.MAX_SAFE_INTEGER);
    // What changes while they are read is among the changes after `last`.
    if (known === null || first > known.seen + 1 || last < known.seen || ids.length > MOST_CHANGES)
      known = { seen: last, value: await allKeys(keys) };
    else if (ids.length > 0) known = { seen: last, value: await changed(keys, known.value, ids) };
    return known.value;
  };
}

/** All keys. There may be 100,000: they are read in pages, with room for other work between them. */
export async function allKeys(keys: Source): Promise<KeyIndex> {
  const byHash = new Map<string, KeyRecord>();
  const byId = new Map<string, KeyRecord>();
  for (let last = ''; ; ) {
    const some = await keys.after(last, PAGE);
    for (const key of some) {
      byHash.set(key.hash, key);
      byId.set(key.id, key);
    }
    last = some.at(-1)?.id ?? last;
    if (some.length < PAGE) return { byHash, byId };
    await setImmediate();
  }
}

async function changed(keys: Source, before: KeyIndex, ids: readonly string[]): Promise<KeyIndex> {
  const records = await keys.named(ids);
  const byHash = new Map(before.byHash);
  await setImmediate();
  const byId = new Map(before.byId);
  for (const id of ids) {
    const was = byId.get(id);
    if (was !== undefined) byHash.delete(was.hash);
    byId.delete(id);
  }
  for (const key of records) {
    byHash.set(key.hash, key);
    byId.set(key.id, key);
  }
  return { byHash, byId };
}
