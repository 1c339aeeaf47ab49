import { z } from 'zod';

/** The files of a data directory that a backup can have. Only the database is always there. */
export const memberNames = ['modelgate.db', 'config.json', 'events.yaml', 'storage.key'] as const;
export type MemberName = (typeof memberNames)[number];

/** `manifest.json`, the first member of a backup: what it is, and what the others have to be. */
export const manifest = z.object({
  format: z.literal(1, 'it is of a format that this version does not know: update Modelgate'),
  /** ISO 8601 UTC. */
  created_at: z.iso.datetime(),
  /** The version of Modelgate that made it. */
  modelgate: z.string(),
  /** The last migration of its database. */
  schema: z.string(),
  key: z.object({
    /** Where the key came from that seals the credentials: STORAGE_ENCRYPTION_KEY, or `storage.key`. */
    source: z.enum(['environment', 'file']),
    /** Whether that key is in the backup. */
    included: z.boolean(),
    /** A text encrypted with it, to recognize it among other keys. */
    check: z.string(),
  }),
  members: z
    .array(
      z.object({
        name: z.enum(memberNames),
        bytes: z.int().nonnegative(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1),
});

export type Manifest = z.infer<typeof manifest>;
export type Member = Manifest['members'][number];

/** A backup as the management API shows it. */
export const backupRow = z.object({
  /** The name of its file. */
  id: z.string(),
  bytes: z.int(),
  created_at: z.iso.datetime().nullable(),
  /** The version of Modelgate that made it; null where the file cannot be read as a backup. */
  version: z.string().nullable(),
  schema: z.string().nullable(),
  /** Whether what decrypts the stored credentials is in it. */
  includes_secret: z.boolean().nullable(),
  members: z.array(z.string()),
  usable: z.boolean(),
});

export const newBackup = z.strictObject({
  /** Default true. Without it the credentials of connections are of use only where the key is kept elsewhere. */
  include_key: z.boolean().optional(),
});
