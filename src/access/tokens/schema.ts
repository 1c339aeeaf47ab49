import { z } from 'zod';

/** A token of the management API as it is kept: never its text. Times in milliseconds since the epoch. */
export const tokenRecord = z.object({
  /** The accessor: names the token and opens nothing. */
  id: z.string(),
  userId: z.string(),
  /** `api`, `ui` and `ws` come from a login; `ws` opens WebSockets only. */
  kind: z.enum(['api', 'ui', 'ws', 'automation']),
  hint: z.string(),
  name: z.string().nullable(),
  /** What an automation token may do at most; null for the tokens of a login, which may what their user may. */
  scopes: z.array(z.string()).nullable(),
  labels: z.record(z.string(), z.string()),
  /** Networks that an automation token may be used from; null for all. */
  cidrs: z.array(z.string()).nullable(),
  /** Which members of collections an automation token reaches (`selector.ts`); null for all. */
  selectors: z.array(z.string()).nullable(),
  credentialVersion: z.number(),
  roleVersion: z.number(),
  createdAt: z.number(),
  /** Whole seconds. The token is valid strictly before. */
  expiresAt: z.number(),
  /** When the password was proven that this token goes back to. */
  authAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
  lastUsedAddress: z.string().nullable(),
  ttlSeconds: z.number(),
  /** No renewal goes beyond. */
  maxExpiresAt: z.number().nullable(),
});

export type TokenRecord = z.infer<typeof tokenRecord>;

export const tokenName = z
  .string()
  .trim()
  .min(1, 'a token needs a name')
  .max(100, 'a name has at most 100 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a name has no control characters');

/** A network in CIDR notation, or one address. */
export const network = z.union(
  [z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()],
  'a network is written like 10.0.0.0/8 or 2001:db8::/32, or is one address',
);

export const labels = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, 'a label is named with letters, digits and . _ / -'),
    z.string().max(200, 'a label has at most 200 characters'),
  )
  .refine((record) => Object.keys(record).length <= 32, 'at most 32 labels');
