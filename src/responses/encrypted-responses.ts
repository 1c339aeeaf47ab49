import type { Store } from '../store/database.ts';

/** How many responses are kept sealed, and how many of them with another key than the one of this name. */
export async function countEncrypted(
  { db }: Pick<Store, 'db'>,
  keyName: string,
): Promise<{ kept: number; unreadable: number }> {
  const rows = await db
    .selectFrom('responses')
    .select(['sealed_with', ({ fn }) => fn.countAll<number>().as('kept')])
    .where('sealed_with', 'is not', null)
    .groupBy('sealed_with')
    .execute();
  const counts = rows.map(({ kept, sealed_with }) => ({
    kept: Number(kept),
    other: sealed_with !== keyName,
  }));
  return {
    kept: counts.reduce((sum, { kept }) => sum + kept, 0),
    unreadable: counts.reduce((sum, { kept, other }) => sum + (other ? kept : 0), 0),
  };
}

/** Deletes every response that is kept sealed. */
export async function deleteEncrypted({ db }: Pick<Store, 'db'>): Promise<void> {
  await db.deleteFrom('responses').where('sealed_with', 'is not', null).execute();
}
