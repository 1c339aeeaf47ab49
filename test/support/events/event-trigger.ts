import type { Channel } from '../../../src/events/channels/channel.ts';
import { createMemoryChannel } from '../../../src/events/channels/memory/memory-channel.ts';
import type { CloudEvent } from '../../../src/events/cloudevents/event.ts';
import type { RuntimeStrategy, Trigger } from '../../../src/events/config/config.ts';
import type { TriggerLetters } from '../../../src/events/dead-letters/trigger-letters.ts';
import { createConsumer } from '../../../src/events/engine/triggers/consumer.ts';
import type {
  TriggerContext,
  TriggerSubscription,
} from '../../../src/events/engine/triggers/handle-delivery.ts';
import { createTriggerActivity } from '../../../src/events/engine/triggers/trigger-activity.ts';
import type { ProcessorOutcome } from '../../../src/events/processors/processor.ts';
import { monotonicClock } from '../../../src/events/strategies/clock.ts';
import { createGates } from '../../../src/events/strategies/gates.ts';
import { silentEmitter } from '../../../src/events/types/emitter.ts';
import { createLog } from '../../../src/lib/log.ts';

/** An event whose id says which it is. */
export const numberedEvent = (id: string, attributes: Record<string, string> = {}): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't', ...attributes },
  data: Buffer.from(`data of ${id}`),
});

export const noStrategy: RuntimeStrategy = {
  retry: null,
  rateLimit: null,
  circuitBreaker: null,
  concurrency: null,
  faultTolerance: null,
};

export interface TriggerSetup {
  trigger?: Partial<Trigger>;
  runtime?: Partial<RuntimeStrategy>;
  channel?: Channel;
  subscription?: Partial<TriggerSubscription>;
  context?: Partial<TriggerContext>;
  letters?: TriggerLetters | null;
  /** What the processor does with an event. */
  process(event: CloudEvent): Promise<ProcessorOutcome> | ProcessorOutcome;
}

/** A trigger at one channel, with nothing around it. Its consumer is not started. */
export function setUpTrigger(setup: TriggerSetup) {
  const trigger: Trigger = {
    id: 'trigger',
    processor: { kind: 'log', name: '' },
    bufferSize: 256,
    idempotent: false,
    runtime: { ...noStrategy, ...setup.runtime },
    deadLetters: null,
    ...setup.trigger,
  };
  const gates = createGates({ clock: monotonicClock, global: null, onBreaker() {} });
  gates.apply({ sources: new Map(), triggers: new Map([[trigger.id, trigger]]) });
  const context: TriggerContext = {
    trigger,
    processor: { process: async (event) => setup.process(event), close: async () => {} },
    gate: gates.of(`trigger:${trigger.id}`),
    idempotence: null,
    letters: setup.letters ?? null,
    activity: createTriggerActivity(() => {}),
    drops: { add() {} },
    emitter: silentEmitter,
    clock: monotonicClock,
    closed: new AbortController().signal,
    log: createLog({ level: 'silent', write: () => {}, pretty: false }),
    now: Date.now,
    random: () => 0.5,
    ...setup.context,
  };
  const channel = setup.channel ?? createMemoryChannel({ now: () => performance.now() });
  const subscription: TriggerSubscription = {
    channelId: 'main',
    channel,
    leaseMs: 30_000,
    wants: () => true,
    replay: false,
    sharesDatabase: false,
    ...setup.subscription,
  };
  return { context, channel, consumer: createConsumer(context, subscription) };
}
