import type { Outcome, Resource, Row } from '../http/resource.ts';
import type { Store } from '../store/database.ts';
import { rowOfBudget } from './budget-row.ts';
import type { Limits } from './limits.ts';
import { type BudgetRecord, type BudgetScope, budgetChange, budgetRow, newBudgetInput } from './schema.ts';
import { budgetStore } from './store.ts';
import { type FindSubject, subjectsIn } from './subjects.ts';
import { budgetUseCases } from './use-cases.ts';

export interface BudgetsInput {
  store: Pick<Store, 'db'>;
  /** What is counted at this moment. */
  limits: Pick<Limits, 'counter'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Budgets and limits, with what they have counted. */
export function budgetsResource({ limits, now, store }: BudgetsInput): Resource {
  const budgets = budgetStore(store, now);
  const useCases = budgetUseCases(store, now);
  const findSubject = subjectsIn(store);
  const shown = async (record: BudgetRecord): Promise<Row> => {
    const name = record.subject === null ? null : await nameOf(findSubject, record.scope, record.subject);
    return rowOfBudget(record, name, limits.counter(record.id), now());
  };
  const find = async (id: string): Promise<Row | null> => {
    const record = await budgets.find(id);
    return record === null ? null : shown(record);
  };
  return {
    name: 'budgets',
    title: 'Budgets',
    summary: 'Limits on money, tokens, requests and concurrency, with their current use.',
    record: budgetRow,
    read: 'budgets:read',
    list: async () => Promise.all((await budgets.list()).map(shown)),
    find,
    create: {
      permission: 'budgets:update',
      input: newBudgetInput,
      run: async (input) => ({ row: await shown(await useCases.create(input)) }),
    },
    update: {
      permission: 'budgets:update',
      input: budgetChange,
      run: async (row, input) => shown(await useCases.change(row.id, input)),
    },
    remove: {
      permission: 'budgets:update',
      run: (row) => useCases.remove(row.id),
    },
    actions: {
      reset: {
        summary: 'Starts the count again at zero. Open requests keep their reservations.',
        permission: 'budgets:update',
        preview: async (row) => done(row, 'would begin to count anew'),
        async run(row) {
          await useCases.reset(row.id);
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
