import type { CloudEvent } from '../events/cloudevents/event.ts';
import type { EventProcessor, ProcessorOutcome } from '../events/processors/processor.ts';
import { typeOf } from '../events/types/catalogue.ts';
import { buildEvent } from '../events/types/own-event.ts';
import { describe, type Log } from '../lib/log.ts';
import { createDigest, type Digest, type DigestWindow, summaryOf } from './digest.ts';
import type { DigestStore } from './digest-store.ts';
import type { OpenAlert } from './schema.ts';
import type { Sender } from './senders/sender.ts';

export interface RunningAlertInput {
  alert: OpenAlert;
  sender: Sender;
  digests: DigestStore;
  /** Publishes an event for alerts. @throws when it is not stored */
  publish(event: CloudEvent): Promise<void>;
  instance: string;
  log: Log;
  /** Milliseconds since the epoch. */
  now(): number;
}

const LONGEST_TIMER_MS = 2_147_483_647;
/** How soon a summary that was not stored is tried again. */
const AGAIN_MS = 10_000;

/**
 * Sends the events of one alert: the first at once, and what comes within the time of its digest as one summary at the end. The
 * summary is an event like another, so that it is tried again and becomes a dead letter like another.
 */
export function createRunningAlert(input: RunningAlertInput): EventProcessor {
  const { alert, digests, log, now, publish, sender } = input;
  let opening: Promise<Digest> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const digestOf = (): Promise<Digest> => {
    opening ??= digests.find(alert.id).then((stored) => {
      const digest = createDigest(alert.digestMs, stored);
      endLater(digest);
      return digest;
    });
    return opening;
  };
  const endLater = (digest: Digest) => {
    const window = digest.window();
    if (window !== null && timer === undefined) endAfter(digest, window.until - now());
  };
  const endAfter = (digest: Digest, ms: number) => {
    if (closed) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void end(digest);
      },
      Math.min(Math.max(ms, 0), LONGEST_TIMER_MS),
    );
    timer.unref();
  };
  /** A summary that has been taken out of the digest and is not stored as an event yet. */
  let unsaid: DigestWindow | null = null;
  const end = async (digest: Digest) => {
    try {
      unsaid ??= digest.end(now());
      if (unsaid !== null) await publish(summaryEvent(unsaid, input));
      unsaid = null;
      await digests.save(alert.id, digest.window);
      endLater(digest);
    } catch (error) {
      log.error({ alert: alert.name, error: describe(error) }, 'the summary of an alert was not stored');
      endAfter(digest, AGAIN_MS);
    }
  };
  const placed = async (event: CloudEvent): Promise<'send' | 'counted'> => {
    if (isForAlert(event) || alert.digestMs === 0) return 'send';
    const digest = await digestOf();
    const place = digest.place(event, now());
    endLater(digest);
    await digests.save(alert.id, digest.window);
    return place;
  };

  // What it had counted before the gateway ended is sent, even if no more events come.
  if (alert.digestMs > 0)
    digestOf().catch((error: unknown) =>
      log.error({ alert: alert.name, error: describe(error) }, 'the digest of an alert cannot be read'),
    );
  return {
    async process(event): Promise<ProcessorOutcome> {
      if (isBefore(event, alert.activeSince)) return { kind: 'done' };
      try {
        if ((await placed(event)) === 'counted') return { kind: 'done' };
        return (await sender.send(event)).outcome;
      } catch (error) {
        return { kind: 'retry', reason: describe(error), status: null, afterMs: 0 };
      }
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sender.close();
    },
  };
}

const forAlerts: ReadonlySet<string> = new Set([typeOf('alert.digest'), typeOf('alert.test')]);

function isForAlert({ attributes: { type } }: CloudEvent): boolean {
  return forAlerts.has(type);
}

function isBefore({ attributes: { time } }: CloudEvent, since: number): boolean {
  return time !== undefined && Date.parse(time) < since;
}

function summaryEvent(window: DigestWindow, { alert, instance, now }: RunningAlertInput): CloudEvent {
  const occurrence = { subject: alert.id, data: summaryOf(window, alert) };
  const event = buildEvent('alerts', 'alert.digest', occurrence, { at: now(), instance });
  // The same when it is published again after a crash.
  return { ...event, attributes: { ...event.attributes, id: `${alert.id}-${window.since}` } };
}
