import { z } from 'zod';
import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { BudgetMetric, BudgetPeriod, BudgetRecord } from './schema.ts';
import type { BudgetStore } from './store.ts';

const limit = z.number('a limit is a number above 0').positive('a limit is above 0').max(1e12).nullable();
const count = z.int('a limit is a whole number').positive('a limit is above 0').max(1e12).nullable();

/** The limits that a key is made with. Others are set as budgets. */
const members = {
  /** USD in a period; null for no bound. */
  budget_usd: limit,
  budget_period: z.enum(['day', 'week', 'month']).nullable(),
  /** Requests, and input and output tokens, in a minute. */
  rpm: count,
  tpm: count,
};

const row = z.object(members);
const change = z.object(members).partial();

export type KeyLimits = z.infer<typeof change>;

const DEFAULT_PERIOD = 'month';
const SOFT_PERCENT = 80;

/** Sets the limits of a key that are named; null removes one. */
export async function setKeyLimits(budgets: BudgetStore, keyId: string, limits: KeyLimits): Promise<void> {
  const own = await limitsOfKey(budgets, keyId);
  const set = async (metric: BudgetMetric, period: BudgetPeriod, amount: number | null | undefined) => {
    if (amount === undefined) return;
    const known = own.find((one) => one.metric === metric && one.period === period);
    if (known === undefined) {
      const place = { scope: 'key', subject: keyId, metric, period } as const;
      if (amount !== null)
        await budgets.add({ ...place, limit: amount, softPercent: SOFT_PERCENT, unpriced: 'allow' });
    } else if (amount === null) await budgets.remove(known.id);
    else await budgets.update(known.id, { limit: amount });
  };
  await set('requests', 'minute', limits.rpm);
  await set('tokens', 'minute', limits.tpm);
  const money = own.find(isMoney);
  const { budget_period, budget_usd } = limits;
  if (budget_usd === undefined && budget_period === undefined) return;
  const amount = budget_usd === undefined ? (money?.limit ?? null) : budget_usd;
  const period = budget_period ?? money?.period ?? DEFAULT_PERIOD;
  if (money === undefined) refuseLonePeriod(limits);
  if (money !== undefined && money.period !== period) await budgets.remove(money.id);
  await set('usd', period, amount);
}

function isMoney({ metric, period }: BudgetRecord): boolean {
  return metric === 'usd' && (period === 'day' || period === 'week' || period === 'month');
}

async function limitsOfKey(budgets: BudgetStore, keyId: string): Promise<BudgetRecord[]> {
  return (await budgets.list()).filter(({ scope, subject }) => scope === 'key' && subject === keyId);
}

/** The limits of a key as they are shown with it. */
export function shownKeyLimits(budgets: readonly BudgetRecord[], keyId: string): z.infer<typeof row> {
  const own = budgets.filter(({ scope, subject }) => scope === 'key' && subject === keyId);
  const perMinute = (metric: BudgetMetric) =>
    own.find((one) => one.metric === metric && one.period === 'minute')?.limit ?? null;
  const money = own.find(isMoney);
  const { budget_period } = row.pick({ budget_period: true }).parse({ budget_period: money?.period ?? null });
  return {
    budget_usd: money?.limit ?? null,
    budget_period,
    rpm: perMinute('requests'),
    tpm: perMinute('tokens'),
  };
}

/** The resource of keys, with the limits of each as members that can be read, given and changed. */
export function withKeyLimits(keys: Resource, budgets: BudgetStore): Resource {
  const { create, update } = keys;
  const shown = (one: Row, all: readonly BudgetRecord[]): Row => ({ ...one, ...shownKeyLimits(all, one.id) });
  const show = async (one: Row): Promise<Row> => shown(one, await budgets.list());
  const list = keys.list;
  return {
    ...keys,
    record: keys.record.extend(members),
    ...(list === undefined
      ? {}
      : {
          async list(caller) {
            const all = await budgets.list();
            return (await list(caller)).map((one) => shown(one, all));
          },
        }),
    async find(id, caller) {
      const one = await keys.find(id, caller);
      return one === null ? null : show(one);
    },
    ...(create === undefined
      ? {}
      : {
          create: {
            ...create,
            input: create.input.extend(change.shape),
            async run(input, caller) {
              const { limits, rest } = split(input);
              refuseLonePeriod(limits);
              const made = await create.run(rest, caller);
              await setKeyLimits(budgets, made.row.id, limits);
              return { ...made, row: await show(made.row) };
            },
          },
        }),
    ...(update === undefined
      ? {}
      : {
          update: {
            ...update,
            input: update.input.extend(change.shape),
            async run(one, input, caller) {
              const { limits, rest } = split(input);
              const changed = await update.run(one, rest, caller);
              await setKeyLimits(budgets, one.id, limits);
              return show(changed);
            },
          },
        }),
  };
}

function split(input: Record<string, unknown>): { limits: KeyLimits; rest: Record<string, unknown> } {
  const { budget_period, budget_usd, rpm, tpm, ...rest } = input;
  return { limits: change.parse({ budget_period, budget_usd, rpm, tpm }), rest };
}

/** @throws GatewayError for a period that is given without an amount */
function refuseLonePeriod({ budget_period, budget_usd }: KeyLimits): void {
  if (budget_period === undefined || budget_period === null) return;
  if (budget_usd !== undefined && budget_usd !== null) return;
  throw new GatewayError('invalid_request', 'budget_period needs budget_usd beside it', {
    param: 'budget_period',
  });
}
