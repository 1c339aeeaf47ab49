import { describe, type Log } from '../../lib/log.ts';
import type { Channel, Delivery } from '../channels/channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Trigger } from '../config/config.ts';
import type { EventProcessor, ProcessorOutcome } from '../processors/processor.ts';
import type { Admitted, Gate } from '../strategies/gate.ts';
import { retryDelay } from './backoff.ts';
import { deadLetterOf, type Failure } from './dead-letter.ts';

/** Events of one consumer that are with their processor at a time. */
const MOST_IN_FLIGHT = 16;
/** Longer than any processor takes. */
const LEASE_MS = 60_000;
/** How soon a channel that failed is asked again. */
const FAULT_MS = 1_000;
const LONGEST_TIMER_MS = 2_147_483_647;

export interface ConsumerInput {
  trigger: Trigger;
  channelId: string;
  channel: Channel;
  /** Whether a router leads the event to the trigger. */
  wants(event: CloudEvent): boolean;
  processor: EventProcessor;
  /** The limits on the trigger. */
  gate: Gate;
  /** Null: what fails for the last time is discarded. */
  deadLetters: Channel | null;
  log: Log;
  now: () => number;
  random: () => number;
}

/** One trigger at one channel. */
export interface Consumer {
  start(): Promise<void>;
  /** Takes no more events, and waits for those that are with the processor. */
  stop(): Promise<void>;
}

export function createConsumer(input: ConsumerInput): Consumer {
  const { channel, channelId, log, trigger } = input;
  const name = trigger.id;
  const inFlight = new Set<Promise<void>>();
  const most = Math.min(trigger.bufferSize, MOST_IN_FLIGHT);
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  const stopping = new AbortController();
  let unlisten = () => {};

  const wake = () => {
    again = true;
    if (stopped || pumping !== null) return;
    pumping = pump().finally(() => {
      pumping = null;
      if (again) wake();
    });
  };
  const wakeAfter = (ms: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(wake, Math.min(ms, LONGEST_TIMER_MS));
  };
  const pump = async () => {
    again = false;
    try {
      while (!stopped && inFlight.size < most) {
        const deliveries = await channel.receive(name, most - inFlight.size, LEASE_MS);
        if (deliveries.length === 0) break;
        for (const delivery of deliveries) take(delivery);
      }
      const due = inFlight.size < most ? await channel.nextDueIn(name) : null;
      if (due !== null) wakeAfter(due);
    } catch (error) {
      log.error({ trigger: name, channel: channelId, error: describe(error) }, 'a channel of events failed');
      again = false;
      wakeAfter(FAULT_MS);
    }
  };
  const take = (delivery: Delivery) => {
    const settled = handle(input, delivery, stopping.signal, halt)
      .catch((error: unknown) => {
        // It comes again when its lease ends.
        log.error({ trigger: name, channel: channelId, error: describe(error) }, 'an event was not settled');
      })
      .finally(() => {
        inFlight.delete(settled);
        wake();
      });
    inFlight.add(settled);
  };
  const halt = () => {
    stopped = true;
    stopping.abort();
    clearTimeout(timer);
    unlisten();
  };

  return {
    async start() {
      await channel.subscribe(name, trigger.bufferSize);
      unlisten = channel.onArrival(wake);
      wake();
    },
    async stop() {
      halt();
      await pumping;
      await Promise.all(inFlight);
    },
  };
}

/** Brings one event to the processor, and settles it by what came of that. */
async function handle(
  input: ConsumerInput,
  delivery: Delivery,
  stopping: AbortSignal,
  halt: () => void,
): Promise<void> {
  const { channel, channelId, log, trigger } = input;
  const { attempt, content, id } = delivery;
  if (!content.ok) throw new Error(content.problem);
  const { event } = content;
  if (!input.wants(event)) return channel.ack(trigger.id, id);
  const admitted = await input.gate.wait(stopping);
  if (admitted === null) return channel.release(trigger.id, id);
  const outcome = await processed(input, event, admitted);
  switch (outcome.kind) {
    case 'done':
      return channel.ack(trigger.id, id);
    case 'gone':
      log.warn(
        { trigger: trigger.id, reason: outcome.reason },
        'a trigger is paused until the gateway starts again',
      );
      halt();
      return channel.release(trigger.id, id);
    case 'retry': {
      const { retry } = trigger.runtime;
      const most = Math.min(retry?.max ?? 0, trigger.deadLetters?.afterRetries ?? Number.POSITIVE_INFINITY);
      if (retry === null || attempt > most)
        return giveUp(input, { attempt, event, id }, outcome, 'exhausted');
      const delay = retryDelay(retry, attempt, outcome.afterMs, input.random());
      log.debug({ trigger: trigger.id, channel: channelId, attempt, delay }, 'an event is tried again');
      return channel.retry(trigger.id, id, delay);
    }
    case 'failed':
      return giveUp(input, { attempt, event, id }, outcome, 'nonretryable');
  }
}

async function processed(
  { processor }: ConsumerInput,
  event: CloudEvent,
  admitted: Admitted,
): Promise<ProcessorOutcome> {
  const begun = performance.now();
  const outcome = await processor.process(event);
  const ok = outcome.kind === 'done' ? 'ok' : 'ignored';
  admitted.done(outcome.kind === 'retry' ? 'error' : ok, performance.now() - begun);
  return outcome;
}

/** Keeps the event as a dead letter, and only then lets go of it. */
async function giveUp(
  input: ConsumerInput,
  { attempt, event, id }: { readonly attempt: number; readonly event: CloudEvent; readonly id: string },
  outcome: Extract<ProcessorOutcome, { kind: 'retry' | 'failed' }>,
  reason: Failure['reason'],
): Promise<void> {
  const { channel, channelId, deadLetters, log, now, trigger } = input;
  await deadLetters?.publish(
    deadLetterOf(event, {
      reason,
      trigger: trigger.id,
      channel: channelId,
      attempts: attempt,
      status: outcome.status,
      error: outcome.reason,
      at: now(),
    }),
  );
  const { id: eventId, source } = event.attributes;
  log.warn(
    { trigger: trigger.id, event: eventId, source, attempts: attempt, reason: outcome.reason },
    deadLetters === null ? 'an event is discarded' : 'an event is a dead letter',
  );
  await channel.ack(trigger.id, id);
}
