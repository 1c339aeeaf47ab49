import { describe, type Log } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import type { Counter } from './counter.ts';
import { createLimits, type Limits, type LimitsInput, type SharedBudgets } from './limits.ts';
import { describeBudget } from './refusal.ts';
import type { BudgetEvent } from './reservation.ts';
import { leaseStore } from './shared/lease-store.ts';
import { PRESENCE_KEY } from './shared/presence.ts';
import { openRedis } from './shared/redis.ts';
import { createSharedBudgets } from './shared/shared-budgets.ts';
import { createShared } from './shared/shared-limits.ts';
import { budgetStore } from './store.ts';
import { thresholdStore } from './thresholds.ts';

interface OpenInput extends Omit<LimitsInput, 'notify' | 'shared'> {
  store: Pick<Store, 'db'>;
  log: Pick<Log, 'warn'>;
  shared: OpenShared | null;
  /** Told of a threshold that a budget has reached, beside the log. */
  onEvent?(event: BudgetEvent): void;
}

/** The budgets of a store in force: `reload` takes over what is stored. */
export interface OpenLimits extends Limits {
  reload(): Promise<void>;
}

export function openLimits({ log, onEvent, shared, store, ...input }: OpenInput): OpenLimits {
  const budgets = budgetStore(store, input.now);
  const thresholds = thresholdStore(store);
  const limits = createLimits({
    ...input,
    shared: shared?.budgets ?? null,
    notify(event) {
      tell(log, event);
      const { at, budget, kind, used } = event;
      const what = sentenceOf(event);
      thresholds.add({ budgetId: budget.id, kind, at, used, what }).catch((error: unknown) => {
        log.warn(
          { error: describe(error), budget: budget.id },
          'a budget threshold that was reached cannot be stored',
        );
      });
      onEvent?.(event);
    },
  });
  return {
    ...limits,
    async reload() {
      const records = await budgets.list();
      await limits.configure(records);
      const last = await thresholds.last();
      for (const { id } of records) remember(limits.counter(id), last.get(id) ?? null, input.now());
    },
  };
}

/** Takes over when thresholds of this window were reached before the gateway was started. */
function remember(
  counter: Counter | null,
  last: { soft: number | null; exceeded: number | null } | null,
  now: number,
): void {
  if (counter === null || last === null) return;
  const { budget, reachedAt, window } = counter;
  for (const kind of ['soft', 'exceeded'] as const) {
    const at = last[kind];
    const counts = at !== null && at >= (budget.resetAt ?? 0) && window.counts(window.bucketAt(at), now);
    if (counts) reachedAt[kind] ??= at;
  }
}

function tell(log: Pick<Log, 'warn'>, event: BudgetEvent): void {
  const { budget, kind, used } = event;
  log.warn({ event: `budget.${kind}`, budget: budget.id, used, limit: budget.limit }, sentenceOf(event));
}

function sentenceOf({ budget, kind, subject, used }: BudgetEvent): string {
  const what = describeBudget(budget, subject);
  if (kind === 'soft') return `${budget.softPercent} % of the ${what} is used`;
  return used < budget.limit ? `A request did not fit in the ${what}` : `The ${what} is used up`;
}

interface SharedInput {
  redis: { url: string; timeoutMs: number; failureMode: 'refuse' | 'local' };
  store: Pick<Store, 'db' | 'insertMany' | 'node'>;
  log: Pick<Log, 'error' | 'info' | 'warn'>;
  /** Told why limits are not shared for now; null when they are again. */
  onSharing(reason: string | null): void;
  schedule: Schedule;
  /** A new id, unlike any other. */
  newId(): string;
}

/** Limits that are shared through Redis. */
export interface OpenShared {
  budgets: SharedBudgets;
  /** Whether Redis answers, and in time. */
  ready(): boolean;
  close(): Promise<void>;
}

const TICK_MS = 250;
/** What is given back at the end is worth waiting for so long. */
const CLOSE_MS = 1_000;

/** Connects the limits to Redis. Does not fail when it does not answer: it is tried again for ever. */
export async function openShared(input: SharedInput): Promise<OpenShared> {
  const { log, newId, onSharing, redis: settings, schedule, store } = input;
  const leases = leaseStore(store);
  const onError = (error: unknown) =>
    log.error({ error: describe(error) }, 'the shared state of the budgets cannot be stored');
  let failing = false;
  const onSaveError = (error: unknown) => {
    // It is tried again with each report.
    if (!failing) onError(error);
    failing = true;
  };
  const onSaved = () => {
    if (failing) log.info({}, 'the shared state of the budgets is stored again');
    failing = false;
  };
  let onChange = () => {};
  const redis = await openRedis({ url: settings.url, log, onChange: () => onChange() });
  const former = (await leases.load(PRESENCE_KEY))?.own ?? [];
  const limits = createShared({
    exchange: redis.exchange,
    ready: redis.ready,
    now: Date.now,
    newId,
    former,
    timeoutMs: settings.timeoutMs,
    failureMode: settings.failureMode,
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    save: (lease) => leases.save(lease, onSaveError, onSaved),
    onOutage(outage, error) {
      const facts = {
        timeout_ms: settings.timeoutMs,
        failure_mode: settings.failureMode,
        ...(error === null ? {} : { error: describe(error) }),
      };
      const late = `Redis does not answer within ${settings.timeoutMs} ms`;
      onSharing(outage ? (redis.ready() ? late : 'Redis cannot be reached') : null);
      // A connection that is lost is in the log already.
      if (!outage) log.info(facts, 'Redis answers in time: budgets are shared again');
      else if (redis.ready())
        log.warn(facts, 'Redis is slow: budgets are limited to what was granted before');
    },
  });
  onChange = limits.tick;
  const stop = schedule.every({ name: 'shared limits', everyMs: TICK_MS, run: limits.tick });
  return {
    budgets: createSharedBudgets({ limits, leases, newId, now: Date.now, onError }),
    ready: limits.answering,
    async close() {
      stop();
      await Promise.race([limits.close(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
      await redis.close();
    },
  };
}
