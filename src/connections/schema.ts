import { z } from 'zod';
import type { Account } from './accounts/schema.ts';
import { connectionName } from './name-schema.ts';

/** How people log in at a provider, as it is shown: without its secret. */
export const loginRow = z.object({
  issuer: z.string().nullable(),
  authorization_url: z.string().nullable(),
  token_url: z.string().nullable(),
  device_url: z.string().nullable(),
  client_id: z.string(),
  has_client_secret: z.boolean(),
  scopes: z.array(z.string()),
  audience: z.string().nullable(),
  redirect_uri: z.string().nullable(),
  logged_in: z.boolean(),
  /** When the access token ends; it is renewed before. */
  expires_at: z.iso.datetime().nullable(),
});

export type LoginRow = z.infer<typeof loginRow>;

/** One account or key at a provider, without its secret. Times in milliseconds since the epoch. */
export const connectionRecord = z.object({
  id: z.string(),
  /** A provider's id. */
  provider: z.string(),
  name: z.string(),
  authType: z.enum(['api-key', 'none', 'oauth', 'service-account', 'client-credentials', 'aws-keys']),
  /** Overrides the provider's base URL. */
  baseUrl: z.string().nullable(),
  defaultModel: z.string().nullable(),
  active: z.boolean(),
  /** Higher is preferred. */
  priority: z.int(),
  /** Whether translated requests get marks for the vendor's prompt cache where the client set none. */
  cacheMarks: z.boolean(),
  /** How the provider charges: by use, or a plan at a fixed price. */
  billing: z.enum(['metered', 'plan']),
  /** What the upstream listed when it was last tested; null when it never did. */
  models: z.array(z.string()).nullable(),
  modelsAt: z.number().nullable(),
  /** When it was last asked for them in the background, and why it gave none then. */
  modelsTriedAt: z.number().nullable(),
  modelsError: z.string().nullable(),
  status: z.enum(['untested', 'ok', 'failed', 'needs-re-entry']),
  lastError: z.string().nullable(),
  lastTestedAt: z.number().nullable(),
  createdAt: z.number(),
  /** Of a connection that people log in for. */
  login: loginRow.optional(),
});

export type ConnectionRecord = z.infer<typeof connectionRecord>;

/** A connection with its credential, in memory only. Without one it needs re-entry, unless its `authType` is `none`. */
export interface OpenConnection extends ConnectionRecord {
  /** As it is stored. */
  credential: string | null;
  /** What is in it, where it is more than a key. */
  account?: Account;
}

const text = z
  .string()
  .trim()
  .max(4096, 'at most 4096 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'no control characters');

const url = text.min(1, 'give a URL, or null for none').nullable();

/** A login at a provider that speaks OAuth 2.0. What its issuer publishes need not be given. */
const oauth = z
  .strictObject({
    issuer: url,
    authorization_url: url,
    token_url: url,
    device_url: url,
    client_id: text.min(1, 'give the id of the client that is registered at the provider').max(500),
    /** Given, never shown. Null for a public client. */
    client_secret: text.min(1, 'give the secret, or null for none').nullable(),
    scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a scope is one word')).max(100),
    audience: text.min(1, 'give an audience, or null for none').nullable(),
    /** As it is registered; null for this gateway's own loopback address. */
    redirect_uri: url,
  })
  .partial();

export type OAuthInput = z.infer<typeof oauth>;

const connection = {
  name: connectionName,
  base_url: text.min(1, 'give a URL, or null for the usual one').nullable(),
  /** Given, never shown. Null for none. */
  api_key: z
    .string()
    .trim()
    .min(1, 'give the key, or null for none')
    .max(16_384, 'at most 16384 characters')
    .regex(
      /^(?:[\x21-\x7e]*|\{[\s\S]*\})$/,
      'it has blanks, line ends or other characters that no key has, and is not a JSON document',
    )
    .nullable(),
  /** Instead of a key. Null for none. */
  oauth: oauth.nullable(),
  default_model: text
    .min(1, 'name a model, or give null for none')
    .max(300, 'at most 300 characters')
    .nullable(),
  priority: z.int().min(-1000).max(1000),
  active: z.boolean(),
  /** Whether translated requests get marks for the vendor's prompt cache where the client set none. */
  prompt_cache_marks: z.boolean(),
  /** `metered`: the provider charges by use. `plan`: its price is fixed, and use is shown as what it would have cost. */
  billing: connectionRecord.shape.billing,
};

/** What a new connection is made of. Only `provider` has no default. */
export const newConnectionInput = z
  .strictObject(connection)
  .partial()
  .extend({
    provider: z.string().trim().min(1).max(100),
    /** Instead of `base_url`: what stands in braces in the address of the provider, e.g. an account's id. */
    base_url_parameters: z.record(z.string().max(50), z.string().max(300)).optional(),
  });

export type NewConnectionInput = z.infer<typeof newConnectionInput>;

/** What may be changed of a connection. */
export const connectionChange = z.strictObject(connection).partial();

export type ConnectionChange = z.infer<typeof connectionChange>;

/** What the gateway's machine offers, as it is shown: never with the key. */
export const discoveryRow = z.object({
  /** The provider. */
  id: z.string(),
  name: z.string(),
  source: z.enum(['environment', 'local']),
  /** The environment variable that holds the key; null for a server on the machine. */
  variable: z.string().nullable(),
  /** Where the server answers; null for a key in the environment. */
  url: z.string().nullable(),
});

/** How the account stands: what requests met there. */
const condition = z.object({
  state: z.enum(['ready', 'cooling', 'probing', 'exhausted', 'needs-attention']),
  /** When it is asked again; null where that is not a matter of time. */
  until: z.iso.datetime().nullable(),
  reason: z.string().nullable(),
});

/** A connection as it is shown, without its secret. */
export const connectionRow = z.object({
  id: z.string(),
  provider: z.string(),
  name: z.string(),
  auth_type: connectionRecord.shape.authType,
  base_url: z.string().nullable(),
  default_model: z.string().nullable(),
  active: z.boolean(),
  priority: z.int(),
  /** Whether translated requests get marks for the vendor's prompt cache where the client set none. */
  prompt_cache_marks: z.boolean(),
  /** `metered`: the provider charges by use. `plan`: its price is fixed, and use is shown as what it would have cost. */
  billing: connectionRecord.shape.billing,
  status: connectionRecord.shape.status,
  last_error: z.string().nullable(),
  last_tested_at: z.iso.datetime().nullable(),
  /** How many models the upstream listed; null when it never did. */
  models: z.int().nullable(),
  models_at: z.iso.datetime().nullable(),
  /** Why the list could not be renewed since; null when it could. */
  models_error: z.string().nullable(),
  has_credential: z.boolean(),
  oauth: loginRow.nullable(),
  /** The stored credential cannot be decrypted any more. */
  needs_reentry: z.boolean(),
  /** Of the whole account. */
  condition,
  /** Of single models, those that are not ready. */
  model_conditions: z.array(condition.extend({ model: z.string() })),
  created_at: z.iso.datetime(),
});

/** How a connection stands, as far as requests tell. */
export type ShownHealth = Pick<z.infer<typeof connectionRow>, 'condition' | 'model_conditions'>;
