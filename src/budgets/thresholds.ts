import type { Store } from '../store/database.ts';

/** For how long it is kept when thresholds were reached, in days. */
const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;

/** A budget reached its warning threshold (`soft`) or its limit (`exceeded`). */
export interface ReachedThreshold {
  budgetId: string;
  kind: 'soft' | 'exceeded';
  /** Milliseconds since the epoch. */
  at: number;
  /** In USD, tokens or requests. */
  used: number;
  /** What was reached, for people, as a sentence. */
  what: string;
}

/** When budgets reached their thresholds: once in each window, for 90 days. */
export function thresholdStore({ db }: Pick<Store, 'db'>) {
  return {
    async add({ at, budgetId, kind, used, what }: ReachedThreshold): Promise<void> {
      await db
        .deleteFrom('budget_thresholds')
        .where('reached_at', '<', at - KEPT_DAYS * DAY_MS)
        .execute();
      await db
        .insertInto('budget_thresholds')
        .values({ budget_id: budgetId, kind, reached_at: at, used, what })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    /** Those of a time and later, oldest first. @param since milliseconds since the epoch */
    async since(since: number): Promise<ReachedThreshold[]> {
      const rows = await db
        .selectFrom('budget_thresholds')
        .selectAll()
        .where('reached_at', '>=', since)
        .orderBy('reached_at')
        .execute();
      return rows.map(({ budget_id, kind, reached_at, used, what }) => ({
        budgetId: budget_id,
        kind,
        at: reached_at,
        used,
        what,
      }));
    },

    /** The last of each kind, by budget. */
    async last(): Promise<ReadonlyMap<string, { soft: number | null; exceeded: number | null }>> {
      const rows = await db
        .selectFrom('budget_thresholds')
        .select(['budget_id', 'kind', ({ fn }) => fn.max<number>('reached_at').as('at')])
        .groupBy(['budget_id', 'kind'])
        .execute();
      const last = new Map<string, { soft: number | null; exceeded: number | null }>();
      for (const { at, budget_id, kind } of rows) {
        const existing = last.get(budget_id) ?? { soft: null, exceeded: null };
        last.set(budget_id, { ...existing, [kind]: at });
      }
      return last;
    },
  };
}
