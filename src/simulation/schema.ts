import { z } from 'zod';
import { newComboInput, strategyName } from '../combos/schema.ts';

/** What some requests came to. Money in USD, durations in milliseconds; null where it is not known. */
const outcome = z.object({
  failed: z.int(),
  /** Attempts that led to another target. */
  fallbacks: z.int(),
  cost_usd: z.number().nullable(),
  /** Requests without a known cost. */
  unpriced: z.int(),
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  ttft_p50_ms: z.number().nullable(),
  /** Requests whose duration is not known, because their target never answered before. */
  untimed: z.int(),
});

/** What past requests would have come to with a combo. */
export const simulationResult = z.object({
  strategy: strategyName,
  /** Requests since then. */
  since: z.iso.datetime(),
  /** How many were replayed. */
  requests: z.int(),
  /** Requests that none of the targets could have taken. */
  left_out: z.int(),
  /** Requests that would have gone where they went: they count as they were. */
  unchanged: z.int(),
  /** Whether there may be more requests than were read. */
  truncated: z.boolean(),
  actual: outcome,
  simulated: outcome,
  /** Most used first. */
  targets: z.array(
    z.object({
      connection: z.string(),
      provider: z.string(),
      model: z.string(),
      requests: z.int(),
      cost_usd: z.number().nullable(),
      failure_rate: z.number().nullable(),
      /** Requests in the ledger that its failures and durations are taken from. */
      based_on: z.int(),
    }),
  ),
});

/** A simulation as it is shown. */
export const simulationRow = simulationResult.extend({
  id: z.string(),
  /** The name of the stored combo; null where only targets were given. */
  combo: z.string().nullable(),
  created_at: z.iso.datetime(),
});

/** More would hold up the requests of the gateway for too long. */
export const MOST_REQUESTS = 20_000;

/** What is simulated: a stored combo, one that is only described, or a stored one with changes. */
export const newSimulationInput = z
  .strictObject({
    /** Id or name of a stored combo. */
    combo: z.string().trim().min(1, 'a combo is an id or a name').max(100),
    strategy: newComboInput.shape.strategy.unwrap(),
    targets: newComboInput.shape.targets,
    options: newComboInput.shape.options.unwrap(),
    /** Only requests since then. Default: seven days ago. */
    since: z.iso.datetime({ offset: true, error: 'give a time such as 2027-01-31T12:00:00Z' }),
    /** Only requests that asked for this model, combo or alias. */
    model: z.string().trim().min(1).max(300),
    /** At most so many, the latest. */
    limit: z.int().min(1).max(MOST_REQUESTS, `at most ${MOST_REQUESTS} requests are replayed`),
  })
  .partial();
