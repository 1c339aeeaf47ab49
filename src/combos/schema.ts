import { z } from 'zod';

/** How a combo orders its targets. Each is a file in `strategies/`. */
export const strategyName = z.enum([
  'priority',
  'weighted',
  'round-robin',
  'random',
  'p2c',
  'least-used',
  'lowest-latency',
  'lowest-cost',
  'headroom',
  'fill-first',
]);

export type StrategyName = z.infer<typeof strategyName>;

/** What a combo does beside ordering. Times in milliseconds. */
export interface ComboOptions {
  /** How long a request may wait for the first of the accounts to be ready again, when none is; 0 fails at once. */
  waitMs: number;
  /** Whether another target goes on with an answer that broke off after its first words. */
  continueStream: boolean;
  /** Whether a session stays with the target that answered it before. */
  affinity: boolean;
  /** How many attempts one request may take. */
  maxAttempts: number;
  /** After how long no further attempt is begun. */
  maxElapsedMs: number;
  /** Whether answers may be kept and given again. */
  cache: boolean;
  /** For how long one may be given again; null for as long as any. */
  cacheTtlMs: number | null;
  /** Whether translated requests get marks for the vendor's prompt cache where the client set none. */
  cacheMarks: boolean;
}

/** What holds for models that are asked for without a combo, and for a combo that says nothing else. */
export const defaultOptions: ComboOptions = {
  waitMs: 0,
  continueStream: false,
  affinity: true,
  maxAttempts: 10,
  maxElapsedMs: 120_000,
  cache: false,
  cacheTtlMs: null,
  cacheMarks: true,
};

/** `connection/model`, `provider/model` or a combo's name, and its share where the strategy goes by shares. */
export interface ComboTarget {
  target: string;
  weight: number;
}

/** A named routing set. Times in milliseconds since the epoch. */
export interface ComboRecord {
  id: string;
  name: string;
  strategy: StrategyName;
  /** In the order in which they are preferred. */
  targets: readonly ComboTarget[];
  options: ComboOptions;
  /** The one that `auto` means. At most one is. */
  active: boolean;
  createdAt: number;
  updatedAt: number;
}

/** What a combo may be called: a model id without a slash, so that it can be asked for as one. */
export const comboName = z
  .string()
  .trim()
  .min(1, 'a combo needs a name')
  .max(64, 'a name has at most 64 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]*$/,
    'a name has letters, digits, dots, colons, dashes and underscores, and begins with a letter or digit',
  )
  .refine((name) => name.toLowerCase() !== 'auto', '"auto" always means the active combo');

const modelId = z
  .string()
  .trim()
  .min(1, 'a target is not empty')
  .max(300, 'a target has at most 300 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a target has no control characters');

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

/** Another name for a model, or for all whose id fits a pattern. */
export interface AliasRecord {
  id: string;
  /** The id that is asked for; `*` stands for any text. */
  name: string;
  /** The id that is meant; each `*` is what the same one of the name stood for. */
  target: string;
  createdAt: number;
}

const stars = (text: string) => text.split('*').length - 1;

const aliasName = modelId
  .refine((name) => name.toLowerCase() !== 'auto', '"auto" always means the active combo')
  .refine((name) => stars(name) <= 4, 'a pattern has at most four *');

const alias = { name: aliasName, target: modelId };

export const newAliasInput = z.strictObject(alias);

export const aliasChange = z.strictObject(alias).partial();

/** An alias as it is shown. */
export const aliasRow = z.object({
  id: z.string(),
  name: z.string(),
  target: z.string(),
  /** Whether the name is a pattern. */
  pattern: z.boolean(),
  created_at: z.iso.datetime(),
});
