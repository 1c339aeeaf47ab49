import type { z } from 'zod';
import { keyStore } from '../access/store.ts';
import { rowOfBudget } from '../budgets/budget-row.ts';
import type { FindSubject } from '../budgets/checked-input.ts';
import { openLimits } from '../budgets/open.ts';
import { budgetRow } from '../budgets/schema.ts';
import { budgetStore } from '../budgets/store.ts';
import { comboStore } from '../combos/store.ts';
import { usedBy } from '../state.ts';
import type { Store } from '../store/database.ts';
import type { Context } from './context.ts';

export type BudgetRow = z.infer<typeof budgetRow>;

const TIMEOUT_MS = 10_000;

/** Finds keys and connections by id or name, without their secrets. */
export function subjectsIn(store: Store): FindSubject {
  return async (scope, idOrName) => {
    switch (scope) {
      case 'key':
        return keyStore(store).find(idOrName);
      case 'connection': {
        const rows = await store.db.selectFrom('connections').select(['id', 'name']).execute();
        return rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName) ?? null;
      }
      case 'combo':
        return comboStore(store).find(idOrName);
      case 'global':
        return null;
    }
  };
}

/** All budgets with what they have counted: as the running gateway has it, else from the ledger. */
export async function listBudgets(context: Context): Promise<BudgetRow[]> {
  const running = await context.findGateway();
  const said =
    running === null
      ? null
      : await running.send('/api/budgets?expand=resources&limit=1000', {
          method: 'GET',
          timeoutMs: TIMEOUT_MS,
        });
  if (said !== null && said.status === 200) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of said.body) chunks.push(chunk);
    const { resources } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { resources: unknown[] };
    return resources.map((row) => budgetRow.parse(row));
  }
  const store = await context.existingStore();
  return store === null ? [] : fromLedger(context, store);
}

async function fromLedger({ now }: Context, store: Store): Promise<BudgetRow[]> {
  const find = subjectsIn(store);
  const limits = openLimits({
    store,
    now,
    shared: null,
    log: { warn() {} },
    nameOf: () => null,
    used: usedBy(store),
  });
  await limits.reload();
  const rows = [];
  for (const record of await budgetStore(store).list()) {
    const subject = record.subject === null ? null : await find(record.scope, record.subject);
    rows.push(rowOfBudget(record, subject?.name ?? null, limits.counter(record.id), now()));
  }
  return rows;
}
