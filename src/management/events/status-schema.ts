import { z } from 'zod';

const time = z.iso.datetime();
const lastError = z.object({ message: z.string(), at: time }).nullable();
const scope = z.enum(['local', 'global', 'fallback']);

const limit = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('rate-limit'),
    name: z.string(),
    threshold: z.number(),
    period_ms: z.number(),
    in_period: z.number(),
    /** Calls of this gateway that pass before the period is over. */
    remaining: z.number(),
    refused: z.number(),
    scope,
  }),
  z.object({
    kind: z.literal('circuit-breaker'),
    name: z.string(),
    state: z.enum(['closed', 'open', 'half-open']),
    opened: z.number(),
    calls: z.number(),
    bad: z.number(),
    refused: z.number(),
  }),
  z.object({
    kind: z.literal('concurrency-limit'),
    name: z.string(),
    max: z.number(),
    in_flight: z.number(),
    /** Calls of this gateway that may begin now. */
    remaining: z.number(),
    refused: z.number(),
    scope,
  }),
]);

const source = z.object({
  id: z.string(),
  accepted: z.number(),
  spooled: z.number(),
  dropped: z.number(),
  rejected: z.record(z.string(), z.number()),
  unrouted: z.number(),
  storage: z
    .object({
      events: z.number(),
      bytes: z.number(),
      max_bytes: z.number(),
      damaged: z.number(),
      problem: z.string().nullable(),
    })
    .nullable(),
  channels: z.array(
    z.object({
      channel: z.string(),
      sent: z.number(),
      failed: z.number(),
      waiting: z.number(),
      last_error: z.string().nullable(),
    }),
  ),
});

const channel = z.object({
  id: z.string(),
  scheme: z.string(),
  topic: z.string(),
  published: z.number(),
  failed: z.number(),
  waiting: z.number().nullable(),
  problem: z.string().nullable(),
  /** What the channel does in the background and fails. */
  degraded: z.array(z.string()),
  /** How the message queue is set up to lose events that it has confirmed. */
  warnings: z.array(z.string()),
});

const trigger = z.object({
  id: z.string(),
  paused: z.object({ reason: z.string(), detail: z.string() }).nullable(),
  waiting: z.number().nullable(),
  buffered: z.number(),
  in_flight: z.number(),
  delivered: z.number(),
  failed: z.number(),
  retried: z.number(),
  dead_lettered: z.number(),
  discarded: z.number(),
  duplicates: z.number(),
  mismatched: z.number(),
  filtered: z.number(),
  /** Dead letters that are kept. */
  dead_letters: z.number(),
  breaker: z.enum(['closed', 'open', 'half-open']).nullable(),
  blocked_by: z.string().nullable(),
  limits: z.array(limit),
  last_error: lastError,
  channels: z.array(
    z.object({
      channel: z.string(),
      waiting: z.number().nullable(),
      buffered: z.number(),
      in_flight: z.number(),
      bytes: z.number(),
      problem: z.string().nullable(),
    }),
  ),
});

/** How the event engine is doing. */
export const statusRecord = z.object({
  running: z.boolean(),
  config: z.object({
    version: z.number(),
    via: z.string(),
    author: z.string(),
    created_at: time.nullable(),
    /** The file, where it is wrong. */
    rejected: z.object({ at: time, errors: z.number(), first: z.string() }).nullable(),
  }),
  problems: z.array(z.string()),
  sources: z.array(source),
  channels: z.array(channel),
  triggers: z.array(trigger),
  /** HTTP requests that bring events: limits with the target `POST:/api/events`. */
  requests: z.object({ resource: z.string(), limits: z.array(limit) }),
  own_events: z.object({ emitted: z.number(), dropped: z.number(), waiting: z.number() }),
});

export type StatusRecord = z.output<typeof statusRecord>;
