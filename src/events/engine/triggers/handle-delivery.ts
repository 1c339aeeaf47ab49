import { describe, type Log } from '../../../lib/log.ts';
import type { Channel, Delivery } from '../../channels/channel.ts';
import { type FailedAttempt, withFailure } from '../../channels/failed-attempt.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Trigger } from '../../config/config.ts';
import { wrapBytes } from '../../dead-letters/dead-letter.ts';
import type { DeadLetterReason, LetterFacts } from '../../dead-letters/letter-calls.ts';
import type { TriggerLetters } from '../../dead-letters/trigger-letters.ts';
import type { Claim, Idempotence } from '../../idempotence/idempotence.ts';
import type { EventProcessor, ProcessorOutcome } from '../../processors/processor.ts';
import type { Clock } from '../../strategies/clock.ts';
import type { AdmittedCall, Gate } from '../../strategies/gate.ts';
import type { Emitter } from '../../types/emitter.ts';
import { retryDelay } from '../backoff.ts';
import { emitDeadLettered, isOfEngine } from '../emit-dead-lettered.ts';
import type { DropReports } from '../publishing/drop-reports.ts';
import type { TriggerActivity } from './trigger-activity.ts';

/** An event whose handling ended so often with the process is not handled again. */
const MOST_CRASHES = 5;
/** Longer than any processor should take. What it still does after that is not waited for. */
const ATTEMPT_MS = 30_000;
/** How soon something is tried again that has to be done before the next event: to settle one, or to keep a dead letter. */
const AGAIN_MS = 1_000;

/** What all channels of a trigger share. */
export interface TriggerContext {
  readonly trigger: Trigger;
  readonly processor: EventProcessor;
  /** The limits on the trigger. */
  readonly gate: Gate;
  /** Null: each message is handled, also those of events that were handled before. */
  readonly idempotence: Idempotence | null;
  /** Null: what fails for the last time is discarded. */
  readonly letters: TriggerLetters | null;
  readonly activity: TriggerActivity;
  readonly clock: Clock;
  /** Tells of events that are discarded. */
  readonly drops: Pick<DropReports, 'add'>;
  /** Tells of dead letters. */
  readonly emitter: Emitter;
  readonly log: Log;
  /** Aborted when the engine waits no longer for what its triggers have begun. */
  readonly closed: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
  random(): number;
}

/** Where a trigger receives messages. */
export interface TriggerSubscription {
  readonly channelId: string;
  readonly channel: Channel;
  /** For how long the channel keeps a message for a consumer that says nothing more. */
  readonly leaseMs: number;
  /** Whether a router leads the event to the trigger. */
  wants(event: CloudEvent): boolean;
  /** What comes are dead letters that somebody wants to be handled again. */
  readonly replay: boolean;
  /** The channel is in the database that remembers which events were handled. */
  readonly sharesDatabase: boolean;
}

/** One message on its way through the trigger. */
interface Handling extends TriggerContext {
  readonly subscription: TriggerSubscription;
  readonly delivery: Delivery;
  readonly event: CloudEvent;
  readonly stopping: AbortSignal;
  claim: Claim | null;
  /** The processor is done with the event, which still has to be settled. */
  onProcessed(): void;
  /** Whether the channel still keeps the message for this gateway, and gives it to no other. */
  isHeld(): boolean;
}

/**
 * Brings one message to the processor, and settles it by what came of that. Limits are waited for, and are no attempts. What is
 * still waiting when the consumer stops is released.
 * @param holder `onProcessed` is called when the processor has the event no more: what is left waits for the channel
 */
export async function handleDelivery(
  context: TriggerContext,
  subscription: TriggerSubscription,
  delivery: Delivery,
  stopping: AbortSignal,
  holder: Pick<Handling, 'onProcessed' | 'isHeld'>,
): Promise<void> {
  const { activity, idempotence, letters, trigger } = context;
  const { channelId } = subscription;
  const { content, crashes, id, message = id } = delivery;
  const event = content.ok ? content.event : wrapBytes(channelId, message ?? '', content.bytes);
  const handling: Handling = { ...context, subscription, delivery, event, stopping, claim: null, ...holder };
  if (!content.ok) return bury(handling, { reason: 'poison', error: content.problem, status: null }, 0);
  if (!subscription.wants(event)) {
    activity.counters.filtered += 1;
    holder.onProcessed();
    return settle(handling, () => subscription.channel.ack(trigger.id, id));
  }
  if (crashes > 0 && letters !== null && message !== null) {
    // The process may have died between keeping the letter and letting go of the message.
    const isLetter = await insist(handling, () => letters.has(channelId, letterName(delivery, event)));
    if (isLetter === 'stopped') return release(handling);
    if (isLetter) return settle(handling, () => subscription.channel.ack(trigger.id, id));
  }
  if (idempotence !== null) {
    const wait = { stopping, onBusy: () => letOthersPass(handling) };
    const answer = await insist(handling, () => idempotence.begin(event, subscription.replay, wait));
    if (answer === 'stopped' || answer.kind === 'stopped') return release(handling);
    if (answer.kind === 'duplicate') {
      activity.counters.duplicates += 1;
      if (answer.differs) activity.counters.mismatched += 1;
      return settle(handling, () => subscription.channel.ack(trigger.id, id));
    }
    handling.claim = answer;
  }
  try {
    await handleOnce(handling);
  } finally {
    handling.claim?.release();
  }
}

