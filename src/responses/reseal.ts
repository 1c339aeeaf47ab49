import { sql } from 'kysely';
import type { NamedKey } from '../connections/credentials/seal.ts';
import type { Store } from '../store/database.ts';
import { createResponseEncryption, type Row } from './row.ts';

/** Rows that are in memory at once: each may have megabytes. */
const BATCH = 20;

/**
 * Encrypts every kept response that `from` opens with another key. One that is damaged is deleted.
 * @param db a transaction
 * @returns how many there were
 */
export async function resealResponses(db: Store['db'], from: NamedKey, to: NamedKey): Promise<number> {
  const [opening, sealing] = [createResponseEncryption(from), createResponseEncryption(to)];
  let count = 0;
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = await rowsAfter(db, from.name, last);
    if (rows.length === 0) return count;
    for (const row of rows) {
      last = row;
      const content = opening.open(row);
      if (content === null) {
        await db.deleteFrom('responses').where('id', '=', row.id).where('key_id', '=', row.key_id).execute();
        continue;
      }
      const { sealed, sealed_with } = sealing.seal(content);
      await db
        .updateTable('responses')
        .set({ sealed, sealed_with })
        .where('id', '=', row.id)
        .where('key_id', '=', row.key_id)
        .execute();
      count += 1;
    }
  }
}

/** In the order of the primary key: a server reads what was changed in this transaction again and again otherwise. */
function rowsAfter(db: Store['db'], sealedWith: string, last: Row | null): Promise<Row[]> {
  let select = db.selectFrom('responses').selectAll().where('sealed_with', '=', sealedWith);
  if (last !== null) select = select.where(sql<boolean>`(id, key_id) > (${last.id}, ${last.key_id})`);
  return select.orderBy('id').orderBy('key_id').limit(BATCH).execute();
}
