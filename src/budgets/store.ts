import type { Selectable } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { BudgetTable } from '../store/tables.ts';
import type { BudgetRecord } from './schema.ts';

export type NewBudget = Pick<
  BudgetRecord,
  'scope' | 'subject' | 'metric' | 'limit' | 'period' | 'softPercent' | 'unpriced'
>;

/** What a budget is found by: there is one for each. */
export type BudgetIdentity = Pick<BudgetRecord, 'scope' | 'subject' | 'metric' | 'period'>;

/** What changes of a budget; the rest stays. */
export type BudgetPatch = Partial<Pick<BudgetRecord, 'limit' | 'softPercent' | 'unpriced' | 'resetAt'>>;

/** The budgets of a store. */
export function budgetStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  const find = async (id: string): Promise<BudgetRecord | null> => {
    const row = await db.selectFrom('budgets').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : recordOf(row);
  };
  const list = async (): Promise<BudgetRecord[]> => {
    const rows = await db.selectFrom('budgets').selectAll().orderBy('created_at').orderBy('id').execute();
    return rows.map(recordOf);
  };
  const update = async (id: string, patch: BudgetPatch): Promise<boolean> => {
    const { limit, resetAt, softPercent, unpriced } = patch;
    const { numUpdatedRows } = await db
      .updateTable('budgets')
      .set({
        updated_at: now(),
        ...(limit === undefined ? {} : { amount: limit }),
        ...(softPercent === undefined ? {} : { soft_percent: softPercent }),
        ...(unpriced === undefined ? {} : { unpriced }),
        ...(resetAt === undefined ? {} : { reset_at: resetAt }),
      })
      .where('id', '=', id)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };
  return {
    find,
    list,
    update,

    /** Adds a budget. @throws GatewayError `conflict` when there is one of the same kind already */
    async add(budget: NewBudget): Promise<BudgetRecord> {
      const at = now();
      const { limit, softPercent, ...rest } = budget;
      const row = {
        id: newId('bud', at),
        ...rest,
        amount: limit,
        soft_percent: softPercent,
        created_at: at,
        updated_at: at,
        reset_at: null,
      };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('budgets')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) throw alreadyExists();
      return recordOf(row);
    },

    /** The one budget of its kind. */
    async at({ metric, period, scope, subject }: BudgetIdentity): Promise<BudgetRecord | null> {
      const same = (one: BudgetRecord) =>
        one.metric === metric && one.period === period && one.scope === scope && one.subject === subject;
      return (await list()).find(same) ?? null;
    },

    /** Removes a budget. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('budgets').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

export type BudgetStore = ReturnType<typeof budgetStore>;

function alreadyExists(): GatewayError {
  return new GatewayError(
    'conflict',
    'There is a budget of this scope, subject, metric and period already: change that one',
    { param: 'metric' },
  );
}

function recordOf(row: Selectable<BudgetTable>): BudgetRecord {
  return {
    id: row.id,
    scope: row.scope,
    subject: row.subject,
    metric: row.metric,
    limit: row.amount,
    period: row.period,
    softPercent: row.soft_percent,
    unpriced: row.unpriced,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    resetAt: row.reset_at,
  };
}
