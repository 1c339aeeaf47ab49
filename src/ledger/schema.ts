import { z } from 'zod';

const count = z.number().nonnegative();

/** What one answer used, in disjoint buckets. */
const usage = z.object({
  input: count,
  cacheRead: count,
  cacheWrite5m: count,
  cacheWrite1h: count,
  output: count,
  reasoning: count,
  audioInput: count,
  audioOutput: count,
  imageInput: count,
  imageOutput: count,
  webSearches: count,
  images: count,
  audioSeconds: count,
  characters: count,
  searchUnits: count,
});

/** Why answers end, in one set of words for all formats. */
const finishReasons = [
  'stop',
  'stop_sequence',
  'length',
  'tool_calls',
  'context_window_exceeded',
  'content_filter',
  'paused',
  'other',
] as const;

/** What the ledger keeps of one model request. Times in milliseconds, money in USD. */
export const ledgerEntry = z.object({
  /** The request id. */
  id: z.string(),
  startedAt: z.number(),
  keyId: z.string().nullable(),
  connectionId: z.string().nullable(),
  /** The connection's name at the time. */
  connection: z.string().nullable(),
  provider: z.string().nullable(),
  /** The wire format in which the caller spoke. */
  format: z.string(),
  requestedModel: z.string().nullable(),
  /** The combo through which it was resolved. */
  comboId: z.string().nullable(),
  /** The combos within that one on the way to the target, the outermost first. */
  innerComboIds: z.array(z.string()).readonly(),
  model: z.string().nullable(),
  /** What the request asked for and its target was not told, in the client's own words (`x-gateway-dropped`). */
  dropped: z.array(z.string()).readonly(),
  /** What the caller saw; 499 when it left. */
  status: z.int(),
  outcome: z.enum(['ok', 'failed', 'aborted']),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  streamed: z.boolean(),
  /** Null: unknown. */
  usage: usage.nullable(),
  /** True when the upstream reported no usage and the numbers come from byte counts. */
  estimated: z.boolean(),
  /** True when the answer was given from the cache. */
  cached: z.boolean(),
  /** How many targets went on with the answer where another broke off. */
  continued: z.int(),
  /** The service tier that the client asked for, in OpenAI's words where it has one; null where it named none. */
  requestedTier: z.string().nullable(),
  /** The tier that the answer says served it, by which it is priced; null where it does not say. */
  servedTier: z.string().nullable(),
  /** Why the answer ended; null where there was none, where it broke off, and where it does not say. */
  finishReason: z.enum(finishReasons).nullable(),
  /** The provider's own word for that, as it came. */
  rawFinishReason: z.string().nullable(),
  /** Null: no price is known. Never 0 for that. */
  costUsd: z.number().nullable(),
  /** Which price table, and of which day. */
  priceSource: z.string().nullable(),
  /** What the provider's prompt cache saved, less what storing in it cost. Null: not known. */
  cacheSavingsUsd: z.number().nullable(),
  /** `plan` where the connection is paid by a plan at a fixed price: the cost is what the use would have cost. */
  billing: z.enum(['metered', 'plan']),
  /** What the same use would have cost at the combo's first target, less what it cost. Null: no combo, or not known. */
  routingSavingsUsd: z.number().nullable(),
  /** The session as the client names it in a header. */
  session: z.string().nullable(),
  ttftMs: z.number().nullable(),
  durationMs: z.number(),
  attempts: z.int(),
  upstreamRequestId: z.string().nullable(),
  userAgent: z.string().nullable(),
  /** `name=value`, or a name alone. */
  tags: z.array(z.string()).readonly(),
});

export type LedgerEntry = z.infer<typeof ledgerEntry>;

const shownUsage = z.object({
  input: count,
  cache_read: count,
  cache_write_5m: count,
  cache_write_1h: count,
  output: count,
  reasoning: count,
  audio_input: count,
  audio_output: count,
  image_input: count,
  image_output: count,
  web_searches: count,
  images: count,
  audio_seconds: count,
  characters: count,
  search_units: count,
});

const targetName = {
  connection_id: z.string(),
  connection: z.string(),
  provider: z.string(),
  model: z.string(),
};

