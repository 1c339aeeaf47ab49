import type { Store } from '../store/database.ts';
import { useColumns } from './record.ts';
import { entryOf } from './report.ts';
import type { LedgerEntry } from './schema.ts';

export type LateUse = Pick<
  LedgerEntry,
  'usage' | 'servedTier' | 'finishReason' | 'rawFinishReason' | 'costUsd' | 'priceSource' | 'cacheSavingsUsd'
>;

/**
 * Puts what a request really used in the place of an estimate, once.
 * @param useOf what it was, by what is known of the request
 * @returns the entry as it was; null where none waits for that
 */
export async function replaceEstimate(
  { db }: Pick<Store, 'db'>,
  id: string,
  useOf: (entry: LedgerEntry) => LateUse,
): Promise<LedgerEntry | null> {
  const waiting = db.selectFrom('requests').selectAll().where('id', '=', id).where('estimated', '=', 1);
  const row = await waiting.executeTakeFirst();
  if (row === undefined) return null;
  const entry = entryOf(row);
  const { numUpdatedRows } = await db
    .updateTable('requests')
    // What routing saved is not known of what was used in the end.
    .set(useColumns({ ...useOf(entry), routingSavingsUsd: null, estimated: false }))
    .where('id', '=', id)
    .where('estimated', '=', 1)
    .executeTakeFirst();
  return numUpdatedRows === 0n ? null : entry;
}
