import { z } from 'zod';

/** One account or key at a provider, without its secret. Times in milliseconds since the epoch. */
export const connectionRecord = z.object({
  id: z.string(),
  /** A provider's id. */
  provider: z.string(),
  name: z.string(),
  authType: z.enum(['api-key', 'none']),
  /** Overrides the provider's base URL. */
  baseUrl: z.string().nullable(),
  defaultModel: z.string().nullable(),
  active: z.boolean(),
  /** Higher is preferred. */
  priority: z.int(),
  /** What the upstream listed when it was last tested; null when it never did. */
  models: z.array(z.string()).nullable(),
  modelsAt: z.number().nullable(),
  status: z.enum(['untested', 'ok', 'failed', 'needs-re-entry']),
  lastError: z.string().nullable(),
  lastTestedAt: z.number().nullable(),
  createdAt: z.number(),
});

export type ConnectionRecord = z.infer<typeof connectionRecord>;

/** A connection with its credential, in memory only. With `api-key` and no credential it needs re-entry. */
export interface OpenConnection extends ConnectionRecord {
  credential: string | null;
}

/** What a connection may be called: it stands before the slash of a model id. */
export const connectionName = z
  .string()
  .trim()
  .min(1, 'a connection needs a name')
  .max(64, 'a name has at most 64 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a name has letters, digits, dots, dashes and underscores, and begins with a letter or digit',
  );

const text = z
  .string()
  .trim()
  .max(4096, 'at most 4096 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'no control characters');

const connection = {
  name: connectionName,
  base_url: text.min(1, 'give a URL, or null for the usual one').nullable(),
  /** Given, never shown. Null for none. */
  api_key: z
    .string()
    .trim()
    .min(1, 'give the key, or null for none')
    .max(16_384, 'at most 16384 characters')
    .regex(/^[\x21-\x7e]*$/, 'it has blanks, line ends or other characters that no key has')
    .nullable(),
  default_model: text
    .min(1, 'name a model, or give null for none')
    .max(300, 'at most 300 characters')
    .nullable(),
  priority: z.int().min(-1000).max(1000),
  active: z.boolean(),
};

/** What a new connection is made of. Only `provider` has no default. */
export const newConnectionInput = z
  .strictObject(connection)
  .partial()
  .extend({ provider: z.string().trim().min(1).max(100) });

export type NewConnectionInput = z.infer<typeof newConnectionInput>;

/** What may be changed of a connection. */
export const connectionChange = z.strictObject(connection).partial();

export type ConnectionChange = z.infer<typeof connectionChange>;

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
  status: connectionRecord.shape.status,
  last_error: z.string().nullable(),
  last_tested_at: z.iso.datetime().nullable(),
  /** How many models the upstream listed; null when it never did. */
  models: z.int().nullable(),
  models_at: z.iso.datetime().nullable(),
  has_credential: z.boolean(),
  /** The stored credential cannot be decrypted any more. */
  needs_reentry: z.boolean(),
  created_at: z.iso.datetime(),
});