/** Why a request went where it went, as it is shown. */
export const traceRow = z.object({
  requested: z.string(),
  /** The names between the requested one and its targets, and how each was understood. */
  via: z.array(z.object({ by: z.string(), name: z.string() })),
  combo: z.string().nullable(),
  strategy: z.string().nullable(),
  /** In the order in which they would have been tried; the first of many. */
  candidates: z.array(z.object(targetName)),
  /** Why targets were not tried. */
  skipped: z.array(z.object({ ...targetName, reason: z.string(), detail: z.string() })),
  /** The target of the session's last answer, where it was preferred for that. */
  affinity: z.object(targetName).nullable(),
  attempts: z.array(
    z.object({
      ...targetName,
      /** Since the request came. */
      started_ms: z.number(),
      duration_ms: z.number(),
      /** HTTP status of the upstream; null when none came. */
      status: z.int().nullable(),
      outcome: z.enum(['answered', 'failed', 'aborted']),
      /** Characters of the answer that were there when it was asked to go on with it; absent where it was to begin. */
      begun_with: z.int().optional(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
      /** What the failure did to the account. */
      effect: z.string().nullable(),
    }),
  ),
});

export type TraceRow = z.infer<typeof traceRow>;

/** Why the cost of what was used is not known. */
export const costUnknownReasons = ['no_price', 'no_tier_price', 'no_unit_price'] as const;

/** A finished request as it is shown. Money in USD. */
export const requestRow = z.object({
  id: z.string(),
  started_at: z.iso.datetime(),
  status: ledgerEntry.shape.status,
  outcome: ledgerEntry.shape.outcome,
  key_id: z.string().nullable(),
  /** The name that the key has now, or had when it was removed. */
  key_name: z.string().nullable(),
  provider: z.string().nullable(),
  connection: z.string().nullable(),
  connection_id: z.string().nullable(),
  format: z.string(),
  requested_model: z.string().nullable(),
  /** The combo through which it was resolved. */
  combo_id: z.string().nullable(),
  model: z.string().nullable(),
  /** What the request asked for and its target was not told, in the client's own words. */
  dropped: z.array(z.string()),
  streamed: z.boolean(),
  /** All buckets of the input and of the output; null: unknown. */
  input_tokens: count.nullable(),
  output_tokens: count.nullable(),
  usage: shownUsage.nullable(),
  estimated: z.boolean(),
  /** True when the upstream reported a count that is beyond all measure: it was counted as a billion. */
  usage_capped: z.boolean(),
  /** True when the answer was given from the cache. */
  cached: z.boolean(),
  /** How many targets went on with the answer where another broke off. */
  continued: z.int(),
  /** The service tier that the client asked for; null where it named none. */
  asked_tier: z.string().nullable(),
  /** The service tier that the answer says served it, by which it is priced; null where it does not say. */
  served_tier: z.string().nullable(),
  /** Why the answer ended; null where there was none, where it broke off, and where it does not say. */
  finish_reason: ledgerEntry.shape.finishReason,
  /** The provider's own word for that, as it came; null where it has none. */
  raw_finish_reason: z.string().nullable(),
  cost_usd: z.number().nullable(),
  /**
   * Why the cost of what was used is not known: no price of the model, none of the tier that served it, or none of
   * something that it used. Null where the cost is known, and where nothing is known to be used.
   */
  cost_unknown: z.enum(costUnknownReasons).nullable(),
  /** What the provider's prompt cache saved, less what storing in it cost; null where that is not known. */
  cache_savings_usd: z.number().nullable(),
  /** `plan` where the connection is paid by a plan at a fixed price: the cost is what the use would have cost. */
  billing: ledgerEntry.shape.billing,
  /** What the same use would have cost at the combo's first target, less what it cost; null without a combo, or where that is not known. */
  routing_savings_usd: z.number().nullable(),
  price_source: z.string().nullable(),
  ttft_ms: z.number().nullable(),
  duration_ms: z.number(),
  attempts: z.int(),
  error: z.object({ code: z.string(), message: z.string().nullable() }).nullable(),
  upstream_request_id: z.string().nullable(),
  user_agent: z.string().nullable(),
  /** The program of the user agent, without its version: `claude-cli`. */
  client: z.string().nullable(),
  /** The run of a tool, as it names it in a header (`x-claude-code-session-id`, `session_id` …). */
  session: z.string().nullable(),
  /** `name=value`, or a name alone: of the key, of a rule, or of the header `x-gateway-tags`. */
  tags: z.array(z.string()),
  /** Of one request that is asked for by its id; null when it is not kept, or not any more. */
  trace: traceRow.nullable().optional(),
});

/** The sums over some requests, as they are shown. */
export const usageRow = z.object({
  /** `day:2026-11-21`, `model:openai/gpt-5`, `day,key:2026-11-21|key_1`; `-` stands for what was not known. */
  id: z.string(),
  /** One grouping, or several with commas between. */
  by: z.string(),
  /** The hour, day, week or month in its time zone: `2026-11-21`, `2026-11-21T10`, `2026-11`, a week by its Monday. Null without such a grouping. */
  period: z.string().nullable(),
  /** The requests began from here on, and before there. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  /** What all of the requests have in common, by the grouping or the filter; null where they differ or had none. */
  provider: z.string().nullable(),
  model: z.string().nullable(),
  connection: z.string().nullable(),
  key_id: z.string().nullable(),
  /** The name that the key has now, or had when it was removed. */
  key_name: z.string().nullable(),
  combo_id: z.string().nullable(),
  /** The name that the combo has now, or had when it was removed. */
  combo: z.string().nullable(),
  owner: z.string().nullable(),
  team: z.string().nullable(),
  /** A request counts for each of its tags, so rows by tag are more than the whole together. */
  tag: z.string().nullable(),
  /** The values of the tags that `label:NAME` groups by, by name. */
  labels: z.record(z.string(), z.string().nullable()),
  format: z.string().nullable(),
  outcome: z.string().nullable(),
  /** The service tier that served them. */
  tier: z.string().nullable(),
  /** The run of a tool, as it names it in a header. */
  session: z.string().nullable(),
  /** How many groups beyond the `top` of a query are in this row together; 0 for a group of its own. */
  rest_groups: z.int(),
  requests: z.int(),
  failed: z.int(),
  aborted: z.int(),
  /** Requests whose usage was estimated, and whose cost is not known. */
  estimated: z.int(),
  unpriced: z.int(),
  /** Input and output tokens of those whose cost is not known. */
  unpriced_tokens: count,
  /** Sum of the known costs; null when none is known. */
  cost_usd: z.number().nullable(),
  /** The part of it that providers charge, and the part that is the value of plans at a fixed price. */
  billed_usd: z.number().nullable(),
  plan_usd: z.number().nullable(),
  /** What the requests through combos would have cost at the first target of each, less what they cost; null when none is known. */
  routing_savings_usd: z.number().nullable(),
  /** What the providers' prompt caches saved, less what storing in them cost; null when none is known. */
  cache_savings_usd: z.number().nullable(),
  input_tokens: count,
  output_tokens: count,
  usage: shownUsage,
  mean_duration_ms: z.number(),
  /** Of the requests that have a first byte. */
  mean_ttft_ms: z.number().nullable(),
});

export type UsageRow = z.infer<typeof usageRow>;

/** What requests are counted by. */
export const countedAttributes = [
  'started_at',
  'outcome',
  'status',
  'client',
  'key_id',
  'requested_model',
  'connection',
] as const;

export type CountedAttribute = (typeof countedAttributes)[number];

/** How many requests have a value in common, as it is shown. */
export const requestCount = z.object({
  /** `status:429`; `-` stands for what was not known. */
  id: z.string(),
  attribute: z.enum(countedAttributes),
  /** As requests have it; of `started_at` where the step begins. */
  value: z.string().nullable(),
  /** The name of a key that has one, else the value. */
  label: z.string().nullable(),
  /** Where the step of time ends; null for other attributes. */
  to: z.iso.datetime().nullable(),
  requests: z.int(),
  failed: z.int(),
  /** Sum of the known costs; null when none is known. */
  cost_usd: z.number().nullable(),
});

export type RequestCount = z.infer<typeof requestCount>;

/** The requests of one key that name the same session, as they are shown. */
export const toolRun = z.object({
  /** The session, as the client names it. */
  id: z.string(),
  client: z.string().nullable(),
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  started_at: z.iso.datetime(),
  /** When its latest request ended. */
  ended_at: z.iso.datetime(),
  requests: z.int(),
  failed: z.int(),
  input_tokens: count,
  output_tokens: count,
  /** Sum of the known costs; null when none is known. */
  cost_usd: z.number().nullable(),
});

export type ToolRun = z.infer<typeof toolRun>;

/** A request that is not answered yet, as it is shown. */
export const runningRequest = z.object({
  id: z.string(),
  started_at: z.iso.datetime(),
  elapsed_ms: z.int(),
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  format: z.string(),
  requested_model: z.string().nullable(),
  /** Where it is now. */
  connection: z.string().nullable(),
  model: z.string().nullable(),
  /** Attempts so far, this one counted. */
  attempts: z.int(),
  /** `waiting`: for an upstream that may be asked again. `asked`: nothing came yet. `answering`: the answer has begun. */
  state: z.enum(['waiting', 'asked', 'answering']),
  user_agent: z.string().nullable(),
});

export type RunningRequest = z.infer<typeof runningRequest>;
