import { z } from 'zod';
import { addKey, keyPatch } from '../access/keys/input.ts';
import { rowOfKey } from '../access/keys/row.ts';
import { newKeyInput } from '../access/schema.ts';
import { keyStore } from '../access/store.ts';
import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import { type BudgetMetric, type BudgetPeriod, type BudgetRecord, unpricedRule } from './schema.ts';
import { type BudgetStore, budgetStore } from './store.ts';
import { limitsOfKey } from './used-key-limits.ts';

const MAXIMUM = 1e12;
const tooLarge = 'a limit is 1000000000000 at most';
const limit = z
  .number('a limit is a number above 0')
  .positive('a limit is above 0')
  .max(MAXIMUM, tooLarge)
  .nullable();
const count = z
  .int('a limit is a whole number')
  .positive('a limit is above 0')
  .max(MAXIMUM, tooLarge)
  .nullable();

/** The limits that a key is made with. Others are set as budgets. */
const members = {
  /** USD in a period; null for no bound. */
  budget_usd: limit,
  budget_period: z.enum(['day', 'week', 'month']).nullable(),
  /** Whether models without a known price may be used under that budget; null where there is none. */
  budget_unpriced: unpricedRule.nullable(),
  /** Requests, and input and output tokens, in a minute. */
  rpm: count,
  tpm: count,
};

const row = z.object(members);
const change = z.object(members).partial();

export type KeyLimits = z.infer<typeof change>;

/** What a new key is made of, its limits included. */
export const newLimitedKeyInput = newKeyInput.extend(change.shape);

const DEFAULT_PERIOD = 'month';
const SOFT_PERCENT = 80;
const DEFAULT_UNPRICED = 'refuse';

/** Sets the limits of a key that are named; null removes one. @throws GatewayError for what belongs to an amount, without one */
async function setKeyLimits(budgets: BudgetStore, keyId: string, limits: KeyLimits): Promise<void> {
  const own = await limitsOfKey(budgets, keyId);
  const set = async (metric: BudgetMetric, period: BudgetPeriod, amount: number | null | undefined) => {
    if (amount === undefined) return;
    const existing = own.find((one) => one.metric === metric && one.period === period);
    if (existing === undefined) {
      const place = { scope: 'key', subject: keyId, metric, period } as const;
      const unpriced = metric === 'usd' ? rule : DEFAULT_UNPRICED;
      if (amount !== null)
        await budgets.add({ ...place, limit: amount, softPercent: SOFT_PERCENT, unpriced });
    } else if (amount === null) await budgets.remove(existing.id);
    else
      await budgets.update(
        existing.id,
        metric === 'usd' ? { limit: amount, unpriced: rule } : { limit: amount },
      );
  };
  const money = own.find(isMoney);
  const { budget_period, budget_unpriced, budget_usd } = limits;
  const rule = budget_unpriced ?? money?.unpriced ?? DEFAULT_UNPRICED;
  await set('requests', 'minute', limits.rpm);
  await set('tokens', 'minute', limits.tpm);
  if (budget_usd === undefined && budget_period === undefined && budget_unpriced === undefined) return;
  const amount = budget_usd === undefined ? (money?.limit ?? null) : budget_usd;
  const period = budget_period ?? money?.period ?? DEFAULT_PERIOD;
  if (amount === null) refuseWithoutAmount(limits);
  if (money !== undefined && money.period !== period) await budgets.remove(money.id);
  await set('usd', period, amount);
}

/** The gateway keys of a store with their limits: a key and its limits are written together, or neither is. */
export function limitedKeys({ db }: Pick<Store, 'db'>, now: () => number) {
  type Stores = { keys: ReturnType<typeof keyStore>; budgets: BudgetStore };
  const together = <T>(run: (stores: Stores) => Promise<T>): Promise<T> =>
    db
      .transaction()
      .execute((trx) => run({ keys: keyStore({ db: trx }, now), budgets: budgetStore({ db: trx }, now) }));
  const shown = async ({ budgets, keys }: Stores, id: string): Promise<Row> => {
    const record = await keys.find(id);
    if (record === null) throw new GatewayError('not_found', `The key ${id} was removed in the meantime`);
    return { ...rowOfKey(record, now()), ...shownKeyLimits(await budgets.list(), id) };
  };
  return {
    /** A key and its limits as they are shown; null when there is none of that id or name. */
    async find(idOrName: string): Promise<Row | null> {
      const record = await keyStore({ db }, now).find(idOrName);
      if (record === null) return null;
      return {
        ...rowOfKey(record, now()),
        ...shownKeyLimits(await budgetStore({ db }, now).list(), record.id),
      };
    },

    /**
     * Makes a key. Its text is in the answer and nowhere else.
     * @throws GatewayError for a name that is taken or a time that is past, ZodError for other input that is not valid
     */
    async create(input: Record<string, unknown>): Promise<{ row: Row; key: string }> {
      const { limits, rest } = split(input);
      return together(async (stores) => {
        const { key, record } = await addKey(stores.keys, rest, now());
        await setKeyLimits(stores.budgets, record.id, limits);
        return { row: await shown(stores, record.id), key };
      });
    },

    /** Changes what is named of a key. @param row the key as it is shown @throws as `create` does */
    async update(row: Row, input: Record<string, unknown>): Promise<Row> {
      const { limits, rest } = split(input);
      return together(async (stores) => {
        await stores.keys.update(row.id, keyPatch(row, rest, now()));
        await setKeyLimits(stores.budgets, row.id, limits);
        return shown(stores, row.id);
      });
    },
  };
}

