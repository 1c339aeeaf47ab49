import { z } from 'zod';

/** A provider as it is shown: who can be connected, and what for. */
export const providerRow = z.object({
  id: z.string(),
  name: z.string(),
  category: z.enum(['api-key', 'cloud', 'local', 'generic', 'demo', 'agent']),
  /** Wire formats that it speaks itself; the others are translated. */
  formats: z.array(z.string()),
  /** Root of its API; null when each connection names its own. */
  base_url: z.string().nullable(),
  needs_base_url: z.boolean(),
  /** The root with `{name}` for each of `base_url_parameters` of a connection; null where it has none. */
  base_url_of: z.string().nullable(),
  /** How a key travels, unless the format has another way. */
  auth: z.object({ kind: z.enum(['bearer', 'header', 'none']), header: z.string().nullable() }),
  needs_key: z.boolean(),
  /** Environment variables that commonly hold a key for it. */
  key_variables: z.array(z.string()),
  /** Well-known port on loopback of a local server. */
  local_port: z.int().nullable(),
  /** Its models cost nothing. */
  free: z.boolean(),
  /** Page that says what may be used there without paying. */
  free_tier: z.string().nullable(),
  suggested_model: z.string().nullable(),
  /** Where accounts and keys are made. */
  website: z.string(),
  /** The reference of its API. */
  documentation: z.string(),
  /** Whether requests can go there now. */
  connected: z.boolean(),
  /** Names of its connections, disabled ones included. */
  connections: z.array(z.string()),
});

const modalities = z.array(z.enum(['text', 'image', 'audio', 'video', 'pdf'])).nullable();

const unitPrice = z.number().nonnegative().nullable();

/** USD per million tokens: flat, or higher for the whole request once its input is more than `above` tokens. */
const rate = z
  .union([
    z.number().nonnegative(),
    z.object({
      base: z.number().nonnegative(),
      tiers: z.array(z.object({ above: z.int(), rate: z.number().nonnegative() })),
    }),
  ])
  .nullable();

const price = z.object({
  currency: z.literal('USD'),
  per_tokens: z.int(),
  input: rate,
  output: rate,
  cache_read: rate,
  cache_write_5m: rate,
  cache_write_1h: rate,
  reasoning: rate,
  audio_input: rate,
  audio_output: rate,
  image_input: rate,
  image_output: rate,
  per_image: unitPrice,
  per_audio_hour: unitPrice,
  per_million_characters: unitPrice,
  per_thousand_search_units: unitPrice,
  /** The price table and its version, `override` or `free`. */
  source: z.string(),
});

/** The data set of models and prices, as it is shown. */
export const dataSetRow = z.object({
  id: z.string(),
  /** As it stands beside each cost in the ledger. */
  source: z.string(),
  /** The day or the moment of its data. */
  taken: z.string(),
  /** Whether it was installed later, and did not come with this version. */
  installed: z.boolean(),
  providers: z.int(),
  models: z.int(),
  /** SHA-256 (hex) of its models. */
  digest: z.string(),
});

/** A model that can be asked for, as it is shown. */
export const modelRow = z.object({
  /** What a request names: `connection/model`, a combo, an alias, or `auto`. */
  id: z.string(),
  kind: z.enum(['model', 'auto', 'combo', 'alias']),
  /** The provider's own id of it; null for what may lead to several, as the next but one are. */
  model: z.string().nullable(),
  name: z.string(),
  /** `modelgate` for combos and aliases. */
  provider: z.string(),
  connection: z.string().nullable(),
  connection_id: z.string().nullable(),
  /** Tokens; null when not known. */
  context_window: z.int().nullable(),
  /** The most tokens of input, where that is less than the window. */
  input_limit: z.int().nullable(),
  /** The most tokens of output. */
  output_limit: z.int().nullable(),
  input_modalities: modalities,
  output_modalities: modalities,
  reasoning: z.boolean().nullable(),
  tools: z.boolean().nullable(),
  /** Answers that follow a JSON schema. */
  structured_output: z.boolean().nullable(),
  /** When it came out: `YYYY-MM-DD` or `YYYY-MM`. */
  released: z.string().nullable(),
  /** No longer offered to new clients; null when not known. */
  deprecated: z.boolean().nullable(),
  stage: z.enum(['alpha', 'beta']).nullable(),
  /** Whether a price is known. */
  priced: z.boolean(),
  /** USD per million tokens before any tier; null when not known. */
  input_usd: z.number().nullable(),
  output_usd: z.number().nullable(),
  pricing: price.nullable(),
});
