import { z } from 'zod';

export const deadLetterRecord = z.object({
  id: z.string(),
  trigger: z.string(),
  channel: z.string(),
  reason: z.enum(['exhausted', 'nonretryable', 'crashloop', 'expired', 'poison', 'removed']),
  attempts: z.number(),
  status: z.number().nullable(),
  error: z.string(),
  created_at: z.iso.datetime(),
  /**
   * The attempts that failed, the oldest first; of very many the first and the latest. None of a letter that an earlier version kept,
   * or of an event that was not handed over.
   */
  failures: z.array(
    z.object({
      attempt: z.number(),
      time: z.iso.datetime(),
      status: z.number().nullable(),
      error: z.string(),
    }),
  ),
  /** The attributes; of one letter the whole event, in the JSON of CloudEvents. Null when its bytes are damaged. */
  event: z.record(z.string(), z.unknown()).nullable(),
});

export const deadLettersRecord = z.object({
  name: z.literal('dead-letters'),
  /** Of all triggers that the caller asked for, whatever the filter selects. */
  count: z.number(),
  subcount: z.number(),
  resources: z.array(deadLetterRecord),
  /** For `after`, when there are more. */
  next: z.string().nullable(),
});

/** Which dead letters: those with these ids, or all that fit. */
export const letterSelection = z.strictObject({
  ids: z.array(z.string().max(40)).min(1).max(1000).optional(),
  trigger: z.string().min(1).max(128).optional(),
  cesql: z.string().min(1).max(65_536).optional(),
  all: z.literal(true).optional(),
});

export const letterCount = z.object({ count: z.number(), dry_run: z.boolean() });
