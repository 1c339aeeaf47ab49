import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../../lib/log.ts';
import type { Channel } from '../../channels/channel.ts';
import { type CloudEvent, defaultLimits, eventSize } from '../../cloudevents/event.ts';
import type { Source, StrategyKind } from '../../config/config.ts';
import type { Spool, SpoolResult, SpoolStatus } from '../../spool/spool.ts';
import { storageOf } from '../../spool/storage.ts';
import type { Clock } from '../../strategies/clock.ts';
import type { AdmittedCall, Gate, RefusedCall } from '../../strategies/gate.ts';
import { retryDelay } from '../backoff.ts';
import { sourceExtension } from '../sources/source-extension.ts';
import type { ChannelHealths, PublishFailure } from './channel-health.ts';
import {
  type ChannelSink,
  type ChannelSinkStatus,
  createChannelSink,
  type SendOutcome,
} from './channel-sink.ts';
import { createSender, type Sender } from './sender.ts';

export type RejectReason =
  /** There is no room in the storage or the channel. */
  | 'full'
  /** A channel does not take the event, and there is no storage for it; or the source is closing. */
  | 'unavailable'
  | 'rate_limited'
  | 'circuit_open'
  | 'too_many_at_once'
  /** The event is over the limit of all events, or larger than the whole storage. */
  | 'too_large';

/**
 * What came of publishing: every channel has the event, or an asynchronous source's storage has it; it is in the storage because a
 * channel does not take it; it was thrown away because the storage is full and says so; or nobody vouches for it.
 */
export type PublishResult =
  | { readonly kind: 'accepted' | 'spooled' | 'dropped' }
  | {
      readonly kind: 'rejected';
      readonly reason: RejectReason;
      /** When to try again; null when that helps nothing. */
      readonly retryAfterMs: number | null;
      /** The answer to the HTTP request that brought the event, by name; absent: that of the gateway. */
      readonly fallback?: string;
    };

/** What a source's configuration says about publishing. */
export interface PublisherSettings {
  readonly source: Source;
  /** Where its events go, by the channel's id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Whether one of them gets an event. */
  takes(channelId: string, event: CloudEvent): boolean;
}

export interface PublisherInput {
  /** The limits of the source: for each channel their own, so that one that is broken does not hold up another. */
  gateOf(channelId: string): Pick<Gate, 'admit'>;
  /** What is known of a channel from publishing into it, by this source or another. */
  healthOf: ChannelHealths;
  /** Where events wait; null only for a source that is synchronous and has none. */
  spool: Spool | null;
  clock: Clock;
  random: () => number;
  log: Log;
  /** Told what came of each event. */
  onPublished(event: CloudEvent, result: PublishResult['kind']): void;
}

/** Publishes the events of one source: each once into every channel that it goes to. */
export interface Publisher {
  /**
   * Never throws.
   * @param waitMs how long to wait for room in a storage that blocks when it is full
   */
  publish(event: CloudEvent, waitMs?: number): Promise<PublishResult>;
  /** Other settings from the next event on. Channels with the same limits go on with their state. */
  update(settings: PublisherSettings): void;
  status(): PublisherStatus;
  /** Takes no more events, and ends when those that it has are in their channels. */
  retire(): Promise<void>;
  /**
   * Takes no more events, and waits for those under way.
   * @param drainMs how long that may take, with sending what waits in a storage that does not last
   */
  close(drainMs: number): Promise<void>;
}

/** Counters of events since the publisher was made. */
export interface PublisherStatus {
  readonly source: string;
  readonly accepted: number;
  readonly spooled: number;
  readonly dropped: number;
  readonly rejected: Readonly<Partial<Record<RejectReason, number>>>;
  /** Events that no router leads anywhere; they are accepted. */
  readonly unrouted: number;
  readonly storage: SpoolStatus | null;
  readonly channels: readonly (ChannelSinkStatus & {
    /** Events in the storage for this channel. */
    readonly waiting: number;
  })[];
}

/** What a client is told to wait when nothing better is known. */
const RETRY_AFTER_MS = 1_000;

