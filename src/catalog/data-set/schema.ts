import { z } from 'zod';
import { period } from '../schema.ts';

const day = z.string().regex(/^\d{4}-\d{2}(-\d{2})?$/);

/** `t` text, `i` image, `a` audio, `v` video, `p` PDF. */
const modalities = z.string().regex(/^[tiavp]*$/);

/**
 * What the data set says of one model at one provider. The keys are short because there are thousands of them; prices
 * have the keys of the price table, and no period.
 */
export const modelEntry = z.strictObject({
  id: z.string().min(1).max(300),
  name: z.string().max(300).optional(),
  /** Context window in tokens. */
  ctx: z.int().positive().optional(),
  /** The most tokens of input, where that is less than the window. */
  input: z.int().positive().optional(),
  /** The most tokens of output. */
  output: z.int().positive().optional(),
  in: modalities.optional(),
  out: modalities.optional(),
  /** `r` reasoning, `t` tools, `s` structured output; what is missing it cannot do. */
  can: z
    .string()
    .regex(/^r?t?s?$/)
    .optional(),
  /** Whether it has structured output is not known. */
  vague: z.literal(1).optional(),
  released: day.optional(),
  old: z.literal(1).optional(),
  stage: z.enum(['alpha', 'beta']).optional(),
  /** The one format in which the provider serves it, where that differs among its models. */
  format: z.enum(['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']).optional(),
  price: period.optional(),
  /** Prices of a request that asks to be served sooner: `service_tier: priority`, or Anthropic's `speed: fast`. */
  priority: period.optional(),
  fast: period.optional(),
});

export type ModelEntry = z.infer<typeof modelEntry>;

/** Models by the id that the data set has for their provider. */
export const modelTable = z.record(z.string().max(100), z.array(modelEntry));

export type ModelTable = z.infer<typeof modelTable>;

const usd = z.number().nonnegative().max(100_000).optional();
const cost = z.object({
  input: usd,
  output: usd,
  reasoning: usd,
  cache_read: usd,
  cache_write: usd,
  input_audio: usd,
  output_audio: usd,
});
const tokens = z.number().nonnegative().max(1_000_000_000).optional();
/** Kinds that are not known yet are passed over. */
const modality = z.array(z.string());

/** A model as https://models.dev/api.json has it; what is not used here is left out. */
export const sourceModel = z.object({
  id: z.string().min(1).max(300),
  name: z.string().max(300).optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  structured_output: z.boolean().optional(),
  release_date: z.string().optional(),
  modalities: z.object({ input: modality, output: modality }).optional(),
  limit: z.object({ context: tokens, input: tokens, output: tokens }).optional(),
  status: z.string().optional(),
  cost: cost
    .extend({
      tiers: z
        .array(
          cost.extend({
            tier: z.object({ type: z.string().optional(), size: z.int().nonnegative() }),
          }),
        )
        .optional(),
    })
    .optional(),
  experimental: z
    .object({
      modes: z
        .record(
          z.string(),
          z.object({
            cost: cost.optional(),
            provider: z.object({ body: z.record(z.string(), z.unknown()).optional() }).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
  provider: z
    .object({ npm: z.string().optional(), api: z.string().optional(), shape: z.string().optional() })
    .optional(),
});

export type SourceModel = z.infer<typeof sourceModel>;

/** A provider as https://models.dev/api.json has it. Its models are checked one by one. */
export const sourceProvider = z.object({
  id: z.string().min(1).max(100),
  npm: z.string().optional(),
  api: z.string().optional(),
  models: z.record(z.string(), z.unknown()),
});

export type SourceProvider = z.infer<typeof sourceProvider>;
