import type { Selectable } from 'kysely';
import { refuseTakenName } from '../../connections/names.ts';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { findProvider } from '../../providers/index.ts';
import type { Store } from '../../store/database.ts';
import type { AliasTable } from '../../store/tables.ts';
import { type AliasRecord, newAliasInput } from './schema.ts';

export type NewAlias = Pick<AliasRecord, 'name' | 'target'>;

/** The aliases of a store. */
export function aliasStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  const list = async (): Promise<AliasRecord[]> => {
    const rows = await db.selectFrom('aliases').selectAll().orderBy('created_at').orderBy('id').execute();
    return rows.map(recordOf);
  };
  const find = async (idOrName: string): Promise<AliasRecord | null> => {
    const all = await list();
    return all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName) ?? null;
  };

  /** @throws GatewayError for what would never be asked for, or hides something else */
  const checked = async (alias: NewAlias): Promise<NewAlias> => {
    const read = newAliasInput.safeParse(alias);
    if (!read.success) {
      const [issue] = read.error.issues;
      throw bad(issue?.path[0] === 'target' ? 'target' : 'name', issue?.message ?? 'the alias is not valid');
    }
    const { name, target } = read.data;
    if (name === target) throw bad('target', 'an alias cannot mean itself');
    if (starsIn(target) > starsIn(name))
      throw bad('target', 'the target has more * than the name: remove some');
    const prefix = name.slice(0, Math.max(0, name.indexOf('/')));
    if (prefix !== '' && !prefix.includes('*') && (await leads(prefix)))
      throw bad(
        'name',
        `"${prefix}/…" always means the connection or provider of that name: choose another name`,
      );
    return { name, target };
  };
  const leads = async (prefix: string): Promise<boolean> => {
    if (findProvider(prefix) !== undefined) return true;
    const connections = await db.selectFrom('connections').select(['id', 'name']).execute();
    return connections.some(({ id, name }) => id === prefix || name === prefix);
  };

  return {
    list,
    find,

    /** @throws GatewayError for a name or target that cannot be used */
    async add(alias: NewAlias): Promise<AliasRecord> {
      const { name, target } = await checked(alias);
      const time = now();
      const record: AliasRecord = { id: newId('alias', time), name, target, createdAt: time };
      await db.transaction().execute(async (trx) => {
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('aliases')
          .values({ id: record.id, name, target, created_at: time })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) throw nameTaken(name);
        await refuseTakenName(trx, name, { kind: 'alias', id: record.id });
      });
      return record;
    },

    /** Changes an alias by id; null when there is none. @throws GatewayError as `add` does */
    async update(id: string, patch: Partial<NewAlias>): Promise<AliasRecord | null> {
      const before = await find(id);
      if (before === null || before.id !== id) return null;
      const { name = before.name, target = before.target } = patch;
      const next = await checked({ name, target });
      await db.transaction().execute(async (trx) => {
        await trx.updateTable('aliases').set({ target: next.target }).where('id', '=', id).execute();
        if (next.name === before.name) return;
        await refuseTakenName(trx, next.name, { kind: 'alias', id });
        await trx.updateTable('aliases').set({ name: next.name }).where('id', '=', id).execute();
      });
      return { ...before, ...next };
    },

    /** Removes an alias by id. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('aliases').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function starsIn(text: string): number {
  return text.split('*').length - 1;
}

function nameTaken(name: string): GatewayError {
  return bad('name', `an alias "${name}" exists already: change or remove that one`);
}

function bad(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

function recordOf(row: Selectable<AliasTable>): AliasRecord {
  return { id: row.id, name: row.name, target: row.target, createdAt: row.created_at };
}
