import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { KeyedMutex } from '../../lib/keyed-mutex.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Retry } from '../config/config.ts';
import { longestRetryMs } from '../engine/backoff.ts';
import type { HandledKey, HandlingOutcome } from './handled-calls.ts';
import type { HandledStore } from './handled-store.ts';

/** The right to handle an event, which nobody else has before it is released. */
export interface Claim {
  readonly kind: 'claimed';
  /** Whether the claim still holds for a while: without it, another gateway may handle the event. */
  isHeld(): boolean;
  /**
   * Remembers what became of the event, and only then lets go of the message. Releases the claim when both succeed; it may be
   * called again when one fails.
   * @param together both are written to one database, in one transaction when they are asked for at once
   */
  finish(outcome: HandlingOutcome['outcome'], settle: () => Promise<void>, together: boolean): Promise<void>;
  /** Whether `finish` has remembered what became of the event. */
  isRemembered(): boolean;
  /**
   * Lets another delivery of the event be handled. Does nothing the second time, and nothing while `finish` has not remembered the
   * event: it was handled, and would be handled again.
   */
  release(): void;
}

/** The event was handled before. */
export interface Duplicate {
  readonly kind: 'duplicate';
  /** Whether it came with other data: two events have one id. */
  readonly differs: boolean;
}

/** The wait for another gateway ended. */
export interface StoppedWait {
  readonly kind: 'stopped';
}

/** Lets each event be handled once, however often it comes. */
export interface Idempotence {
  /**
   * Waits while another delivery of the event is being handled.
   * @param replayed a dead letter is handled again, for somebody asked for that; what is done is done
   */
  begin(event: CloudEvent, replayed: boolean, wait?: Wait): Promise<Claim | Duplicate | StoppedWait>;
}

/** How to wait for another gateway that handles the event. */
export interface Wait {
  /** Ends the wait. */
  readonly stopping?: AbortSignal;
  /** Called once, when the wait begins. */
  onBusy?(): void;
}

export interface IdempotenceInput {
  readonly trigger: string;
  readonly retry: Retry | null;
  readonly store: HandledStore;
  /** By trigger and event: who handles it in this process. A trigger's next configuration has the same one. */
  readonly claims: KeyedMutex;
}

const WINDOW_MS = 86_400_000;
/** How soon it is asked again whether another gateway is done with an event. */
const BUSY_MS = 250;

/** For how long a trigger knows an event again: a day, and twice as long as it may be retried. */
export function windowOf(retry: Retry | null): number {
  return Math.max(WINDOW_MS, retry === null ? 0 : 2 * longestRetryMs(retry));
}

export function createIdempotence({ claims, retry, store, trigger }: IdempotenceInput): Idempotence {
  const windowMs = windowOf(retry);
  return {
    async begin({ attributes, data }, replayed, wait = {}) {
      const key: HandledKey = { trigger, source: attributes.source, id: attributes.id };
      const admitNext = await claims.acquire(JSON.stringify([trigger, key.source, key.id]));
      const fingerprint = crc32(data ?? new Uint8Array());
      try {
        const handled = await claimIn(store, key, replayed, wait);
        if (handled !== 'claimed') {
          admitNext();
          if (handled === 'stopped') return { kind: 'stopped' };
          return { kind: 'duplicate', differs: handled.fingerprint !== fingerprint };
        }
      } catch (error) {
        admitNext();
        throw error;
      }
      let state: 'claimed' | 'handled' | 'remembered' | 'released' = 'claimed';
      const release = () => {
        if (state === 'handled' || state === 'released') return;
        const isInStore = state === 'claimed' && store.release !== undefined;
        state = 'released';
        // One after the other: the release must not end the next claim. Where it fails, the lease ends.
        if (isInStore) store.release?.(key).then(admitNext, admitNext);
        else admitNext();
      };
      return {
        kind: 'claimed',
        release,
        isHeld: () => store.hasClaim?.(key) ?? true,
        isRemembered: () => state === 'remembered',
        async finish(outcome, settle, together) {
          if (state === 'claimed') state = 'handled';
          const marked = store.mark(key, { outcome, fingerprint }, windowMs).then(() => {
            state = 'remembered';
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
  { onBusy, stopping }: Wait,
): Promise<'claimed' | 'stopped' | HandlingOutcome> {
  if (store.claim === undefined) {
    const handled = await store.find(key);
    return handled === null || (handled.outcome === 'dead' && replayed) ? 'claimed' : handled;
  }
  for (let tries = 1; ; tries += 1) {
    const answer = await store.claim(key, replayed);
    if (answer !== 'busy') return answer;
    if (stopping?.aborted === true) return 'stopped';
    if (tries === 1) onBusy?.();
    await delay(BUSY_MS, undefined, stopping === undefined ? {} : { signal: stopping }).catch(() => {});
  }
}
