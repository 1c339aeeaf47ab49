import { isDeepStrictEqual } from 'node:util';
import { describe, type Log } from '../../lib/log.ts';
import type { Channel } from '../channels/channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Channel as ChannelConfig, EventConfig, Route, Trigger } from '../config/config.ts';
import type { EventProcessor } from '../processors/processor.ts';
import type { Gates } from '../strategies/gates.ts';
import { type ChannelPool, channelKey } from './channel-pool.ts';
import { type Consumer, createConsumer } from './consumer.ts';
import { openProcessor, type ProcessorInput } from './open-processor.ts';
import { sourceExtension } from './source-extension.ts';

/** How soon a channel is asked again that does not take a subscription. */
const START_AGAIN_MS = 1_000;

/** What a trigger is made from. An equal definition goes on with the state of the one before. */
export interface TriggerDefinition {
  readonly trigger: Trigger;
  /** The channel that a trigger of the kind `channel` forwards to. */
  readonly target: ChannelConfig | null;
}

export interface TriggerInput extends ProcessorInput {
  channels: ChannelPool;
  gates: Pick<Gates, 'of'>;
  random: () => number;
}

/** A trigger with its processor, and a consumer for each channel that routers lead to it from. */
export interface RunningTrigger {
  readonly definition: TriggerDefinition;
  /** The channels, by key, whose consumers it has. */
  readonly consumers: Map<string, RunningConsumer>;
  readonly processor: EventProcessor;
}

export interface RunningConsumer {
  readonly channelId: string;
  readonly channel: Channel;
  /** The routers by which the trigger selects events, of one version of the configuration. */
  routes: readonly Route[];
  readonly consumer: Consumer;
}

export function definitionOf(trigger: Trigger, config: EventConfig): TriggerDefinition {
  const { kind, name } = trigger.processor;
  return { trigger, target: kind === 'channel' ? (config.channels.get(name) ?? null) : null };
}

export const sameDefinition = (a: TriggerDefinition, b: TriggerDefinition): boolean =>
  isDeepStrictEqual(a, b);

/** A trigger without consumers. @throws Error when its processor cannot be opened */
export function openTrigger(definition: TriggerDefinition, input: TriggerInput): RunningTrigger {
  return { definition, consumers: new Map(), processor: openProcessor(definition.trigger, input) };
}

/** The routers of a trigger, by the key of the channel that they lead through. */
export function routesByChannel(triggerId: string, { channels, routes }: EventConfig): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  for (const route of routes) {
    const channel = channels.get(route.channelId);
    if (channel === undefined || route.triggerId !== triggerId) continue;
    const key = channelKey(channel);
    found.set(key, [...(found.get(key) ?? []), route]);
  }
  return found;
}

/** A consumer of one channel, which is not started yet. */
export function openConsumer(
  { definition, processor }: RunningTrigger,
  config: ChannelConfig,
  routes: readonly Route[],
  { channels, gates, log, now, random }: TriggerInput,
): RunningConsumer {
  const { trigger } = definition;
  const channel = channels.open(config);
  const { store } = trigger.deadLetters ?? { store: null };
  const deadLetters = store?.kind === 'channel' ? channels.open(store.channel) : null;
  const running: RunningConsumer = {
    channelId: config.id,
    channel,
    routes,
    consumer: createConsumer({
      trigger,
      channelId: config.id,
      channel,
      wants: (event) => selected(event, running.routes),
      processor,
      gate: gates.of(`trigger:${trigger.id}`),
      deadLetters,
      log,
      now,
      random,
    }),
  };
  return running;
}

/** Whether any of the routers leads the event on. */
export function selected({ attributes }: CloudEvent, routes: readonly Route[]): boolean {
  return routes.some(
    ({ filter, sourceId }) =>
      attributes[sourceExtension] === sourceId && (filter === null || filter.matches(attributes)),
  );
}

/** Starts a consumer, again and again while its channel does not take it, until `wanted` says no. Never rejects. */
export async function startConsumer(
  triggerId: string,
  { channelId, consumer }: RunningConsumer,
  wanted: () => boolean,
  log: Log,
): Promise<void> {
  while (wanted()) {
    try {
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
