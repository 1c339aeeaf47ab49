import { z } from 'zod';
import { keyName } from './keys/name-schema.ts';

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
  /** For how long an answer may be given again to the same request, in seconds; null for never. */
  cacheTtlSeconds: z.number().nullable(),
  /** Whose it is: the name of a user, or any text. */
  owner: z.string().nullable(),
  /** The user of that name; null where there is none. */
  ownerUserId: z.string().nullable(),
  team: z.string().nullable(),
  /** By name. They are tags of its requests, as the owner and the team are. */
  labels: z.record(z.string(), z.string()),
});

export type KeyRecord = z.infer<typeof keyRecord>;

/** Text that stands for somebody or something in lists and in tags. */
const shortText = (what: string) =>
  z
    .string()
    .trim()
    .min(1, `${what} is not empty; null takes it away`)
    .max(100, `${what} has at most 100 characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, `${what} has no control characters`);

const key = {
  name: keyName,
  owner: shortText('an owner').nullable(),
  team: shortText('a team').nullable(),
  labels: z
    .record(
      z
        .string()
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/,
          'the name of a label has 1 to 63 letters, digits and . _ / -, and begins with a letter or digit',
        )
        .refine((name) => name !== 'owner' && name !== 'team', 'owner and team are fields of their own'),
      shortText('the value of a label'),
    )
    .refine((labels) => Object.keys(labels).length <= 16, 'a key has at most 16 labels'),
  models: z
    .array(
      z
        .string()
        .trim()
        .min(1, 'a model id is not empty')
        .max(300, 'a model id has at most 300 characters')
        .regex(/^[^\u0000-\u001f\u007f]*$/, 'a model id has no control characters'),
    )
    .min(1, 'name at least one model, or give null for all')
    .max(1000, 'a key names at most 1000 models; a trailing * matches any rest')
    .nullable(),
  expires_at: z
    .union([z.iso.datetime({ offset: true }), z.iso.date()], 'give a time such as 2027-01-31T12:00:00Z')
    .nullable(),
  cache_ttl_seconds: z
    .int('cache_ttl_seconds is a whole number')
    .min(1, 'cache_ttl_seconds is at least 1')
    .max(2_592_000, 'cache_ttl_seconds is 30 days at most')
    .nullable(),
};

/** What a new key is made of. */
export const newKeyInput = z.strictObject({
  name: key.name,
  /** Models it may use, exact or with a trailing `*`; all when absent or null. */
  models: key.models.optional(),
  /** When it stops working; never when absent or null. */
  expires_at: key.expires_at.optional(),
  /** For how long answers may be given again to the same request, in seconds; never when absent or null. */
  cache_ttl_seconds: key.cache_ttl_seconds.optional(),
  /** Whose it is: the name or id of a user, or any text. */
  owner: key.owner.optional(),
  team: key.team.optional(),
  /** By name; tags of each of its requests. */
  labels: key.labels.optional(),
});

/** What may be changed of a key. */
export const keyChange = z.strictObject({ ...key, disabled: z.boolean() }).partial();

/** A key as it is shown. */
export const keyRow = z.object({
  id: z.string(),
  name: z.string(),
  /** Its first and last characters, to recognise it by. */
  prefix: z.string(),
  models: z.array(z.string()).nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
  expired: z.boolean(),
  disabled: z.boolean(),
  cache_ttl_seconds: z.int().nullable(),
  /** The name of a user, or any text. */
  owner: z.string().nullable(),
  /** The user of that name; null where there is none. */
  owner_user_id: z.string().nullable(),
  team: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
});
