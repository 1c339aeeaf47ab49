import { z } from 'zod';

/** A user as the gateway keeps it, with the password's hash. Times in milliseconds since the epoch. */
export const userRecord = z.object({
  id: z.string(),
  guid: z.string(),
  name: z.string(),
  displayName: z.string().nullable(),
  role: z.enum(['viewer', 'operator', 'admin']),
  /** A PHC string. */
  password: z.string(),
  disabled: z.boolean(),
  /** Counts up with every change after which older tokens are worth nothing. */
  credentialVersion: z.number(),
  /** Counts up with every change of role; tokens of earlier logins have ended. */
  roleVersion: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
  passwordChangedAt: z.number().nullable(),
  /** To the minute. */
  lastLoginAt: z.number().nullable(),
});

export type UserRecord = z.infer<typeof userRecord>;

/** What a user may be called. Kept in lower case, so that names differ in more than case; a colon would end it in Basic. */
export const userName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^[a-z0-9][a-z0-9._@+-]{0,63}$/,
    'a user name has 1 to 64 letters, digits and . _ @ + -, and begins with a letter or digit',
  );

export const displayName = z
  .string()
  .trim()
  .max(100, 'a name has at most 100 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a name has no control characters');

/** The password policy checks it in full, with an error for each fault; here only its length is bounded. */
export const passwordText = z.string().max(1024, 'a password has at most 128 characters');

export const role = z.enum(['viewer', 'operator', 'admin'], 'a role is viewer, operator or admin');
