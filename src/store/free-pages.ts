import { sql } from 'kysely';
import type { Store } from './database.ts';

/**
 * How many bytes of the database's file are free for later rows: the file never shrinks by itself. Null for a server, which looks
 * after that itself.
 */
export async function reusableBytes(store: Store): Promise<number | null> {
  if (store.kind === 'postgres') return null;
  const { rows: free } = await sql<{ freelist_count: number }>`pragma freelist_count`.execute(store.db);
  const { rows: size } = await sql<{ page_size: number }>`pragma page_size`.execute(store.db);
  return Number(free[0]?.freelist_count ?? 0) * Number(size[0]?.page_size ?? 0);
}
