import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { createKeyedMutex } from '../../lib/keyed-mutex.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Retry } from '../config/config.ts';
import { longestRetryMs } from '../engine/backoff.ts';
import type { HandledKey, HandlingOutcome } from './handled-calls.ts';
import type { HandledStore } from './handled-store.ts';

/** The right to handle an event, which nobody else has before it is released. */
export interface Claim {
  readonly kind: 'claimed';
  /**
   * Remembers what became of the event, and only then lets go of the message. Releases the claim when both succeed; it may be
   * called again when one fails.
   * @param together both are written to one database, in one transaction when they are asked for at once
   */
  finish(outcome: HandlingOutcome['outcome'], settle: () => Promise<void>, together: boolean): Promise<void>;
  /** Lets another delivery of the event be handled. To release it twice does nothing. */
  release(): void;
}

/** The event was handled before. */
export interface Duplicate {
  readonly kind: 'duplicate';
  /** Whether it came with other data: two events have one id. */
  readonly differs: boolean;
}

/** The wait for another gateway ended. */
export interface Stopped {
  readonly kind: 'stopped';
}

/** Lets each event be handled once, however often it comes. */
export interface Idempotence {
  /**
   * Waits while another delivery of the event is being handled.
   * @param replayed a dead letter is handled again, for somebody asked for that; what is done is done
   * @param stopping ends the wait for another gateway
   */
  begin(event: CloudEvent, replayed: boolean, stopping?: AbortSignal): Promise<Claim | Duplicate | Stopped>;
}

export interface IdempotenceInput {
  readonly trigger: string;
  readonly retry: Retry | null;
  readonly store: HandledStore;
}

const WINDOW_MS = 86_400_000;
/** How soon it is asked again whether another gateway is done with an event. */
const BUSY_MS = 250;

/** For how long a trigger knows an event again: a day, and twice as long as it may be retried. */
export function windowOf(retry: Retry | null): number {
  return Math.max(WINDOW_MS, retry === null ? 0 : 2 * longestRetryMs(retry));
}

export function createIdempotence({ retry, store, trigger }: IdempotenceInput): Idempotence {
  /** By event: who handles it here. */
  const claims = createKeyedMutex();
  const windowMs = windowOf(retry);
  return {
    async begin({ attributes, data }, replayed, stopping) {
      const key: HandledKey = { trigger, source: attributes.source, id: attributes.id };
      const name = JSON.stringify([key.source, key.id]);
      const next = await claims.acquire(name);
      let [isMarked, isReleased] = [false, false];
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        next();
        // What is not released is free when its lease ends.
        if (!isMarked) void store.release?.(key).catch(() => {});
      };
      const fingerprint = crc32(data ?? new Uint8Array());
      try {
        const handled = await claimIn(store, key, replayed, stopping);
        if (handled !== 'claimed') {
          release();
          if (handled === 'stopped') return { kind: 'stopped' };
          return { kind: 'duplicate', differs: handled.fingerprint !== fingerprint };
        }
      } catch (error) {
        release();
        throw error;
      }
      return {
        kind: 'claimed',
        release,
        async finish(outcome, settle, together) {
          const marked = store.mark(key, { outcome, fingerprint }, windowMs).then(() => {
            isMarked = true;
          });
          if (!together || store.claim !== undefined) await marked;
          await Promise.all([marked, settle()]);
          release();
        },
      };
    },
  };
}

/** What became of an event, or that this gateway may handle it. */
async function claimIn(
  store: HandledStore,
  key: HandledKey,
  replayed: boolean,
  stopping?: AbortSignal,
): Promise<'claimed' | 'stopped' | HandlingOutcome> {
  if (store.claim === undefined) {
    const handled = await store.find(key);
    return handled === null || (handled.outcome === 'dead' && replayed) ? 'claimed' : handled;
  }
  for (;;) {
    const answer = await store.claim(key, replayed);
    if (answer !== 'busy') return answer;
    if (stopping?.aborted === true) return 'stopped';
    await delay(BUSY_MS, undefined, stopping === undefined ? {} : { signal: stopping }).catch(() => {});
  }
}
