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
