import type { Store } from '../store/database.ts';

/** How many responses are stored encrypted, and how many of them with another key than the one of this name. */
export async function countEncrypted(
  { db }: Pick<Store, 'db'>,
  keyName: string,
): Promise<{ total: number; unreadable: number }> {
  const rows = await db
    .selectFrom('responses')
    .select(['sealed_with', ({ fn }) => fn.countAll<number>().as('total')])
    .where('sealed_with', 'is not', null)
    .groupBy('sealed_with')
    .execute();
  const counts = rows.map(({ total, sealed_with }) => ({
    total: Number(total),
    other: sealed_with !== keyName,
  }));
  return {
    total: counts.reduce((sum, { total }) => sum + total, 0),
    unreadable: counts.reduce((sum, { total, other }) => sum + (other ? total : 0), 0),
  };
}

/** Deletes every response that is stored encrypted. */
export async function deleteEncrypted({ db }: Pick<Store, 'db'>): Promise<void> {
  await db.deleteFrom('responses').where('sealed_with', 'is not', null).execute();
}
