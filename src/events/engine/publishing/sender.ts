import { describe, type Log } from '../../../lib/log.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Retry } from '../../config/config.ts';
import type { Spool, SpooledEvent } from '../../spool/spool.ts';
import type { Clock } from '../../strategies/clock.ts';
import type { AdmittedCall } from '../../strategies/gate.ts';
import { retryDelay } from '../backoff.ts';
import type { ChannelSink } from './channel-sink.ts';

/** Events under way at a time, while the channel takes them. */
const MOST_UNDER_WAY = 256;
/** Without a rule, or after its retries: an event that was accepted is never given up. */
const FAULT_MS = 1_000;
/** So that a channel that came back is used within seconds. */
const LONGEST_WAIT_MS = 3_000;

export interface SenderInput {
  /** It begins when this is settled: the one before it has ended. */
  after: Promise<void>;
  sourceId: string;
  sink: ChannelSink;
  spool: Spool;
  retry: Retry | null;
  clock: Clock;
  random: () => number;
  log: Log;
}

/** Brings the events of a storage into one channel, in order. */
export interface Sender {
  /** Ends when nothing waits any more, or with the events under way when the signal comes. */
  close(signal: AbortSignal): Promise<void>;
}

/**
 * Events go in order. At first, and after a failure, only one is under way until the channel takes it, then twice as many each time.
 * One that fails among others comes after those.
 */
export function createSender({
  after,
  clock,
  log,
  sink,
  random,
  retry,
  sourceId,
  spool,
}: SenderInput): Sender {
  const { channelId } = sink;
  let wake = () => {};
  let closing: AbortSignal | null = null;
  let window = 1;
  let failures = 0;
  const ending = () => closing?.aborted === true;

  /** Ends early when the sender closes, or on `also`. */
  const pause = (ms: number | null, also: (end: () => void) => () => void = () => () => {}) =>
    new Promise<void>((resolve) => {
      const end = () => {
        stopTimer();
        stopListening();
        resolve();
      };
      const stopTimer = ms === null ? () => {} : clock.after(ms, end);
      const stopListening = also(end);
      wake = end;
    });

  /** While it fails it is tried seldom, and has to be: only so it is known that the channel is back. */
  const send = async (event: CloudEvent, sequence: number, admission: AdmittedCall): Promise<boolean> => {
    const { kind } = await sink.send(event, admission, true);
    if (kind === 'sent') spool.done(channelId, [sequence]);
    return kind === 'sent';
  };
  const sendAll = async (batch: readonly SpooledEvent[]): Promise<{ pauseMs: number }> => {
    let pauseMs = 0;
    const underWay: Promise<boolean>[] = [];
    for (const { event, sequence } of batch) {
      const admission = await sink.admit();
      if (admission.kind === 'refused') {
        // There is room again when what is under way is over.
        const ownPlaces = admission.by === 'concurrency-limit' && underWay.length > 0;
        pauseMs = ownPlaces ? 0 : Math.max(1, admission.retryAfterMs);
        break;
      }
      underWay.push(send(event, sequence, admission));
    }
    const outcomes = await Promise.all(underWay);
    if (outcomes.includes(false)) return { pauseMs: failed() };
    if (outcomes.length > 0) succeeded();
    return { pauseMs };
  };
  const failed = (): number => {
    failures += 1;
    window = 1;
    if (failures === 1)
      log.warn(
        { source: sourceId, channel: channelId, error: sink.status().lastError },
        'events wait for a channel',
      );
    const ruled = retry !== null && failures <= retry.max;
    const delay = ruled ? retryDelay(retry, failures, 0, random()) : FAULT_MS * failures;
    return Math.min(delay, LONGEST_WAIT_MS);
  };
  const succeeded = () => {
    if (failures > 0) log.info({ source: sourceId, channel: channelId }, 'a channel accepts events again');
    failures = 0;
    window = Math.min(window * 2, MOST_UNDER_WAY);
  };

  const run = async () => {
    await after;
    while (!ending()) {
      try {
        const batch = await spool.next(channelId, window);
        if (batch.length > 0) {
          const { pauseMs } = await sendAll(batch);
          if (pauseMs > 0 && !ending()) await pause(pauseMs);
        } else if (closing !== null) return;
        else await pause(null, (end) => onceAdded(end));
      } catch (error) {
        log.error(
          { source: sourceId, channel: channelId, error: describe(error) },
          'a storage of events cannot be read',
        );
        await pause(LONGEST_WAIT_MS);
      }
    }
  };
  const onceAdded = (end: () => void) => {
    if (spool.waiting(channelId) > 0) queueMicrotask(end);
    return spool.onAdded(end);
  };
  const running = run();
  return {
    close(signal) {
      closing = signal;
      signal.addEventListener('abort', () => wake());
      wake();
      return running;
    },
  };
}