/** While another gateway handles the event, which may take a minute, those behind it are handled, unless they have to wait for it. */
function letOthersPass({ onProcessed, trigger }: Handling): void {
  if (trigger.runtime.concurrency?.max !== 1) onProcessed();
}

async function handleOnce(handling: Handling): Promise<void> {
  const { activity, delivery, event, gate, processor, stopping } = handling;
  const made = delivery.attempt - 1;
  if (isExpired(event, handling.now()))
    return bury(handling, { reason: 'expired', error: 'Its expirytime is over', status: null }, made);
  if (delivery.crashes >= MOST_CRASHES) {
    const error = `${delivery.crashes} attempts ended without an outcome, with the process`;
    return bury(handling, { reason: 'crashloop', error, status: null }, made + delivery.crashes);
  }
  if (!(await activity.running(stopping))) return release(handling);
  if ((await processor.ready?.(stopping)) === false) return release(handling);
  const admitted = await gate.wait(stopping);
  if (admitted === null) return release(handling);
  // It may have waited for long.
  if (activity.paused() !== null) {
    admitted.done('ignored', 0);
    return handleOnce(handling);
  }
  // Another gateway may have it by now.
  if (!handling.isHeld() || handling.claim?.isHeld() === false) {
    admitted.done('ignored', 0);
    return release(handling);
  }
  const outcome = await attempt(handling, admitted);
  if (outcome.kind === 'done') handling.onProcessed();
  return conclude(handling, outcome);
}

/** Never rejects. */
async function attempt(
  { clock, event, processor }: Handling,
  admitted: AdmittedCall,
): Promise<ProcessorOutcome> {
  const begun = clock.now();
  let cancel = () => {};
  const late = new Promise<ProcessorOutcome>((resolve) => {
    cancel = clock.after(ATTEMPT_MS, () => resolve(timedOut));
  });
  const handled = (async () => processor.process(event))().catch(threw);
  const outcome = await Promise.race([handled, late]);
  cancel();
  const ms = outcome === timedOut ? Number.POSITIVE_INFINITY : clock.now() - begun;
  const ended = outcome.kind === 'done' ? 'ok' : 'ignored';
  admitted.done(outcome.kind === 'retry' ? 'error' : ended, ms);
  return outcome;
}

const timedOut: ProcessorOutcome = {
  kind: 'retry',
  reason: `There was no answer within ${ATTEMPT_MS / 1_000} seconds`,
  status: null,
  afterMs: 0,
};

const threw = (error: unknown): ProcessorOutcome => ({
  kind: 'retry',
  reason: messageOf(error),
  status: null,
  afterMs: 0,
});

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function conclude(handling: Handling, outcome: ProcessorOutcome): Promise<void> {
  const { activity, delivery, subscription, log, now, random, trigger } = handling;
  const { attempt: nth, id } = delivery;
  if (outcome.kind === 'done') {
    activity.counters.delivered += 1;
    return finish(handling, 'done');
  }
  activity.counters.failed += 1;
  activity.lastError = { message: outcome.reason, at: now() };
  switch (outcome.kind) {
    case 'gone':
      activity.pause({ reason: 'gone', detail: outcome.reason });
      return release(handling);
    case 'retry': {
      const failures = failuresWith(handling, outcome);
      const { retry } = trigger.runtime;
      const most = Math.min(retry?.max ?? 0, trigger.deadLetters?.afterRetries ?? Number.POSITIVE_INFINITY);
      if (retry === null || nth > most)
        return bury(
          handling,
          { reason: 'exhausted', error: outcome.reason, status: outcome.status },
          nth,
          failures,
        );
      const delay = retryDelay(retry, nth, outcome.afterMs, random());
      activity.counters.retried += 1;
      log.debug(
        { trigger: trigger.id, channel: subscription.channelId, attempt: nth, delay },
        'an event is tried again',
      );
      return settle(handling, () => subscription.channel.retry(trigger.id, id, delay, failures));
    }
    case 'failed':
      return bury(
        handling,
        { reason: 'nonretryable', error: outcome.reason, status: outcome.status },
        nth,
        failuresWith(handling, outcome),
      );
  }
}

/** Those of the attempts before, with this one's. */
function failuresWith(
  { delivery, now }: Handling,
  { reason, status }: { reason: string; status: number | null },
): readonly FailedAttempt[] {
  return withFailure(delivery.failures, { attempt: delivery.attempt, at: now(), status, error: reason });
}

const discardReason = (letters: TriggerLetters | null, { reason }: Cause): string =>
  letters === null
    ? `an event failed (${reason}), and dead letters are not enabled`
    : 'the storage of dead letters is full';

