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
  model: z.string().nullable(),
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
  /** Null: no price is known. Never 0 for that. */
  costUsd: z.number().nullable(),
  /** Which price table, and of which day. */
  priceSource: z.string().nullable(),
  ttftMs: z.number().nullable(),
  durationMs: z.number(),
  attempts: z.int(),
  upstreamRequestId: z.string().nullable(),
  userAgent: z.string().nullable(),
});

export type LedgerEntry = z.infer<typeof ledgerEntry>;
