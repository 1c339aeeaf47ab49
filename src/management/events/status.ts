import type { ConfigControl } from '../../events/control/config-control.ts';
import { type EngineStatus, engineProblems } from '../../events/engine/engine-status.ts';
import type { PublisherStatus } from '../../events/engine/publishing/publisher.ts';
import type { TriggerStatus } from '../../events/engine/triggers/trigger-status.ts';
import type { EventControl } from '../../events/open.ts';
import type { LimitStatus } from '../../events/strategies/limit.ts';
import { ingestResource } from '../../events/strategies/resources.ts';
import type { StatusRecord } from './status-schema.ts';

/** How the event engine is doing, as the API shows it. Nothing is opened for that. */
export async function statusOf(opened: EventControl | null): Promise<StatusRecord> {
  if (opened === null) return notRunning;
  const status = await opened.engine.status();
  return {
    running: true,
    config: configOf(opened.config),
    problems: engineProblems(status),
    sources: status.sources.map(sourceOf),
    channels: status.channels.map((one) => ({
      ...one,
      degraded: [...one.degraded],
      warnings: [...one.warnings],
    })),
    triggers: status.triggers.map((one) => triggerOf(one, status)),
    requests: { resource: ingestResource, limits: status.requests.limits.map(limitOf) },
    own_events: { ...status.ownEvents },
  };
}

const notRunning: StatusRecord = {
  running: false,
  config: { version: 0, via: 'built-in', author: 'modelgate', created_at: null, rejected: null },
  problems: [],
  sources: [],
  channels: [],
  triggers: [],
  requests: { resource: ingestResource, limits: [] },
  own_events: { emitted: 0, dropped: 0, waiting: 0 },
};

function configOf(control: ConfigControl): StatusRecord['config'] {
  const { at, author, number, via } = control.inForce().version;
  const rejected = control.rejected();
  const errors = rejected?.problems.filter(({ severity }) => severity === 'error') ?? [];
  const [first] = errors;
  return {
    version: number,
    via,
    author,
    created_at: via === 'built-in' ? null : isoTime(at),
    rejected:
      rejected === null
        ? null
        : {
            at: isoTime(rejected.at),
            errors: errors.length,
            first: [first?.path, first?.message].filter(Boolean).join(': '),
          },
  };
}

function sourceOf({ channels, rejected, source, storage, ...counts }: PublisherStatus) {
  return {
    id: source,
    accepted: counts.accepted,
    spooled: counts.spooled,
    dropped: counts.dropped,
    rejected: { ...rejected },
    unrouted: counts.unrouted,
    storage:
      storage === null
        ? null
        : {
            events: storage.events,
            bytes: storage.bytes,
            max_bytes: storage.maxBytes,
            damaged: storage.damaged,
            problem: storage.problem,
          },
    channels: channels.map(({ channel, failed, lastError, sent, waiting }) => ({
      channel,
      sent,
      failed,
      waiting,
      last_error: lastError,
    })),
  };
}

function triggerOf(
  { consumers, counters, gate, id, lastError, paused }: TriggerStatus,
  { deadLetters }: EngineStatus,
): StatusRecord['triggers'][number] {
  const waiting = consumers.map((consumer) => consumer.waiting);
  const breakers = gate.limits.flatMap((limit) => (limit.kind === 'circuit-breaker' ? [limit.state] : []));
  return {
    id,
    paused: paused === null ? null : { ...paused },
    waiting: waiting.includes(null) ? null : waiting.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    buffered: consumers.reduce((sum, { buffered }) => sum + buffered, 0),
    in_flight: consumers.reduce((sum, { inFlight }) => sum + inFlight, 0),
    delivered: counters.delivered,
    failed: counters.failed,
    retried: counters.retried,
    dead_lettered: counters.deadLettered,
    discarded: counters.discarded,
    duplicates: counters.duplicates,
    mismatched: counters.mismatched,
    filtered: counters.filtered,
    dead_letters: deadLetters.find(({ trigger }) => trigger === id)?.count ?? 0,
    breaker: breakers.find((state) => state !== 'closed') ?? breakers[0] ?? null,
    blocked_by: gate.blockedBy,
    limits: gate.limits.map(limitOf),
    last_error: lastError === null ? null : { message: lastError.message, at: isoTime(lastError.at) },
    channels: consumers.map(({ buffered, bytes, channel, channelError, inFlight, waiting: lag }) => ({
      channel,
      waiting: lag,
      buffered,
      in_flight: inFlight,
      bytes,
      problem: channelError,
    })),
  };
}

function limitOf(limit: LimitStatus): StatusRecord['triggers'][number]['limits'][number] {
  const { name, refused } = limit;
  switch (limit.kind) {
    case 'rate-limit': {
      const { inPeriod, kind, periodMs, scope, threshold } = limit;
      const remaining = Math.max(0, Math.floor(threshold - inPeriod));
      return { kind, name, refused, threshold, period_ms: periodMs, in_period: inPeriod, remaining, scope };
    }
    case 'circuit-breaker': {
      const { bad, calls, kind, opened, state } = limit;
      return { kind, name, refused, state, opened, calls, bad };
    }
    case 'concurrency-limit': {
      const { inFlight, kind, max, scope } = limit;
      const remaining = Math.max(0, max - inFlight);
      return { kind, name, refused, max, in_flight: inFlight, remaining, scope };
    }
  }
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