export function createPublisher(settings: PublisherSettings, input: PublisherInput): Publisher {
  const { clock, log, random, spool } = input;
  const rejected: Partial<Record<RejectReason, number>> = {};
  const counts = { accepted: 0, spooled: 0, dropped: 0, unrouted: 0 };
  const underWay = new Set<Promise<unknown>>();
  const closed = new AbortController();
  /** Senders that end, by their channel: at once, or when they have sent what waits. */
  const ending = new Map<string, Ending>();
  let { source, takes } = settings;
  let lines: ReadonlyMap<string, Line> = new Map();

  const open = (channelId: string, channel: Channel): Line => {
    const gate = input.gateOf(channelId);
    const sink = createChannelSink({ channelId, channel, health: input.healthOf(channel), gate, clock });
    const { retry } = source.runtime;
    const before = ending.get(channelId);
    before?.now.abort();
    const after = before?.ended ?? Promise.resolve();
    const sender =
      spool === null
        ? null
        : createSender({ after, sourceId: source.id, sink, spool, retry, clock, random, log });
    return { channel, sink, sender };
  };
  const end = (channelId: string, { sender }: Line, drain: boolean) => {
    if (sender === null) return;
    const now = new AbortController();
    if (!drain) now.abort();
    const ended = sender.close(now.signal).finally(() => {
      if (ending.get(channelId)?.now === now) ending.delete(channelId);
    });
    ending.set(channelId, { now, ended });
  };
  const ended = async () => {
    await Promise.all([...ending.values()].map((one) => one.ended));
  };
  const update = (next: PublisherSettings) => {
    const before = lines;
    const same = isDeepStrictEqual(next.source.runtime, source.runtime);
    ({ source, takes } = next);
    const storage = storageOf(source);
    if (storage !== null) spool?.resize(storage);
    for (const [id, line] of before) {
      const channel = next.channels.get(id);
      if (channel !== line.channel || !same) end(id, line, channel === undefined);
    }
    lines = new Map(
      [...next.channels].map(([id, channel]) => {
        const old = before.get(id);
        return [id, same && old?.channel === channel ? old : open(id, channel)];
      }),
    );
  };

  const keep = async (event: CloudEvent, ids: readonly string[], waitMs: number): Promise<PublishResult> =>
    spool === null ? reject('unavailable') : ofStorage(await spool.add(event, ids, waitMs));

  /** What became of a first attempt; further ones follow as often as the rule says. Nothing waits where nothing has to. */
  const sendNow = (
    sink: ChannelSink,
    event: CloudEvent,
    first: AdmittedCall,
    waitMs: number,
  ): PublishResult | Promise<PublishResult> => {
    const outcome = sink.send(event, first);
    if (outcome instanceof Promise || source.runtime.retry !== null || spool !== null)
      return sendAgain(sink, event, outcome, waitMs);
    return outcome.kind === 'sent' ? { kind: 'accepted' } : rejectedBy(outcome);
  };
  const sendAgain = async (
    sink: ChannelSink,
    event: CloudEvent,
    first: SendOutcome | Promise<SendOutcome>,
    waitMs: number,
  ): Promise<PublishResult> => {
    let sending = first;
    let problem: PublishResult;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await sending;
      if (outcome.kind === 'sent') return { kind: 'accepted' };
      problem = rejectedBy(outcome);
      const { retry } = source.runtime;
      if (retry === null || attempt > retry.max || closed.signal.aborted) break;
      await pause(retryDelay(retry, attempt, 0, random()), clock, closed.signal);
      const admission = await sink.admit();
      if (admission.kind === 'refused') {
        problem = refusal(admission);
        break;
      }
      sending = sink.send(event, admission);
    }
    return spool === null ? problem : keep(event, [sink.channelId], waitMs);
  };

  /** A source that waits for its channels. What must stay behind events in the storage goes there too. */
  const sendToAll = async (
    event: CloudEvent,
    sinks: readonly ChannelSink[],
    waitMs: number,
  ): Promise<PublishResult> => {
    const admitting = sinks.map((sink) =>
      spool !== null && spool.waiting(sink.channelId) > 0 ? null : sink.admit(),
    );
    const admissions = await settledOf(admitting);
    const refused = admissions.find((one) => one?.kind === 'refused');
    if (refused !== undefined && refused !== null && refused.kind === 'refused') {
      for (const one of admissions) if (one?.kind === 'admitted') one.cancel();
      return refusal(refused);
    }
    const results = sinks.map((sink, index) => {
      const admission = admissions[index];
      return admission?.kind === 'admitted'
        ? sendNow(sink, event, admission, waitMs)
        : keep(event, [sink.channelId], waitMs);
    });
    return worst(await settledOf(results));
  };

  const send = async (event: CloudEvent, waitMs: number): Promise<PublishResult> => {
    if (closed.signal.aborted) return reject('unavailable');
    if (eventSize(event) > defaultLimits.maxEventBytes) return reject('too_large');
    const sent: CloudEvent = {
      attributes: { ...event.attributes, [sourceExtension]: source.id },
      data: event.data,
    };
    const sinks = [...lines].flatMap(([id, { sink }]) => (takes(id, sent) ? [sink] : []));
    if (sinks.length === 0) {
      counts.unrouted += 1;
      return { kind: 'accepted' };
    }
    if (!source.asyncSend) return sendToAll(sent, sinks, waitMs);
    const kept = await keep(
      sent,
      sinks.map(({ channelId }) => channelId),
      waitMs,
    );
    return kept.kind === 'spooled' ? { kind: 'accepted' } : kept;
  };

  update(settings);
  return {
    update,
    publish(event, waitMs = Number.POSITIVE_INFINITY) {
      const sending = send(event, waitMs)
        .then((result) => {
          if (result.kind === 'rejected') rejected[result.reason] = (rejected[result.reason] ?? 0) + 1;
          else counts[result.kind] += 1;
          input.onPublished(event, result.kind);
          return result;
        })
        .finally(() => underWay.delete(sending));
      underWay.add(sending);
      return sending;
    },
    status: () => ({
      source: source.id,
      ...counts,
      rejected: { ...rejected },
      storage: spool?.status() ?? null,
      channels: [...lines].map(([id, { sink }]) => ({
        ...sink.status(),
        waiting: spool?.waiting(id) ?? 0,
      })),
    }),
    async retire() {
      closed.abort();
      await Promise.all(underWay);
      for (const [id, line] of lines) end(id, line, true);
      await ended();
      await spool?.close();
    },
    async close(drainMs) {
      closed.abort();
      const late = new AbortController();
      const stop = clock.after(drainMs, () => late.abort());
      late.signal.addEventListener('abort', () => {
        for (const { now } of ending.values()) now.abort();
      });
      await Promise.race([Promise.all(underWay), aborted(late.signal)]);
      const lasts = spool?.durable ?? true;
      if (lasts) late.abort();
      for (const [id, line] of lines) end(id, line, !late.signal.aborted);
      await ended();
      stop();
      await spool?.close();
      await Promise.all(underWay);
    },
  };
}

