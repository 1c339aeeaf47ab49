import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Listening } from '../../http/outbound/outbound.ts';
import { describe, type Log } from '../../lib/log.ts';
import type { Channel } from '../channels/channel.ts';
import { createMemoryChannel } from '../channels/memory.ts';
import { type EventDatabase, openEventDatabase } from '../channels/sqlite.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Channel as ChannelConfig, EventConfig, Trigger } from '../config/config.ts';
import { createLogProcessor } from '../processors/log.ts';
import type { EventProcessor } from '../processors/processor.ts';
import { webhookKey } from '../processors/signature.ts';
import { createWebhook } from '../processors/webhook.ts';
import { type Consumer, createConsumer } from './consumer.ts';

/** Events that wait to be published, beyond which new ones are dropped: a full disk must not fill the memory. */
const MOST_PUBLISHING = 10_000;
/** How often dropped events are told of in the log. */
const DROPPED_TOLD_MS = 60_000;

export interface EngineInput {
  config: EventConfig;
  /** Where relative addresses of `sqlite:` lead. */
  dataDir: string;
  listening: Listening;
  log: Log;
  now: () => number;
  random: () => number;
  /** The value of an environment variable that the configuration names. */
  variable(name: string): string | undefined;
}

export interface Engine {
  /** Publishes an event of the gateway itself. Returns at once, and never throws. */
  emit(event: CloudEvent): void;
  /** Stops taking events, waits for those under way, and closes the channels. */
  close(): Promise<void>;
}

/** The extension that tells which source an event came in by. */
const sourceExtension = 'eventsourceid';

/** Opens the channels and starts the triggers. @throws Error for a variable that is not set, or is no secret */
export async function openEngine(input: EngineInput): Promise<Engine> {
  const { config, log, now } = input;
  const parts = openParts(input);
  try {
    for (const [channel, names] of parts.subscribers) await channel.endOtherSubscriptions(names);
    for (const consumer of parts.consumers) await consumer.start();
  } catch (error) {
    await closeParts(parts);
    throw error;
  }
  const outlets = outletsOf(config, parts.channels);
  const publishing = new Set<Promise<void>>();
  let dropped = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  const drop = (error: unknown) => {
    dropped += 1;
    if (now() - toldAt < DROPPED_TOLD_MS) return;
    toldAt = now();
    log.error({ dropped, error: describe(error) }, 'events are dropped');
    dropped = 0;
  };
  return {
    emit(event) {
      for (const [sourceId, channels] of outlets) {
        const sent: CloudEvent = {
          attributes: { ...event.attributes, [sourceExtension]: sourceId },
          data: event.data,
        };
        for (const channel of channels) {
          if (publishing.size >= MOST_PUBLISHING) {
            drop(new Error(`${MOST_PUBLISHING} events wait to be published`));
            continue;
          }
          const published = channel
            .publish(sent)
            .catch(drop)
            .finally(() => publishing.delete(published));
          publishing.add(published);
        }
      }
    },
    async close() {
      outlets.clear();
      await Promise.all(publishing);
      await closeParts(parts);
    },
  };
}

interface Parts {
  readonly channels: ReadonlyMap<string, Channel>;
  readonly databases: Map<string, EventDatabase>;
  readonly processors: readonly EventProcessor[];
  readonly consumers: readonly Consumer[];
  /** Who receives from each channel. */
  readonly subscribers: ReadonlyMap<Channel, ReadonlySet<string>>;
}

