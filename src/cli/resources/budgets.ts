import { z } from 'zod';
import { rowOfBudget } from '../../budgets/budget-row.ts';
import { openLimits } from '../../budgets/open.ts';
import { budgetRow } from '../../budgets/schema.ts';
import { budgetStore } from '../../budgets/store.ts';
import { subjectsIn } from '../../budgets/subjects.ts';
import { usedBy } from '../../state.ts';
import type { Store } from '../../store/database.ts';
import type { Context } from '../context.ts';

export type BudgetRow = z.infer<typeof budgetRow>;

const TIMEOUT_MS = 10_000;

/** What a budget is of: `all`, `team core`. */
export function subjectText({ scope, subject, subject_name: name }: BudgetRow): string {
  return scope === 'global' ? 'all' : `${scope} ${name ?? subject ?? ''}`;
}

/** All budgets with what they have counted: as the running gateway has it, else from the ledger. */
export async function listBudgets(context: Context): Promise<BudgetRow[]> {
  const running = await context.findGateway();
  const answer =
    running === null
      ? null
      : await running.send('/api/budgets?expand=resources&limit=1000', {
          method: 'GET',
          timeoutMs: TIMEOUT_MS,
        });
  if (answer !== null && answer.status === 200) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const { resources } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { resources: unknown };
    const rows = z.array(budgetRow).safeParse(resources);
    // A gateway of an earlier version may still run.
    if (rows.success) return rows.data;
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
