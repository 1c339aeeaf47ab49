import { resolve } from 'node:path';
import { describe, type Log } from '../../lib/log.ts';
import { uptimeClock } from '../../lib/time/clock.ts';
import { resolveAddress } from '../channels/broker/address.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Channel as ChannelConfig, EventConfig, Source } from '../config/config.ts';
import { createDeadLetters, type DeadLetters } from '../dead-letters/store.ts';
import { createPostgresHandled, type SharedHandled } from '../idempotence/postgres-handled.ts';
import { createConsentCallbacks } from '../processors/consent-callbacks.ts';
import type { ObjectStore } from '../spool/objects/object-store.ts';
import type { SpoolPlaces } from '../spool/open.ts';
import { monotonicClock } from '../strategies/clock.ts';
import type { Admission } from '../strategies/gate.ts';
import type { BreakerState } from '../strategies/limit.ts';
import { type OpenGatesInput, openGates } from '../strategies/open.ts';
import { ingestResource } from '../strategies/resources.ts';
import { type Emitter, silentEmitter } from '../types/emitter.ts';
import { keepAbandonedRetries } from './abandoned-retries.ts';
import { type ChannelPool, channelKey, createChannelPool, retryStoreKeyOf } from './channel-pool.ts';
import {
  type EngineParts,
  type EngineStatus,
  engineHealth,
  engineProblems,
  engineStatus,
} from './engine-status.ts';
import { createDropReports } from './publishing/drop-reports.ts';
import { createOwnEvents } from './publishing/own-events.ts';
import type { PublishResult } from './publishing/publisher.ts';
import { createTail, type Tail } from './publishing/tail.ts';
import { withBridges } from './sources/bridges.ts';
import { createSourceSet } from './sources/source-set.ts';
import type { ProcessorInput } from './triggers/open-processor.ts';
import { REPLAYS } from './triggers/running-trigger.ts';
import { createSubscriptions, REMOVED_TRIGGER_MS, type Subscribers } from './triggers/subscriptions.ts';
import { createTriggerSet, type TriggerChange } from './triggers/trigger-set.ts';

/** For how long applying a configuration waits for channels to know their new triggers. A message queue may be down. */
const SUBSCRIBE_MS = 5_000;
/** How long closing waits for own events that are not published yet. */
const OWN_EVENTS_MS = 5_000;

export interface EngineInput extends Omit<ProcessorInput, 'consents'> {
  /** Tells of what happens in the engine: of dead letters, pauses, circuit breakers and dropped events. Default: nobody is told. */
  emitter?: Emitter;
  /** Where relative addresses of `sqlite:` lead. */
  dataDir: string;
  random: () => number;
  /** Where limits of MODE_GLOBAL are held; null: there is no such place. */
  redis: OpenGatesInput['redis'];
  /** For how long a removed trigger's events are still collected, in milliseconds. */
  removedMs?: number;
  /** The address of a PostgreSQL database in which gateways remember together what their triggers have handled. */
  sharedDatabase?: string | null;
  /** Where storages of the types LFS and DFS are; absent: a folder in the data directory, and nowhere. */
  eventStorage?: { readonly localFolder: string | null; readonly distributedUrl: string | null };
}

/** Runs one configuration at a time. Begins with an empty one. */
export interface Engine {
  /**
   * Runs another configuration from now on: each event is judged by the old one or by this one. Channels, sources and triggers
   * that are the same go on with their state, and others finish what they have begun.
   * @throws Error when it cannot be run; the old one goes on
   */
  apply(config: EventConfig): Promise<void>;
  /** Publishes an event of the gateway itself. Returns at once, and never throws. */
  emit(event: CloudEvent): void;
  /** Whether any router leads the gateway's own events anywhere. */
  wantsOwnEvents(): boolean;
  /**
   * Publishes an event that comes in by a source. Never throws.
   * @param waitMs how long to wait for room in a storage that blocks when it is full
   * @returns null when there is no source with this id
   */
  publish(sourceId: string, event: CloudEvent, waitMs?: number): Promise<PublishResult> | null;
  /** Lets an HTTP request that brings events pass, or refuses it. */
  admitRequest(): Admission | Promise<Admission>;
  /**
   * A receiver of webhooks consents to being sent events.
   * @param key of the address that it was told
   * @param allowedRate the header `WebHook-Allowed-Rate`
   * @returns false where there is no such address
   */
  grantConsent(key: string, allowedRate: string | null): boolean;
  readonly deadLetters: DeadLetters;
  /** The sources that are running. */
  sources(): readonly Source[];
  readonly tail: Pick<Tail, 'listen'>;
  /** Never throws. */
  status(): Promise<EngineStatus>;
  /** What an operator should look at, in sentences, without asking a channel. */
  problems(): string[];
  /** Stops taking events, waits for those under way, and closes the channels. */
  close(): Promise<void>;
}

