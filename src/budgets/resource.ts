import type { Outcome, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { rowOfBudget } from './budget-row.ts';
import { checkedBudget, type FindSubject } from './checked-input.ts';
import type { Limits } from './limits.ts';
import { type BudgetRecord, type BudgetScope, budgetChange, budgetRow, newBudgetInput } from './schema.ts';
import type { BudgetPatch, BudgetStore } from './store.ts';

export interface BudgetsInput {
  budgets: BudgetStore;
  /** What is counted at this moment. */
  limits: Pick<Limits, 'counter'>;
  findSubject: FindSubject;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Budgets and limits, with what they have counted. */
export function budgetsResource({ budgets, findSubject, limits, now }: BudgetsInput): Resource {
  const shown = async (record: BudgetRecord): Promise<Row> => {
    const name = record.subject === null ? null : await nameOf(findSubject, record.scope, record.subject);
    return rowOfBudget(record, name, limits.counter(record.id), now());
  };
  const find = async (id: string): Promise<Row | null> => {
    const record = await budgets.find(id);
    return record === null ? null : shown(record);
  };
  const change = async (row: Row, patch: BudgetPatch): Promise<Row> => {
    const changed = (await budgets.update(row.id, patch)) ? await find(row.id) : null;
    if (changed === null) throw gone(row);
    return changed;
  };
  return {
    name: 'budgets',
    title: 'Budgets',
    summary: 'Limits on money, tokens, requests and concurrency, with what is used of them at this moment.',
    record: budgetRow,
    read: 'budgets:read',
    list: async () => Promise.all((await budgets.list()).map(shown)),
    find,
    create: {
      permission: 'budgets:update',
      input: newBudgetInput,
      run: async (input) => ({
        row: await shown(await budgets.add(await checkedBudget(input, findSubject))),
      }),
    },
    update: {
      permission: 'budgets:update',
      input: budgetChange,
      async run(row, input) {
        const { limit, soft_percent, unpriced } = budgetChange.parse(input);
        if (limit !== undefined && row['metric'] !== 'usd' && !Number.isInteger(limit))
          throw new GatewayError('invalid_request', `a limit of ${String(row['metric'])} is a whole number`, {
            param: 'limit',
          });
        return change(row, {
          ...(limit === undefined ? {} : { limit }),
          ...(soft_percent === undefined ? {} : { softPercent: soft_percent }),
          ...(unpriced === undefined ? {} : { unpriced }),
        });
      },
    },
    remove: {
      permission: 'budgets:update',
      async run(row) {
        if (!(await budgets.remove(row.id))) throw gone(row);
      },
    },
    actions: {
      reset: {
        summary:
          'Begins to count anew: what was used so far counts no more. Open requests keep what they hold.',
        permission: 'budgets:update',
        preview: async (row) => done(row, 'would begin to count anew'),
        async run(row) {
          await change(row, { resetAt: now() });
          return done(row, 'counts anew from now on');
        },
      },
    },
    // What is counted changes with every request, and is no change of the budget.
    revisionOf: (row) => JSON.stringify([row['id'], row['updated_at']]),
  };
}

async function nameOf(find: FindSubject, scope: BudgetScope, subject: string): Promise<string | null> {
  return (await find(scope, subject))?.name ?? null;
}

function done(row: Row, what: string): Outcome {
  return { success: true, message: `The budget ${row.id} ${what}` };
}

function gone(row: Row): GatewayError {
  return new GatewayError('not_found', `The budget ${row.id} was removed meanwhile`);
}
