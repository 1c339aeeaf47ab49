import { z } from 'zod';

/** USD per million tokens: flat, or `[base, above, rate, above, rate …]` where `above` counts the request's input tokens. */
const rate = z.union([z.number().nonnegative(), z.array(z.number().nonnegative()).min(3)]);

/**
 * What one model costs during one period, USD per million tokens. The keys are one letter because the table is large.
 * The first period is the price before any other applies; the last one that applies wins.
 */
export const period = z.strictObject({
  /** First day (UTC, `YYYY-MM-DD`) on which it applies. */
  from: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .optional(),
  /** Seconds of the UTC day, from and to (exclusive), during which it applies; may wrap past midnight. */
  daily: z.tuple([z.int().min(0).max(86_400), z.int().min(0).max(86_400)]).optional(),
  /** Input. */
  i: rate.optional(),
  /** Output. */
  o: rate.optional(),
  /** Read from the prompt cache. */
  r: rate.optional(),
  /** Written to the prompt cache for five minutes, or for a time that the provider does not name. */
  w: rate.optional(),
  /** Written to the prompt cache for one hour. */
  h: rate.optional(),
  /** Reasoning. */
  t: rate.optional(),
  /** Audio input. */
  a: rate.optional(),
  /** Audio output. */
  b: rate.optional(),
  /** Picture tokens, given and made. */
  p: rate.optional(),
  q: rate.optional(),
  /** Web searches, USD per thousand. */
  s: z.number().nonnegative().optional(),
  /** Recorded speech, USD per hour. */
  x: z.number().nonnegative().optional(),
});

/**
 * Which model ids a row prices. A string is an operator and a lower-case operand: `=` equals, `^` starts with,
 * `$` ends with, `*` contains, `/` is a regular expression. An array means any of them, `{all}` every one of them.
 */
export type MatchRule = string | readonly MatchRule[] | { readonly all: readonly MatchRule[] };

const rule: z.ZodType<MatchRule> = z.lazy(() =>
  z.union([
    z.string().regex(/^[=^$*/]./),
    z.array(rule).min(1),
    z.strictObject({ all: z.array(rule).min(1) }),
  ]),
);

const row = z.strictObject({
  id: z.string().min(1),
  name: z.string().optional(),
  /** Context window in tokens. */
  ctx: z.int().positive().optional(),
  /** Absent: only the id itself. */
  match: rule.optional(),
  /** No period: the model is known, but not by anything that is counted here (pages). */
  price: z.array(period).optional(),
  /** The model costs nothing. */
  free: z.literal(1).optional(),
  /** No longer offered to new clients. */
  old: z.literal(1).optional(),
  /** The ids under which the model can be called as they stand, when it can. */
  call: z.array(z.string().min(1)).optional(),
});

const sellers = z.strictObject({
  /** A prefix that the provider's own model list puts before every id. */
  prefix: z.string().optional(),
  /** Other sellers whose rows price what is missing here, in order. */
  fallback: z.array(z.string()).optional(),
  models: z.array(row),
});

/** The shape of `prices.gen.json`. Checked when it is generated and in tests, not at every start. */
export const priceTable = z.strictObject({
  source: z.string(),
  notice: z.string(),
  sellers: z.record(z.string(), sellers),
});

export type PriceTable = z.infer<typeof priceTable>;
export type PriceRow = z.infer<typeof row>;
export type PricePeriod = z.infer<typeof period>;
export type Seller = z.infer<typeof sellers>;
