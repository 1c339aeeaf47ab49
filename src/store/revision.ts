import type { Store } from './database.ts';

/** Tells running gateways that something beside the database changed, and that they should look. */
export async function noteRevision({ db }: Pick<Store, 'db'>): Promise<void> {
  await db
    .updateTable('revision')
    .set((expression) => ({ value: expression('value', '+', 1) }))
    .execute();
}
