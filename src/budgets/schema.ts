import { z } from 'zod';

/** Whose requests a budget counts: all, or those of a key, a combo, a connection, a team, an owner of keys, or with a tag. */
export const budgetScope = z.enum(['global', 'key', 'combo', 'connection', 'team', 'owner', 'tag']);
export type BudgetScope = z.infer<typeof budgetScope>;

/** What it counts. Tokens are those of the input and of the output; concurrency is requests at the same time. */
export const budgetMetric = z.enum(['usd', 'tokens', 'requests', 'concurrency']);
export type BudgetMetric = z.infer<typeof budgetMetric>;

/** Minutes and hours roll; days, weeks (from Monday) and months are those of the calendar in UTC. */
export const budgetPeriod = z.enum(['minute', 'hour', 'day', 'week', 'month']);
export type BudgetPeriod = z.infer<typeof budgetPeriod>;

/** What happens to requests whose model has no known price, under a budget in USD. */
export const unpricedRule = z.enum(['allow', 'refuse']);

const limit = z.number('a limit is a number above 0').positive('a limit is above 0').max(1e12);
const softPercent = z
  .int('a percentage from 1 to 100')
  .min(1, 'a percentage from 1 to 100')
  .max(100, 'a percentage from 1 to 100')
  .nullable();

/** A budget as it is stored. Times in milliseconds since the epoch. */
export const budgetRecord = z.object({
  id: z.string(),
  scope: budgetScope,
  /** The id of the key, combo or connection, the name of the team or owner, or the tag; null for `global`. */
  subject: z.string().nullable(),
  metric: budgetMetric,
  /** In USD, tokens or requests. */
  limit,
  /** Null for concurrency alone. */
  period: budgetPeriod.nullable(),
  /** The share of the limit at which a notification is sent, once per window; null for never. */
  softPercent,
  unpriced: unpricedRule,
  createdAt: z.number(),
  updatedAt: z.number(),
  /** What was used before this is not counted; null for the whole window. */
  resetAt: z.number().nullable(),
});

export type BudgetRecord = z.infer<typeof budgetRecord>;

/** What a new budget is made of. */
export const newBudgetInput = z.strictObject({
  scope: budgetScope.default('global'),
  /** Id or name of the key, combo or connection, name of the team or owner, or the tag; absent or null for `global`. */
  subject: z.string().min(1, 'a subject is an id or a name').max(300).nullable().optional(),
  metric: budgetMetric,
  limit,
  /** Absent or null for concurrency, required for the rest. */
  period: budgetPeriod.nullable().optional(),
  /** Default 80. */
  soft_percent: softPercent.optional(),
  /** Default `refuse`. */
  unpriced: unpricedRule.optional(),
});

/** What may be changed of a budget. */
export const budgetChange = z
  .strictObject({ limit, soft_percent: softPercent, unpriced: unpricedRule })
  .partial();

/** A budget as it is shown, with what it has counted. Amounts in USD, tokens or requests. */
export const budgetRow = z.object({
  id: z.string(),
  scope: budgetScope,
  subject: z.string().nullable(),
  subject_name: z.string().nullable(),
  metric: budgetMetric,
  limit,
  period: budgetPeriod.nullable(),
  /** Rolling, by the calendar in UTC, or at any one moment. */
  window: z.enum(['rolling', 'calendar', 'moment']),
  /** Used in this window. */
  spent: z.number(),
  /** Set aside for requests that are not answered yet. */
  reserved: z.number(),
  remaining: z.number(),
  /** What is used, in percent of the limit, to a tenth; of concurrency, what is open. */
  used_percent: z.number(),
  /** `soft`: the threshold of `soft_percent` is reached; `used_up`: the limit is. */
  state: z.enum(['ok', 'soft', 'used_up']),
  /** When that was in this window; null when it was not, or is not known. */
  soft_reached_at: z.iso.datetime().nullable(),
  limit_reached_at: z.iso.datetime().nullable(),
  /** Requests in this window whose cost is not known, for a budget in USD. */
  unpriced_requests: z.int(),
  /** When the window ends; of a rolling one, when all that is counted now is out of it. */
  resets_at: z.iso.datetime().nullable(),
  soft_percent: softPercent,
  unpriced: unpricedRule,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