interface Cause {
  readonly reason: DeadLetterReason;
  readonly error: string;
  readonly status: number | null;
}

/** Keeps the event as a dead letter, and only then lets go of it. While it cannot be kept, the trigger is paused. */
async function bury(
  handling: Handling,
  cause: Cause,
  attempts: number,
  failures = handling.delivery.failures,
): Promise<void> {
  const { activity, event, letters, log, trigger } = handling;
  const kept = letters === null ? 'dropped' : await keep(handling, letters, { ...cause, attempts, failures });
  if (kept === 'stopped') return release(handling);
  if (kept === 'kept') {
    activity.counters.deadLettered += 1;
    emitDeadLettered(handling.emitter, event, { ...cause, trigger: trigger.id, attempts });
  } else {
    activity.counters.discarded += 1;
    if (!isOfEngine(event)) handling.drops.add(trigger.id, discardReason(letters, cause));
  }
  const { id, source } = event.attributes;
  log.warn(
    { trigger: trigger.id, event: id, source, attempts, reason: cause.reason, error: cause.error },
    kept === 'kept' ? 'an event is a dead letter' : 'an event is discarded',
  );
  await finish(handling, 'dead');
}

/**
 * Tells the message of a dead letter from all others. The event is part of it, because a channel whose address changes may give
 * the same name to another message.
 */
function letterName({ id, message = id }: Delivery, { attributes }: CloudEvent): string {
  return JSON.stringify([message ?? '', attributes.source, attributes.id]);
}

async function keep(
  handling: Handling,
  letters: TriggerLetters,
  why: Cause & Pick<LetterFacts, 'attempts' | 'failures'>,
): Promise<'kept' | 'dropped' | 'stopped'> {
  const { activity, delivery, event, subscription, now, stopping, trigger } = handling;
  const facts = { ...why, trigger: trigger.id, channel: subscription.channelId, at: now() };
  for (;;) {
    const result = await letters.keep(event, facts, letterName(delivery, event)).catch((error: unknown) => {
      activity.pause({ reason: 'dead-letters-unavailable', detail: messageOf(error) });
      return 'failed' as const;
    });
    if (result !== 'failed') activity.resume('dead-letters-unavailable');
    if (result === 'kept' || result === 'dropped') {
      activity.resume('dead-letters-full');
      return result;
    }
    if (result === 'full')
      activity.pause({ reason: 'dead-letters-full', detail: 'There is no room for another dead letter' });
    await pauseFor(handling, letters.onRoom);
    if (stopping.aborted) return 'stopped';
  }
}

/** Remembers what became of the event, and lets go of the message. */
async function finish(handling: Handling, outcome: 'done' | 'dead'): Promise<void> {
  const { claim, closed, delivery, stopping, subscription, trigger } = handling;
  const ack = () => subscription.channel.ack(trigger.id, delivery.id);
  if (claim === null) return settle(handling, ack);
  await insist(
    handling,
    () => claim.finish(outcome, ack, subscription.sharesDatabase),
    // A consumer that stops waits for what would be handled again otherwise.
    () => (claim.isRemembered() ? stopping : closed),
  );
}

function release(handling: Handling): Promise<void> {
  const { delivery, subscription, trigger } = handling;
  return settle(handling, () => subscription.channel.release(trigger.id, delivery.id));
}

/** Tells the channel what became of a message, until it has heard it or the consumer stops: then the message comes again. */
async function settle(handling: Handling, tell: () => Promise<void>): Promise<void> {
  await insist(handling, tell);
}

/**
 * Asks a channel or a database again and again until it answers. The event is held meanwhile.
 * @param ending after each failure: what ends the trying. The consumer's stop when absent
 */
async function insist<T>(
  handling: Handling,
  ask: () => Promise<T>,
  ending: () => AbortSignal = () => handling.stopping,
): Promise<T | 'stopped'> {
  const { subscription, log, trigger } = handling;
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      const facts = { trigger: trigger.id, channel: subscription.channelId, error: describe(error) };
      if (tries === 1) log.error(facts, 'an event waits because a channel or the database does not answer');
      const end = ending();
      if (end.aborted) return 'stopped';
      await pauseFor(handling, () => () => {}, end);
    }
  }
}

/** Waits a second, or until a listener is called, or the signal is aborted: the consumer stops when it is absent. */
function pauseFor(
  { clock, stopping }: Handling,
  listen: (listener: () => void) => () => void,
  ending: AbortSignal = stopping,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      unlisten();
      ending.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(AGAIN_MS, end);
    const unlisten = listen(end);
    ending.addEventListener('abort', end, { once: true });
    if (ending.aborted) end();
  });
}

/** By the extension `expirytime`, a time after which nobody needs the event. */
function isExpired({ attributes }: CloudEvent, now: number): boolean {
  const { expirytime } = attributes;
  return typeof expirytime === 'string' && Date.parse(expirytime) <= now;
}
