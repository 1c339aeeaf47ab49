import { isDeepStrictEqual } from 'node:util';
import type { KeyedMutex } from '../../../lib/keyed-mutex.ts';
import { describe, type Log } from '../../../lib/log.ts';
import { uptimeClock } from '../../../lib/time/clock.ts';
import type { Channel } from '../../channels/channel.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Channel as ChannelConfig, EventConfig, Route, Trigger } from '../../config/config.ts';
import type { DeadLetters } from '../../dead-letters/store.ts';
import { createTriggerLetters, type TriggerLetters } from '../../dead-letters/trigger-letters.ts';
import {
  createDatabaseHandled,
  createMemoryHandled,
  type HandledStore,
} from '../../idempotence/handled-store.ts';
import { createIdempotence, type Idempotence } from '../../idempotence/idempotence.ts';
import { createBridge } from '../../processors/bridge.ts';
import type { EventProcessor } from '../../processors/processor.ts';
import { monotonicClock } from '../../strategies/clock.ts';
import type { Gates } from '../../strategies/gates.ts';
import type { Emitter } from '../../types/emitter.ts';
import { type ChannelPool, channelKey } from '../channel-pool.ts';
import type { DropReports } from '../publishing/drop-reports.ts';
import type { PublishResult } from '../publishing/publisher.ts';
import { isBridge } from '../sources/bridges.ts';
import { createRouteSelector, type RouteSelector } from '../sources/route-selector.ts';
import type { SourceOf } from '../sources/source-identity.ts';
import { type Consumer, createConsumer } from './consumer.ts';
import type { TriggerContext } from './handle-delivery.ts';
import { openProcessor, type ProcessorInput } from './open-processor.ts';
import { createTriggerActivity, type Pause } from './trigger-activity.ts';

/** For how long a channel keeps a message for a gateway that says nothing more. */
const LEASE_MS = 30_000;
/** The same where other gateways wait for it: what a dead one held is with another one within ten seconds. */
const SHARED_LEASE_MS = 8_000;
/** How soon a channel is asked again that does not take a subscription. */
const START_AGAIN_MS = 1_000;

/** What a trigger is made from. An equal definition goes on with the state of the one before. */
export interface TriggerDefinition {
  readonly trigger: Trigger;
  /** The channel that a trigger of the kind `channel` forwards to. */
  readonly target: ChannelConfig | null;
  /** Whether it brings in the events of a source from another channel. */
  readonly bridge: boolean;
  /** Whether any of its channels outlives the process. */
  readonly durable: boolean;
}

export interface TriggerInput extends ProcessorInput {
  /** By trigger and event: who handles it in this process, under one configuration or the next. */
  claims: KeyedMutex;
  /** Aborted when nobody waits any longer for what triggers have begun. */
  closed: AbortSignal;
  /** Tells of events that are discarded. */
  drops: Pick<DropReports, 'add'>;
  /** Tells of what happens to triggers. */
  emitter: Emitter;
  channels: ChannelPool;
  deadLetters: DeadLetters;
  /** What several gateways remember together; null where each remembers for itself. */
  sharedHandled: (() => HandledStore) | null;
  gates: Pick<Gates, 'of'>;
  random: () => number;
  /** Publishes an event as a source's; null when there is no such source. */
  publish(sourceId: string, event: CloudEvent): Promise<PublishResult> | null;
}

/** A trigger with its processor, and a consumer for each channel that routers lead to it from. */
export interface RunningTrigger {
  readonly definition: TriggerDefinition;
  /** The channels, by key, whose consumers it has. */
  readonly consumers: Map<string, RunningConsumer>;
  readonly processor: EventProcessor;
  readonly context: TriggerContext;
}

export interface RunningConsumer {
  readonly channelId: string;
  readonly channel: Channel;
  /** By which routers the trigger selects events, of one version of the configuration. */
  selects: RouteSelector;
  /** Whose the events of the channel are, in the same version. */
  sourceOf: SourceOf;
  readonly consumer: Consumer;
  /**
   * Brings along what waits for another attempt since the channel had another address. Comes before the start.
   * @param others channels, by key, that the trigger receives from besides
   * @throws Error when the database does not work
   */
  takeOverRetries(others: Iterable<string>): Promise<void>;
}

export function definitionOf(trigger: Trigger, config: EventConfig): TriggerDefinition {
  const { kind, name } = trigger.processor;
  const bridge = isBridge(trigger, config);
  return {
    trigger,
    bridge,
    target: kind === 'channel' && !bridge ? (config.channels.get(name) ?? null) : null,
    durable: config.routes.some(
      ({ channelId, triggerId }) =>
        triggerId === trigger.id && config.channels.get(channelId)?.scheme !== 'memory',
    ),
  };
}

export const sameDefinition = (a: TriggerDefinition, b: TriggerDefinition): boolean =>
  isDeepStrictEqual(a, b);

