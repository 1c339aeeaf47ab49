import { z } from 'zod';
import { strategyNames } from './combo-schema.ts';
import { comboName, modelId } from './name-schema.ts';

/** How a combo orders its targets. */
export const strategyName = z.enum(strategyNames);

const weight = z.number().min(0).max(1000, 'a weight is from 0 to 1000');

const optionsRow = z.strictObject({
  wait_ms: z.int().min(0).max(60_000),
  continue_stream: z.boolean(),
  affinity: z.boolean(),
  max_attempts: z.int().min(1).max(50),
  max_elapsed_ms: z.int().min(0).max(3_600_000),
  cache: z.boolean(),
  cache_ttl_seconds: z
    .int('cache_ttl_seconds is a whole number')
    .min(1, 'cache_ttl_seconds is at least 1')
    .max(2_592_000, 'cache_ttl_seconds is 30 days at most')
    .nullable(),
  prompt_cache_marks: z.boolean(),
});

export type OptionsRow = z.infer<typeof optionsRow>;

const combo = {
  name: comboName,
  strategy: strategyName,
  targets: z
    .array(z.union([modelId, z.strictObject({ target: modelId, weight: weight.optional() })]))
    .min(1, 'name at least one target, e.g. openai/gpt-5')
    .max(500, 'a combo has at most 500 targets'),
  options: optionsRow.partial(),
};

/** What a new combo is made of: `priority` and the usual options unless it says otherwise. */
export const newComboInput = z.strictObject({
  name: combo.name,
  strategy: combo.strategy.optional(),
  targets: combo.targets,
  options: combo.options.optional(),
});

/** What may be changed of a combo. Options that are not named stay as they are. */
export const comboChange = z.strictObject(combo).partial();

/** How a combo is made the active one. */
export const activation = z.strictObject({
  /** The id of the combo in whose place: where another is active by now, nothing changes. */
  instead_of: z.string().optional(),
});

/** A combo as it is shown. */
export const comboRow = z.object({
  id: z.string(),
  name: z.string(),
  strategy: strategyName,
  /** In order. `problem` says why a target cannot be asked; null when it can. */
  targets: z.array(z.object({ target: z.string(), weight: z.number(), problem: z.string().nullable() })),
  options: optionsRow,
  /** Whether `auto` means this one. */
  active: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