export function createEngine(input: EngineInput): Engine {
  const { emitter = silentEmitter, log, removedMs = REMOVED_TRIGGER_MS } = input;
  const openBreakers = new Set<string>();
  /** A breaker whose probe fails was open all the time. */
  const tellBreaker = (resource: string, state: BreakerState) => {
    const [kind, ...rest] = resource.split(':');
    const opened = state === 'open';
    if (state === 'half-open' || opened === openBreakers.has(resource)) return;
    if (opened) openBreakers.add(resource);
    else openBreakers.delete(resource);
    if (kind !== 'source' && kind !== 'trigger') return;
    emitter.emit(opened ? 'circuit.opened' : 'circuit.closed', {
      subject: resource,
      data: { kind, name: rest.join(':'), reason: null, until: null },
    });
  };
  const channels = createChannelPool({ ...input, emitter, now: uptimeClock });
  const places = storagePlaces(input);
  const objects = openedOnce(places);
  const deadLetters = createDeadLetters({
    open: channels.database,
    objects: objects?.open ?? null,
    receives: (trigger, replays) =>
      triggers.current().get(trigger)?.consumers.get(REPLAYS)?.channel === replays,
    now: uptimeClock,
  });
  const gates = openGates({
    redis: input.redis,
    log,
    onBreaker(resource, state) {
      log.info({ resource, state }, 'a circuit breaker changed its state');
      tellBreaker(resource, state);
    },
  });
  const shared = input.sharedDatabase == null ? null : sharedHandled(input.sharedDatabase, channels, input);
  const drops = createDropReports({ clock: monotonicClock, emitter, log });
  const consents = createConsentCallbacks();
  const triggers = createTriggerSet({
    ...input,
    consents,
    drops,
    emitter,
    channels,
    deadLetters,
    sharedHandled: shared?.open ?? null,
    gates,
    publish: (sourceId, event) => sources.publisher(sourceId)?.publish(event) ?? null,
  });
  const tail = createTail();
  const sources = createSourceSet({ ...input, channels, drops, gates, tail, places });
  const ownEvents = createOwnEvents(drops);
  let closed = false;
  let current: Pick<EventConfig, 'channels'> = { channels: new Map() };
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  };
  const subscriptions = createSubscriptions({
    channels,
    removedMs,
    onExpired: (kept) =>
      keepAbandonedRetries(
        { database: channels.database('local'), deadLetters, emitter, log, now: uptimeClock },
        kept.map(([key, trigger]) => [retryStoreKeyOf(key), trigger]),
      ),
    inTurn: (work) =>
      void inTurn(work).catch((error: unknown) =>
        log.error({ error: describe(error) }, 'old subscriptions were not ended'),
      ),
  });

  const applyNow = async (config: EventConfig): Promise<void> => {
    if (closed) throw new Error('The event engine is closed');
    const before = new Set(channels.opened().keys());
    const change = await prepared(config, channels, triggers.prepare).catch(async (error: unknown) => {
      await channels.closeOthers(before);
      throw error;
    });
    const sourceChange = await sources.prepare(config).catch(async (error: unknown) => {
      await change.discard();
      await channels.closeOthers(before);
      throw error;
    });
    await subscribed(change, log);
    gates.apply(config);
    change.commit();
    sourceChange.commit();
    ownEvents.replacePublishers(sourceChange.own);
    subscriptions.update(subscribersOf(config));
    current = config;
  };

  const parts = (): EngineParts => ({
    config: current,
    degradations: (config) => channels.opened().get(channelKey(config))?.degradations() ?? [],
    warnings: (config) => channels.opened().get(channelKey(config))?.warnings() ?? [],
    sources: [...sources.current().values()].map(({ publisher }) => publisher.status()),
    triggers: triggers.current().values(),
    ownEvents: ownEvents.status(),
    letterCounts: deadLetters.counts,
    requests: gates.of(ingestResource).status(),
  });
  return {
    apply: (config) => inTurn(() => applyNow(withBridges(config))),
    emit: ownEvents.emit,
    wantsOwnEvents: ownEvents.hasRouters,
    sources: () => [...sources.current().values()].map(({ source }) => source),
    publish: (sourceId, event, waitMs) => sources.publisher(sourceId)?.publish(event, waitMs) ?? null,
    admitRequest: () => gates.of(ingestResource).admit(),
    grantConsent: consents.grant,
    deadLetters,
    tail,
    status: () => engineStatus(parts()),
    problems: () => engineProblems(engineHealth(parts())),
    async close() {
      closed = true;
      await turn;
      subscriptions.close();
      await ownEvents.close(OWN_EVENTS_MS);
      await sources.close();
      await triggers.close();
      drops.close();
      await gates.disconnect();
      await shared?.close();
      await objects?.close();
      await channels.close();
    },
  };
}

