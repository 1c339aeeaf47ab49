import type { Selectable } from 'kysely';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import type { SavedViewTable } from '../../store/tables.ts';
import { viewPage } from './page-schema.ts';
import type { NewSavedView, SavedViewChange, SavedViewRow } from './schema.ts';

/** Of one user. */
const MOST = 100;

/** The views of the dashboard that users saved, each user's own. Those of a user who is removed go with them. */
export function savedViewStore({ db }: Pick<Store, 'db'>, now: () => number) {
  const own = (userId: string) =>
    db.selectFrom('saved_views').selectAll().where('user_id', '=', userId).orderBy('name').orderBy('id');

  return {
    /** By name. */
    async list(userId: string): Promise<SavedViewRow[]> {
      return (await own(userId).execute()).map(rowOf);
    },

    async find(userId: string, id: string): Promise<SavedViewRow | null> {
      const row = await own(userId).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : rowOf(row);
    },

    /** @throws GatewayError `conflict` for a name that the user has on the page, or for one view too many */
    async add(userId: string, { name, page, search }: NewSavedView): Promise<SavedViewRow> {
      const { count } = await db
        .selectFrom('saved_views')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow();
      if (count >= MOST)
        throw new GatewayError('conflict', `You have ${MOST} saved views, the most there can be: remove one`);
      const time = now();
      const row = { id: newId('view', time), user_id: userId, page, name, search, created_at: time };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('saved_views')
        .values({ ...row, updated_at: time })
        .onConflict((conflict) => conflict.columns(['user_id', 'page', 'name']).doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) throw nameTaken(name);
      return rowOf({ ...row, updated_at: time });
    },

    /** @throws GatewayError `conflict` for a name that the user has on the page, `not_found` */
    async update(userId: string, id: string, change: SavedViewChange): Promise<SavedViewRow> {
      return db.transaction().execute(async (trx) => {
        const before = await trx
          .selectFrom('saved_views')
          .selectAll()
          .where('user_id', '=', userId)
          .where('id', '=', id)
          .executeTakeFirst();
        if (before === undefined) throw removedMeanwhile();
        const { name = before.name, search = before.search } = change;
        const other = await trx
          .selectFrom('saved_views')
          .select('id')
          .where('user_id', '=', userId)
          .where('page', '=', before.page)
          .where('name', '=', name)
          .where('id', '!=', id)
          .executeTakeFirst();
        if (other !== undefined) throw nameTaken(name);
        const next = { ...before, name, search, updated_at: now() };
        await trx
          .updateTable('saved_views')
          .set({ name, search, updated_at: next.updated_at })
          .where('id', '=', id)
          .execute();
        return rowOf(next);
      });
    },

    /** @throws GatewayError `not_found` */
    async remove(userId: string, id: string): Promise<void> {
      const { numDeletedRows } = await db
        .deleteFrom('saved_views')
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw removedMeanwhile();
    },
  };
}

const nameTaken = (name: string) =>
  new GatewayError('conflict', `You have a view "${name}" of this page already`, { param: 'name' });

const removedMeanwhile = () => new GatewayError('not_found', 'The view was removed in the meantime');

function rowOf(row: Selectable<SavedViewTable>): SavedViewRow {
  return {
    id: row.id,
    page: viewPage.parse(row.page),
    name: row.name,
    search: row.search,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}
