import type { Source } from '../config/config.ts';
import { createMemorySpool } from './memory.ts';
import type { Spool } from './spool.ts';
import { storageOf } from './storage.ts';

/** Null for a synchronous source without a storage. */
export async function openSpool(source: Source): Promise<Spool | null> {
  const storage = storageOf(source);
  return storage === null ? null : createMemorySpool(storage);
}