interface Ending {
  /** Ends it whatever waits. */
  readonly now: AbortController;
  readonly ended: Promise<void>;
}

/** The way of a source's events into one channel. */
interface Line {
  readonly channel: Channel;
  readonly sink: ChannelSink;
  /** Brings what waits in the storage; null where there is none. */
  readonly sender: Sender | null;
}

const reject = (
  reason: RejectReason,
  retryAfterMs: number | null = RETRY_AFTER_MS,
  fallback?: string,
): PublishResult => ({
  kind: 'rejected',
  reason,
  ...(fallback === undefined ? {} : { fallback }),
  retryAfterMs: reason === 'too_large' ? null : retryAfterMs,
});

const rejectedBy = ({ full }: PublishFailure): PublishResult => reject(full ? 'full' : 'unavailable');

const refusal = ({ by, fallback, retryAfterMs }: RefusedCall): PublishResult =>
  reject(refusalReasons[by], retryAfterMs, fallback);

/** What a refusal by a limit is called. */
export const refusalReasons = {
  'rate-limit': 'rate_limited',
  'circuit-breaker': 'circuit_open',
  'concurrency-limit': 'too_many_at_once',
} as const satisfies Record<StrategyKind, RejectReason>;

function ofStorage(kept: SpoolResult): PublishResult {
  switch (kept) {
    case 'kept':
      return { kind: 'spooled' };
    case 'dropped':
      return { kind: 'dropped' };
    default:
      return reject(kept);
  }
}

const severity: Readonly<Record<PublishResult['kind'], number>> = {
  accepted: 0,
  spooled: 1,
  dropped: 2,
  rejected: 3,
};

/** Most are there already. */
function settledOf<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}

/** What holds for an event of which each channel says something else. */
function worst(results: readonly PublishResult[]): PublishResult {
  return results.reduce((a, b) => (severity[b.kind] > severity[a.kind] ? b : a));
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });

function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = clock.after(ms, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