function openParts(input: EngineInput): Parts {
  const { config, log, now, random } = input;
  const processors = new Map([...config.triggers].map(([id, trigger]) => [id, processorOf(trigger, input)]));
  const databases = new Map<string, EventDatabase>();
  const opened = new Map<string, Channel>();
  const open = (channel: ChannelConfig): Channel => {
    const key = JSON.stringify([channel.scheme === 'memory' ? channel.id : channel.url, channel.topic]);
    const made = opened.get(key) ?? openChannel(channel, databases, input);
    opened.set(key, made);
    return made;
  };
  const channels = new Map([...config.channels].map(([id, channel]) => [id, open(channel)]));
  const consumers = [...config.triggers.values()].flatMap((trigger) => {
    const routes = config.routes.filter(({ triggerId }) => triggerId === trigger.id);
    const processor = processors.get(trigger.id);
    return [...new Set(routes.map(({ channelId }) => channelId))].flatMap((channelId) => {
      const channel = channels.get(channelId);
      if (channel === undefined || processor === undefined) return [];
      const own = routes.filter((route) => route.channelId === channelId);
      const wants = ({ attributes }: CloudEvent) =>
        own.some(
          ({ filter, sourceId }) =>
            attributes[sourceExtension] === sourceId && (filter === null || filter.matches(attributes)),
        );
      const { store } = trigger.deadLetters ?? { store: null };
      const deadLetters = store?.kind === 'channel' ? open(store.channel) : null;
      return [
        createConsumer({ trigger, channelId, channel, wants, processor, deadLetters, log, now, random }),
      ];
    });
  });
  const subscribers = new Map<Channel, Set<string>>(
    [...opened.values()].map((channel) => [channel, new Set()]),
  );
  for (const { channelId, triggerId } of config.routes) {
    const channel = channels.get(channelId);
    if (channel !== undefined) subscribers.get(channel)?.add(triggerId);
  }
  return { channels, databases, processors: [...processors.values()], consumers, subscribers };
}

async function closeParts({ channels, consumers, databases, processors }: Parts): Promise<void> {
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  await Promise.all(processors.map((processor) => processor.close()));
  await Promise.all([...channels.values()].map((channel) => channel.close()));
  await Promise.all([...databases.values()].map((database) => database.close()));
}

/** `sqlite:` is the data directory's `events.db`, `sqlite:NAME` another file there, `sqlite:///PATH` any file. */
function openChannel(
  { scheme, topic, url }: ChannelConfig,
  databases: Map<string, EventDatabase>,
  { dataDir, now }: EngineInput,
): Channel {
  if (scheme === 'memory') return createMemoryChannel({ now });
  const name = url.replace(/^sqlite:(?:\/\/)?/i, '');
  const path = resolve(dataDir, name === '' ? 'events.db' : name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = databases.get(path) ?? openEventDatabase(path, now);
  databases.set(path, database);
  return database.channel(topic);
}

/** The channels of each source of the gateway: each once, however many routers lead through it. */
function outletsOf(config: EventConfig, channels: ReadonlyMap<string, Channel>): Map<string, Set<Channel>> {
  const outlets = new Map<string, Set<Channel>>();
  for (const { channelId, sourceId } of config.routes) {
    const channel = channels.get(channelId);
    if (channel !== undefined) outlets.set(sourceId, (outlets.get(sourceId) ?? new Set()).add(channel));
  }
  return outlets;
}

function processorOf({ id, processor }: Trigger, input: EngineInput): EventProcessor {
  const { listening, log, now, variable } = input;
  if (processor.kind === 'log') return createLogProcessor(id, log);
  return createWebhook({
    trigger: id,
    url: resolved(processor.name, id, variable),
    key: keyOf(id, input),
    listening,
    now,
  });
}

/** The address with the values of the variables that it names. */
function resolved(text: string, trigger: string, variable: EngineInput['variable']): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = variable(name);
    if (value === undefined)
      throw new Error(`trigger ${trigger}: the environment variable ${name} is not set`);
    return encodeURIComponent(value);
  });
}

/** The secret that signs what a trigger sends: `EVENTS_SECRET_` and its id in upper case, with `_` for what no name may have. */
function keyOf(trigger: string, { log, variable }: EngineInput): Buffer | null {
  const name = `EVENTS_SECRET_${trigger.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  const secret = variable(name);
  if (secret === undefined) {
    log.warn(
      { trigger, variable: name },
      'webhooks are not signed: set the variable to a secret, whsec_ and base64',
    );
    return null;
  }
  const key = webhookKey(secret);
  if (key === null) throw new Error(`${name} must be whsec_ and the base64 of 24 to 64 bytes`);
  return key;
}
