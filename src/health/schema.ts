import { z } from 'zod';

/** How an account stands, as it is shown. */
export const conditionRow = z.object({
  state: z.enum(['ready', 'cooling', 'probing', 'exhausted', 'needs-attention']),
  /** When it is asked again; null where that is not a matter of time. */
  until: z.iso.datetime().nullable(),
  reason: z.string().nullable(),
});

export type ConditionRow = z.infer<typeof conditionRow>;

/** What is left of the limits of an account, as its last answers reported it. */
export const quotaRow = z.object({
  /** The connection's id. */
  id: z.string(),
  connection: z.string(),
  provider: z.string(),
  condition: conditionRow,
  /** The smallest share that is left, 0 to 1; null while nothing is known. */
  headroom: z.number().nullable(),
  /** From where the limits are known; null while they are not. */
  source: z.enum(['headers']).nullable(),
  observed_at: z.iso.datetime().nullable(),
  /** Money that is left, where the provider reports it; null before it was asked. */
  balance: z
    .object({
      amounts: z.array(
        z.object({
          /** ISO 4217. */
          currency: z.string(),
          remaining: z.number(),
          /** Of how much; null where there is no such limit. */
          limit: z.number().nullable(),
        }),
      ),
      observed_at: z.iso.datetime(),
      /** Why it could not be asked since. */
      error: z.string().nullable(),
    })
    .nullable(),
  limits: z.array(
    z.object({
      /** As the vendor calls it: `requests`, `input-tokens`, `unified-5h`. */
      name: z.string(),
      /** Null where it counts for the whole account. */
      model: z.string().nullable(),
      limit: z.number().nullable(),
      remaining: z.number().nullable(),
      /** The share that is left, 0 to 1. */
      left: z.number().nullable(),
      resets_at: z.iso.datetime().nullable(),
      observed_at: z.iso.datetime(),
    }),
  ),
});
