import { z } from 'zod';

/** Who did something: a user, a token's owner, or the owner of the machine at the command line. */
export const auditActor = z.object({
  id: z.string().nullable(),
  name: z.string().nullable(),
  role: z.string().nullable(),
  via: z.enum(['basic', 'token', 'automation', 'local', 'cli', 'none', 'gateway']),
  /** The accessor id of the token, never its text. */
  token_id: z.string().nullable(),
});

export type AuditActor = z.infer<typeof auditActor>;

const values = z.record(z.string(), z.unknown()).nullable();

/** What is passed to the audit log. Secrets that got in are masked before they are written. */
export const auditEntry = z.object({
  request_id: z.string().nullable(),
  actor: auditActor,
  /** The peer's address; null where nothing came over the network. */
  address: z.string().nullable(),
  /** `keys.create`, `auth.login`. */
  action: z.string(),
  target: z.string().nullable(),
  /** What the caller sent. */
  input: values,
  before: values,
  after: values,
  /** `intended` stands before what must not be done without a record. */
  outcome: z.enum(['intended', 'success', 'failure', 'denied']),
  /** The error's code or another word for why; null for a success. */
  reason: z.string().nullable(),
});

export type AuditEntry = z.infer<typeof auditEntry>;

/** One line of the log. */
export const auditRecord = auditEntry.extend({
  /** Counts from 1, through all files. */
  seq: z.int().positive(),
  /** ISO 8601 UTC with milliseconds. */
  time: z.iso.datetime(),
  /** The hash of the record before; 64 zeros in the first. */
  prev: z.string().regex(/^[0-9a-f]{64}$/),
  /** SHA-256, hex, of the canonical JSON of all other fields. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

export type AuditRecord = z.infer<typeof auditRecord>;

/** A record as the management API shows it. */
export const auditRow = z.object({
  /** The number of the record. */
  id: z.string(),
  seq: auditRecord.shape.seq,
  time: auditRecord.shape.time,
  request_id: z.string().nullable(),
  actor: auditActor,
  address: z.string().nullable(),
  action: z.string(),
  target: z.string().nullable(),
  input: values,
  before: values,
  after: values,
  outcome: auditEntry.shape.outcome,
  reason: z.string().nullable(),
  hash: z.string(),
});