/** A trigger without consumers. @throws Error when its processor cannot be opened */
export function openTrigger(definition: TriggerDefinition, input: TriggerInput): RunningTrigger {
  const { trigger } = definition;
  const target = definition.target === null ? null : input.channels.open(definition.target);
  const processor = definition.bridge
    ? createBridge((event) => input.publish(trigger.id, event))
    : openProcessor(trigger, target, input);
  const context: TriggerContext = {
    trigger,
    processor,
    gate: input.gates.of(`trigger:${trigger.id}`),
    idempotence: idempotenceOf(definition, input),
    letters: lettersOf(trigger, input),
    activity: createTriggerActivity((pause) => tellPause(trigger.id, pause, input)),
    drops: input.drops,
    emitter: input.emitter,
    clock: monotonicClock,
    closed: input.closed,
    log: input.log,
    now: input.now,
    random: input.random,
  };
  return { definition, consumers: new Map(), processor, context };
}

/** What was handled is remembered for as long as the events of its channels: in a database, or in memory. */
function idempotenceOf(
  { durable, trigger }: TriggerDefinition,
  { channels, claims, sharedHandled }: TriggerInput,
): Idempotence | null {
  if (!trigger.idempotent) return null;
  const ownStore = () => createDatabaseHandled(channels.database('local'), uptimeClock);
  const store = durable ? (sharedHandled ?? ownStore)() : createMemoryHandled(uptimeClock);
  return createIdempotence({ claims, trigger: trigger.id, retry: trigger.runtime.retry, store });
}

function lettersOf({ deadLetters: strategy, id }: Trigger, input: TriggerInput): TriggerLetters | null {
  if (strategy === null) return null;
  const { store } = strategy;
  const channel = store.kind === 'channel' ? input.channels.open(store.channel) : null;
  return createTriggerLetters({ trigger: id, strategy, store: input.deadLetters, channel });
}

function tellPause(trigger: string, pause: Pause | null, { emitter, log }: TriggerInput): void {
  const name = pause === null ? 'trigger.resumed' : 'trigger.paused';
  emitter.emit(name, { subject: trigger, data: { trigger, reason: pause?.reason ?? null } });
  if (pause === null) log.info({ trigger }, 'a trigger has resumed');
  else log.warn({ trigger, reason: pause.reason, detail: pause.detail }, 'a trigger is paused');
}

/** The routers of a trigger, by the key of the channel that they lead through. */
export function routesByChannel(triggerId: string, { channels, routes }: EventConfig): Map<string, Route[]> {
  const routesByChannel = new Map<string, Route[]>();
  for (const route of routes) {
    const channel = channels.get(route.channelId);
    if (channel === undefined || route.triggerId !== triggerId) continue;
    const key = channelKey(channel);
    routesByChannel.set(key, [...(routesByChannel.get(key) ?? []), route]);
  }
  return routesByChannel;
}

/** Whether several gateways may receive from it. */
const isShared = ({ scheme }: ChannelConfig): boolean => scheme !== 'memory' && scheme !== 'sqlite';

/** A consumer of one channel, which is not started yet. */
export function openConsumer(
  { context }: RunningTrigger,
  config: ChannelConfig,
  routes: readonly Route[],
  sourceOf: SourceOf,
  { channels }: TriggerInput,
): RunningConsumer {
  const channel = channels.open(config);
  const running: RunningConsumer = {
    channelId: config.id,
    channel,
    selects: createRouteSelector(routes),
    sourceOf,
    takeOverRetries: (others) => channels.takeOverRetries(config, context.trigger.id, others),
    consumer: createConsumer(context, {
      channelId: config.id,
      channel,
      leaseMs: isShared(config) ? SHARED_LEASE_MS : LEASE_MS,
      wants(event) {
        const sourceId = running.sourceOf(event);
        if (sourceId === null) context.activity.counters.unrouted += 1;
        return running.selects(event, sourceId);
      },
      replay: false,
      sharesDatabase: channels.isInOwnDatabase(config),
    }),
  };
  return running;
}

/** Where a trigger's consumers have that of its replayed dead letters. */
export const REPLAYS = 'replays';

/** A consumer of the trigger's dead letters that somebody wants to be handled again; null where it keeps none. */
export function openReplayConsumer({ context }: RunningTrigger): RunningConsumer | null {
  const channel = context.letters?.replays;
  if (channel === undefined) return null;
  const consumer = createConsumer(context, {
    channelId: REPLAYS,
    channel,
    leaseMs: LEASE_MS,
    wants: () => true,
    replay: true,
    sharesDatabase: false,
  });
  return {
    channelId: REPLAYS,
    channel,
    selects: () => true,
    sourceOf: () => null,
    consumer,
    takeOverRetries: async () => {},
  };
}

/** Starts a consumer, again and again while its channel does not take it, until `isWanted` says no. Never rejects. */
export async function startConsumer(
  triggerId: string,
  { channelId, consumer, takeOverRetries }: RunningConsumer,
  others: readonly string[],
  isWanted: () => boolean,
  log: Log,
): Promise<void> {
  while (isWanted()) {
    try {
      await takeOverRetries(others);
      return await consumer.start();
    } catch (error) {
      log.error(
        { trigger: triggerId, channel: channelId, error: describe(error) },
        'a trigger does not start',
      );
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
    }
  }
}
