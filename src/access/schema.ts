import { z } from 'zod';

/** A gateway key, without its text: only the hash of it is kept. Times in milliseconds since the epoch. */
export const keyRecord = z.object({
  id: z.string(),
  name: z.string(),
  /** The first and last characters, to recognise it by. */
  prefix: z.string(),
  /** SHA-256 of the text, hex. */
  hash: z.string(),
  /** Models it may use, exact or with a trailing `*`; null for all. */
  models: z.array(z.string()).nullable(),
  createdAt: z.number(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
  disabled: z.boolean(),
});

export type KeyRecord = z.infer<typeof keyRecord>;

/** What a key may be called. */
export const keyName = z
  .string()
  .trim()
  .min(1, 'a key needs a name')
  .max(100, 'a name has at most 100 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a name has no control characters');
