import type { z } from 'zod';
import type { Store } from '../store/database.ts';
import { rowOfBudget } from './budget-row.ts';
import type { Limits } from './limits.ts';
import type { BudgetRecord, budgetRow } from './schema.ts';
import { type BudgetStore, budgetStore } from './store.ts';

/** A limit of a key as its holder sees it. Amounts in USD, tokens or requests. */
export type KeyLimit = Pick<
  z.infer<typeof budgetRow>,
  'metric' | 'limit' | 'period' | 'spent' | 'remaining' | 'resets_at'
>;

/** The limits of one key and how much of each is used. @param now milliseconds since the epoch */
export async function usedKeyLimits(
  store: Pick<Store, 'db'>,
  { counter }: Pick<Limits, 'counter'>,
  keyId: string,
  now: number,
): Promise<KeyLimit[]> {
  const own = await limitsOfKey(
    budgetStore(store, () => now),
    keyId,
  );
  return own.map((budget) => {
    const { limit, metric, period, remaining, resets_at, spent } = rowOfBudget(
      budget,
      null,
      counter(budget.id),
      now,
    );
    return { metric, limit, period, spent, remaining, resets_at };
  });
}

/** The limits of one key, as budgets. */
export async function limitsOfKey(budgets: BudgetStore, keyId: string): Promise<BudgetRecord[]> {
  return (await budgets.list()).filter(({ scope, subject }) => scope === 'key' && subject === keyId);
}
