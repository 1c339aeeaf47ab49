import { type Selectable, sql, type Updateable } from 'kysely';
import { refuseTakenName } from '../connections/names.ts';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { ComboTable } from '../store/tables.ts';
import { type AvailableTargets, checkedComboName, checkTargets } from './check.ts';
import {
  type ComboOptions,
  type ComboRecord,
  type ComboTarget,
  defaultOptions,
  type StrategyName,
  strategyNames,
} from './combo-schema.ts';

export interface NewCombo {
  name: string;
  targets: readonly ComboTarget[];
  /** Default `priority`. */
  strategy?: StrategyName;
  options?: Partial<ComboOptions>;
}

/** What changes of a combo; the rest stays, each option for itself. */
export type ComboPatch = Partial<NewCombo>;

/** Whether the combo becomes the one that `auto` means, in the same transaction. */
export interface Activation {
  activate?: boolean;
}

/** The combos of a store, and what can be done to them, for the command line and the management API alike. */
export function comboStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  const list = () => listed(db);
  const find = async (idOrName: string): Promise<ComboRecord | null> => {
    const all = await list();
    return all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName) ?? null;
  };

  return {
    list,
    find,

    /**
     * Adds a combo, in one transaction with what it is checked against.
     * @throws GatewayError for a bad or taken name, or a target that leads nowhere or back
     */
    add: (input: NewCombo, { activate: active = false }: Activation = {}): Promise<ComboRecord> =>
      db.transaction().execute(async (trx) => {
        const others = await availableTargets(trx, await listed(trx), null);
        const name = checkedComboName(input.name);
        checkTargets({ name, targets: input.targets }, others);
        const time = now();
        const record: ComboRecord = {
          id: newId('combo', time),
          name,
          strategy: input.strategy ?? 'priority',
          targets: input.targets,
          options: { ...defaultOptions, ...input.options },
          active: false,
          createdAt: time,
          updatedAt: time,
        };
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('combos')
          .values(rowOf(record))
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) throw freeName(name);
        await refuseTakenName(trx, name, { kind: 'combo', id: record.id });
        if (active) await activate(trx, record.id);
        return { ...record, active };
      }),

    /**
     * Changes a combo by id, in one transaction with what it is checked against; null when there is none.
     * @throws GatewayError as `add` does, and for a name that others use
     */
    update: (
      id: string,
      patch: ComboPatch,
      { activate: active = false }: Activation = {},
    ): Promise<ComboRecord | null> =>
      db.transaction().execute(async (trx) => {
        const all = await listed(trx);
        const before = all.find((combo) => combo.id === id);
        if (before === undefined) return null;
        const others = await availableTargets(trx, all, id);
        const name = patch.name === undefined ? before.name : checkedComboName(patch.name);
        if (name !== before.name) refuseUsed(before.name, others, 'renamed');
        const targets = patch.targets ?? before.targets;
        // Targets that were left behind by a removed connection do not stand in the way of another change.
        if (patch.targets !== undefined) checkTargets({ name, targets }, others);
        const record: ComboRecord = {
          ...before,
          name,
          targets,
          strategy: patch.strategy ?? before.strategy,
          options: { ...before.options, ...patch.options },
          updatedAt: now(),
        };
        if (name !== before.name) await refuseTakenName(trx, name, { kind: 'combo', id });
        const { id: _, active: __, created_at: ___, ...change } = rowOf(record);
        await trx
          .updateTable('combos')
          .set(change satisfies Updateable<ComboTable>)
          .where('id', '=', id)
          .execute();
        if (active) await activate(trx, id);
        return active ? { ...record, active } : record;
      }),

    /** Removes a combo by id. False when there was none. @throws GatewayError `conflict` while another has it as a target */
    remove: (id: string): Promise<boolean> =>
      db.transaction().execute(async (trx) => {
        const all = await listed(trx);
        const before = all.find((combo) => combo.id === id);
        if (before === undefined) return false;
        refuseUsed(before.name, await availableTargets(trx, all, id), 'removed');
        const { numDeletedRows } = await trx.deleteFrom('combos').where('id', '=', id).executeTakeFirst();
        return numDeletedRows > 0n;
      }),

    /**
     * Makes a combo the one that `auto` means, in the place of whichever is or only of `insteadOf`.
     * @returns false where there is no such combo, or another than `insteadOf` is active
     */
    activate: (id: string, { insteadOf }: { insteadOf?: string | undefined } = {}): Promise<boolean> =>
      db.transaction().execute(async (trx) => {
        if (insteadOf !== undefined && !(await isActive(trx, insteadOf))) return false;
        return activate(trx, id);
      }),

    /** Lets `auto` mean nothing where it means this combo. @returns false where it does not */
    deactivate: async (id: string): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable('combos')
        .set({ active: 0 })
        .where('id', '=', id)
        .where('active', '=', 1)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

async function listed(db: Store['db']): Promise<ComboRecord[]> {
  const rows = await db.selectFrom('combos').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(recordOf);
}

/** @param own id of the combo that is changed */
async function availableTargets(
  db: Store['db'],
  all: readonly ComboRecord[],
  own: string | null,
): Promise<AvailableTargets> {
  const connections = await db.selectFrom('connections').select(['id', 'name']).execute();
  return {
    connections: new Set(connections.flatMap(({ id, name }) => [id, name])),
    combos: all.filter(({ id }) => id !== own),
  };
}

async function isActive(db: Store['db'], id: string): Promise<boolean> {
  const query = db.selectFrom('combos').select('id').where('id', '=', id).where('active', '=', 1);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Makes a combo the one that `auto` means. False when there is no such combo. */
async function activate(db: Store['db'], id: string): Promise<boolean> {
  // In one statement, so that there is none or two at no moment.
  const { numUpdatedRows } = await db
    .updateTable('combos')
    .set(({ eb }) => ({ active: eb.case().when('id', '=', id).then(sql.lit(1)).else(sql.lit(0)).end() }))
    .where((each) => each.or([each('active', '=', 1), each('id', '=', id)]))
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('combos as wanted').select('wanted.id').where('wanted.id', '=', id)),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @throws GatewayError `conflict` when another combo has this one as a target */
function refuseUsed(name: string, { combos }: AvailableTargets, change: 'removed' | 'renamed'): void {
  const user = combos.find(({ targets }) => targets.some(({ target }) => target === name));
  if (user === undefined) return;
  const message = `"${name}" is a target of the combo "${user.name}": take it out there before it is ${change}`;
  throw new GatewayError('conflict', message, { param: 'name' });
}

function freeName(name: string): GatewayError {
  return new GatewayError('invalid_request', `a combo named "${name}" exists already: choose another name`, {
    param: 'name',
  });
}

function rowOf(record: ComboRecord) {
  return {
    id: record.id,
    name: record.name,
    strategy: record.strategy,
    targets: JSON.stringify(record.targets),
    options: JSON.stringify(record.options),
    active: record.active ? 1 : 0,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
  };
}

function recordOf(row: Selectable<ComboTable>): ComboRecord {
  return {
    id: row.id,
    name: row.name,
    // One of a newer version is unknown to this one.
    strategy: strategyNames.find((name) => name === row.strategy) ?? 'priority',
    targets: JSON.parse(row.targets),
    options: { ...defaultOptions, ...JSON.parse(row.options) },
    active: row.active === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