function isMoney({ metric, period }: BudgetRecord): boolean {
  return metric === 'usd' && (period === 'day' || period === 'week' || period === 'month');
}

/** The limits of a key as they are shown with it. */
function shownKeyLimits(budgets: readonly BudgetRecord[], keyId: string): z.infer<typeof row> {
  return limitsShownOf(budgets.filter(({ scope, subject }) => scope === 'key' && subject === keyId));
}

/** The same for many keys: the budgets are looked through once. */
export function keyLimitsIn(budgets: readonly BudgetRecord[]): (keyId: string) => z.infer<typeof row> {
  const byKey = Map.groupBy(
    budgets.filter(({ scope }) => scope === 'key'),
    ({ subject }) => subject,
  );
  const none = limitsShownOf([]);
  return (keyId) => {
    const own = byKey.get(keyId);
    return own === undefined ? none : limitsShownOf(own);
  };
}

function limitsShownOf(own: readonly BudgetRecord[]): z.infer<typeof row> {
  const perMinute = (metric: BudgetMetric) =>
    own.find((one) => one.metric === metric && one.period === 'minute')?.limit ?? null;
  const money = own.find(isMoney);
  const { budget_period } = row.pick({ budget_period: true }).parse({ budget_period: money?.period ?? null });
  return {
    budget_usd: money?.limit ?? null,
    budget_period,
    budget_unpriced: money?.unpriced ?? null,
    rpm: perMinute('requests'),
    tpm: perMinute('tokens'),
  };
}

/** The resource of keys, with the limits of each as fields that can be read, given and changed. */
export function withKeyLimits(keys: Resource, store: Pick<Store, 'db'>, now: () => number): Resource {
  const budgets = budgetStore(store, now);
  const limited = limitedKeys(store, now);
  const { create, list, page, update } = keys;
  return {
    ...keys,
    record: keys.record.extend(members),
    ...(list === undefined
      ? {}
      : {
          async list(caller) {
            const limitsOf = keyLimitsIn(await budgets.list());
            return (await list(caller)).map((one) => ({ ...one, ...limitsOf(one.id) }));
          },
        }),
    ...(page === undefined
      ? {}
      : {
          async page(query, caller) {
            const keyPage = await page(query, caller);
            if (keyPage === null) return null;
            const limitsOf = keyLimitsIn(await budgets.list());
            return { ...keyPage, rows: keyPage.rows.map((one) => ({ ...one, ...limitsOf(one.id) })) };
          },
        }),
    async find(id, caller) {
      const one = await keys.find(id, caller);
      return one === null ? null : { ...one, ...shownKeyLimits(await budgets.list(), one.id) };
    },
    ...(create === undefined
      ? {}
      : {
          create: {
            ...create,
            input: newLimitedKeyInput,
            async run(input) {
              const { key, row: made } = await limited.create(input);
              return { row: made, secret: { key } };
            },
          },
        }),
    ...(update === undefined
      ? {}
      : { update: { ...update, input: update.input.extend(change.shape), run: limited.update } }),
  };
}

function split(input: Record<string, unknown>): { limits: KeyLimits; rest: Record<string, unknown> } {
  const { budget_period, budget_unpriced, budget_usd, rpm, tpm, ...rest } = input;
  return { limits: change.parse({ budget_period, budget_unpriced, budget_usd, rpm, tpm }), rest };
}

/** @throws GatewayError for a period or a rule that is given without an amount */
function refuseWithoutAmount(limits: KeyLimits): void {
  for (const field of ['budget_period', 'budget_unpriced'] as const) {
    if (limits[field] === undefined || limits[field] === null) continue;
    throw new GatewayError('invalid_request', `${field} also needs budget_usd`, { param: field });
  }
}
