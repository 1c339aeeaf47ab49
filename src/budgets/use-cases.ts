import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import { checkedBudget } from './checked-input.ts';
import { type BudgetRecord, budgetChange } from './schema.ts';
import { type BudgetPatch, budgetStore } from './store.ts';
import { subjectsIn } from './subjects.ts';

/**
 * What can be done to budgets, for the command line and the management API alike. Inputs are those of the API; what is not
 * valid in one is thrown as a ZodError, what does not fit together as a GatewayError `invalid_request` that names the field.
 */
export function budgetUseCases({ db }: Pick<Store, 'db'>, now: () => number) {
  const update = async (id: string, patch: BudgetPatch): Promise<BudgetRecord> => {
    const budgets = budgetStore({ db }, now);
    const changed = (await budgets.update(id, patch)) ? await budgets.find(id) : null;
    if (changed === null) throw noSuchBudget(id);
    return changed;
  };
  return {
    /** @throws GatewayError `conflict` where there is one of the same scope, subject, metric and period */
    async create(input: Record<string, unknown>): Promise<BudgetRecord> {
      return budgetStore({ db }, now).add(await checkedBudget(input, subjectsIn({ db })));
    },

    /** The budget that `set` would change; null where it would make one. */
    async existing(input: Record<string, unknown>): Promise<BudgetRecord | null> {
      return budgetStore({ db }, now).at(await checkedBudget(input, subjectsIn({ db })));
    },

    /** Makes a budget, or changes the one of the same scope, subject, metric and period: of that, what is named. */
    set: (input: Record<string, unknown>): Promise<BudgetRecord> =>
      db.transaction().execute(async (trx) => {
        const budgets = budgetStore({ db: trx }, now);
        const checked = await checkedBudget(input, subjectsIn({ db: trx }));
        const existing = await budgets.at(checked);
        if (existing === null) return budgets.add(checked);
        const patch: BudgetPatch = { limit: checked.limit };
        if (input['soft_percent'] !== undefined) patch.softPercent = checked.softPercent;
        if (input['unpriced'] !== undefined) patch.unpriced = checked.unpriced;
        await budgets.update(existing.id, patch);
        return (await budgets.find(existing.id)) ?? existing;
      }),

    /** Changes what is named of a budget. @throws GatewayError `not_found` */
    async change(id: string, input: Record<string, unknown>): Promise<BudgetRecord> {
      const { limit, soft_percent, unpriced } = budgetChange.parse(input);
      const budget = await budgetStore({ db }, now).find(id);
      if (budget === null) throw noSuchBudget(id);
      if (limit !== undefined && budget.metric !== 'usd' && !Number.isInteger(limit))
        throw new GatewayError('invalid_request', `a limit of ${budget.metric} is a whole number`, {
          param: 'limit',
        });
      const patch: BudgetPatch = {};
      if (limit !== undefined) patch.limit = limit;
      if (soft_percent !== undefined) patch.softPercent = soft_percent;
      if (unpriced !== undefined) patch.unpriced = unpriced;
      return update(id, patch);
    },

    /** Begins to count anew. @throws GatewayError `not_found` */
    reset: (id: string): Promise<BudgetRecord> => update(id, { resetAt: now() }),

    /** @throws GatewayError `not_found` */
    async remove(id: string): Promise<void> {
      if (!(await budgetStore({ db }, now).remove(id))) throw noSuchBudget(id);
    },
  };
}

function noSuchBudget(id: string): GatewayError {
  return new GatewayError('not_found', `The budget "${id}" no longer exists`);
}
