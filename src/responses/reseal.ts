import type { NamedKey } from '../connections/credentials/seal.ts';
import type { Store } from '../store/database.ts';
import { createSealing } from './row.ts';

/** Rows that are in memory at once: each may have megabytes. */
const BATCH = 20;

/**
 * Encrypts every kept response that `from` opens with another key. One that is damaged is deleted.
 * @param db a transaction
 * @returns how many there were
 */
export async function resealResponses(db: Store['db'], from: NamedKey, to: NamedKey): Promise<number> {
  const [opening, sealing] = [createSealing(from), createSealing(to)];
  let count = 0;
  for (;;) {
    const rows = await db
      .selectFrom('responses')
      .selectAll()
      .where('sealed_with', '=', from.name)
      .limit(BATCH)
      .execute();
    if (rows.length === 0) return count;
    for (const row of rows) {
      const content = opening.open(row);
      if (content === null) {
        await db.deleteFrom('responses').where('id', '=', row.id).execute();
        continue;
      }
      const { sealed, sealed_with } = sealing.seal(content);
      await db.updateTable('responses').set({ sealed, sealed_with }).where('id', '=', row.id).execute();
      count += 1;
    }
  }
}
