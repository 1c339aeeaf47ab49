import { z } from 'zod';
import type { AlertTarget } from './target-schema.ts';

/** How an alert is sent. */
export const alertKind = z.enum(['webhook', 'slack', 'email', 'command']);
export type AlertKind = z.infer<typeof alertKind>;

/** Names of events of the gateway itself, with `*` for anything: `budget.*`. */
const eventPatterns = z
  .array(
    z
      .string()
      .max(100)
      .regex(
        /^[a-z]+\.[a-z]+$|^[a-z]+\.\*$|^\*$/,
        'an event is named like budget.exceeded, or budget.* or *',
      ),
  )
  .min(1, 'name at least one event')
  .max(50);

const condition = z.string().max(4_096).nullable();
/** 0: one message for each event. */
const digestSeconds = z.int().min(0).max(86_400);

const name = z
  .string()
  .trim()
  .min(1, 'a name has at least one character')
  .max(64, 'a name has at most 64 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a name has letters, digits, dots, dashes and underscores, and begins with a letter or digit',
  );

/** What a new alert is made of. */
export const newAlertInput = z.strictObject({
  kind: alertKind,
  /** A URL, addresses with commas between them, or the path of a program. */
  target: z.string().trim().min(1, 'say where the alert goes').max(4_096),
  /** Of a command. */
  args: z.array(z.string().max(4_096)).max(50).optional(),
  on: eventPatterns.optional(),
  where: condition.optional(),
  digest_seconds: digestSeconds.optional(),
  name: name.optional(),
});

/** What may be changed of an alert. */
export const alertChange = z
  .strictObject({
    target: newAlertInput.shape.target,
    args: z.array(z.string().max(4_096)).max(50),
    on: eventPatterns,
    where: condition,
    digest_seconds: digestSeconds,
    name,
  })
  .partial();

/** An alert as it is stored, without its secrets. Times in milliseconds since the epoch. */
export interface AlertRecord {
  readonly id: string;
  readonly name: string;
  readonly kind: AlertKind;
  readonly on: readonly string[];
  /** An expression of CESQL; null for every event of those. */
  readonly where: string | null;
  readonly digestMs: number;
  readonly paused: boolean;
  /** Whether it was set up through the management API, from wherever. */
  readonly byApi: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Earlier events are not sent: it did not exist yet, or was paused. */
  readonly activeSince: number;
}

/** An alert with what it sends to; null where that cannot be decrypted. */
export interface OpenAlert extends AlertRecord {
  readonly target: AlertTarget | null;
  /** What signs webhooks: `whsec_…`; null for other kinds. */
  readonly secret: string | null;
}

/** An alert as it is shown. */
export const alertRow = z.object({
  id: z.string(),
  name: z.string(),
  kind: alertKind,
  /** Masked where it is a secret. */
  target: z.string(),
  on: z.array(z.string()),
  where: z.string().nullable(),
  digest_seconds: z.int(),
  paused: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