/** Opened when a trigger first needs it. */
function sharedHandled(url: string, channels: ChannelPool, { log, variable }: EngineInput) {
  let opened: SharedHandled | null = null;
  const open = (): SharedHandled => {
    const plain = resolveAddress(url, variable);
    const address = { ...plain, secrets: plain.password === '' ? [] : [plain.password] };
    const instance = () => channels.database('local').ask('instance', null);
    opened ??= createPostgresHandled({ address, instance, log });
    return opened;
  };
  return { open, close: async () => opened?.close() };
}

/** The distributed storage, for dead letters; null where there is none. */
function openedOnce(places: SpoolPlaces) {
  const { distributedUrl } = places;
  if (distributedUrl === null) return null;
  let opening: Promise<ObjectStore> | null = null;
  const open = () => {
    opening ??= import('../spool/objects/open-objects.ts').then(({ openObjects }) =>
      openObjects(distributedUrl, places),
    );
    opening.catch(() => {
      opening = null;
    });
    return opening;
  };
  return {
    open,
    async close() {
      const opened = await opening?.catch(() => null);
      await opened?.close();
    },
  };
}

/** Where storages of sources are. */
function storagePlaces({ dataDir, eventStorage, listening, log, now, variable }: EngineInput): SpoolPlaces {
  return {
    localFolder: resolve(dataDir, eventStorage?.localFolder ?? 'events'),
    distributedUrl: eventStorage?.distributedUrl ?? null,
    listening,
    log,
    now,
    variable,
  };
}

/** Opens what a configuration needs and is not open. @throws Error when something cannot be opened */
async function prepared(
  config: EventConfig,
  channels: ChannelPool,
  prepare: (config: EventConfig) => TriggerChange,
): Promise<TriggerChange> {
  for (const channel of channelsOf(config)) channels.open(channel);
  return prepare(config);
}

/** Those of the components, and those of dead letters alone. */
function channelsOf({ channels, triggers }: EventConfig): ChannelConfig[] {
  const letters = [...triggers.values()].flatMap(({ deadLetters }) =>
    deadLetters?.store.kind === 'channel' ? [deadLetters.store.channel] : [],
  );
  return [...channels.values(), ...letters];
}

/** Makes the triggers known to their channels before any source publishes for them. */
async function subscribed({ starting }: TriggerChange, log: Log): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const subscriptions = starting.map(({ consumer: { channel, channelId }, triggerId }) =>
    channel.subscribe(triggerId).catch((error: unknown) => {
      // Its consumer asks again when it starts.
      log.error({ trigger: triggerId, channel: channelId, error: describe(error) }, 'a subscription failed');
    }),
  );
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, SUBSCRIBE_MS);
  });
  await Promise.race([Promise.all(subscriptions), late]);
  clearTimeout(timer);
}

function subscribersOf(config: EventConfig): Subscribers {
  const subscribers = new Map<string, Set<string>>(
    channelsOf(config).map((channel) => [channelKey(channel), new Set()]),
  );
  for (const { channelId, triggerId } of config.routes) {
    const channel = config.channels.get(channelId);
    if (channel !== undefined) subscribers.get(channelKey(channel))?.add(triggerId);
  }
  return subscribers;
}
