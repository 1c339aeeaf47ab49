import { z } from 'zod';

const target = z.object({
  connection: z.string(),
  provider: z.string(),
  model: z.string(),
  format: z.string(),
  relayed: z.boolean(),
  dropped: z.array(z.string()),
  lowered: z.string().nullable(),
  added: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string(), param: z.string().nullable() }).nullable(),
});

/** The answer of a gateway to a request with `x-gateway-dry-run`. */
export const dryRunAnswer = z.object({
  object: z.literal('gateway.dry_run'),
  model: z.string(),
  combo: z.string().nullable(),
  targets: z.array(target).min(1),
  skipped: z.array(
    z.object({ connection: z.string(), model: z.string(), reason: z.string(), detail: z.string() }),
  ),
});

export type DryRunAnswer = z.infer<typeof dryRunAnswer>;
export type DryRunTarget = z.infer<typeof target>;
