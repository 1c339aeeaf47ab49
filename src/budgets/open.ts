import type { Log } from '../lib/log.ts';
import type { Schedule } from '../lib/schedule.ts';
import type { Store } from '../store/database.ts';
import type { BudgetEvent } from './hold.ts';
import { createLimits, type Limits, type LimitsInput } from './limits.ts';
import { openRedis } from './redis.ts';
import { describeBudget } from './refusal.ts';
import { createShared } from './shared.ts';
import { budgetStore } from './store.ts';

interface OpenInput extends Omit<LimitsInput, 'notify' | 'shared'> {
  store: Pick<Store, 'db'>;
  log: Pick<Log, 'warn'>;
  shared: OpenShared | null;
}

/** The budgets of a store in force: `reload` takes over what is stored. */
export interface OpenLimits extends Limits {
  reload(): Promise<void>;
}

export function openLimits({ log, shared, store, ...input }: OpenInput): OpenLimits {
  const budgets = budgetStore(store, input.now);
  const limits = createLimits({
    ...input,
    shared: shared?.limits ?? null,
    notify: (event) => tell(log, event),
  });
  return { ...limits, reload: async () => limits.configure(await budgets.list()) };
}

function tell(log: Pick<Log, 'warn'>, { budget, kind, subject, used }: BudgetEvent): void {
  const what = describeBudget(budget, subject);
  const facts = { event: `budget.${kind}`, budget: budget.id, used, limit: budget.limit };
  log.warn(
    facts,
    kind === 'soft' ? `${budget.softPercent} % of the ${what} is used` : `The ${what} is used up`,
  );
}

interface SharedInput {
  redis: { url: string; timeoutMs: number };
  log: Pick<Log, 'info' | 'warn'>;
  schedule: Schedule;
  /** A new id for this gateway, unlike any other. */
  newId(): string;
}

/** Limits that are counted in Redis. */
export interface OpenShared {
  limits: ReturnType<typeof createShared>;
  /** Whether Redis answers, and in time. */
  ready(): boolean;
  close(): Promise<void>;
}

/** Well within the time for which a gateway counts as alive. */
const TICK_MS = 5_000;

/** Connects the limits to Redis. Does not fail when it does not answer: it is tried again for ever. */
export async function openShared({ log, newId, redis: given, schedule }: SharedInput): Promise<OpenShared> {
  let renew = () => {};
  const redis = await openRedis({ url: given.url, log, onReady: () => renew() });
  const limits = createShared({
    ...{ run: redis.run, ready: redis.ready, timeoutMs: given.timeoutMs, newId, now: Date.now },
    onPace(slow) {
      const facts = { timeout_ms: given.timeoutMs };
      if (slow) log.warn(facts, 'Redis is slow: requests are decided without it');
      else log.info(facts, 'Redis answers in time again: limits are shared again');
    },
  });
  renew = limits.renew;
  const stop = schedule.every({ name: 'shared limits', everyMs: TICK_MS, run: limits.tick });
  return {
    limits,
    ready: () => redis.ready() && limits.inTime(),
    async close() {
      stop();
      await redis.close();
    },
  };
}
