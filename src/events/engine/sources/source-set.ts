import { describe, type Log } from '../../../lib/log.ts';
import type { Channel } from '../../channels/channel.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { EventConfig, Route, Source } from '../../config/config.ts';
import { openSpool, type SpoolPlaces } from '../../spool/open.ts';
import { storageOf } from '../../spool/storage.ts';
import { monotonicClock } from '../../strategies/clock.ts';
import { admitToBoth } from '../../strategies/gate.ts';
import type { Gates } from '../../strategies/gates.ts';
import type { ChannelPool } from '../channel-pool.ts';
import { createChannelHealths } from '../publishing/channel-health.ts';
import type { DropReports } from '../publishing/drop-reports.ts';
import {
  createPublisher,
  type Publisher,
  type PublisherSettings,
  type PublishResult,
} from '../publishing/publisher.ts';
import type { Tail } from '../publishing/tail.ts';
import { isOrigin } from './bridges.ts';
import { createRouteSelector } from './route-selector.ts';

/** How long what waits in memory may be sent when the engine closes. */
const DRAIN_MS = 5_000;

interface RunningSource {
  readonly source: Source;
  readonly publisher: Publisher;
}

type Sources = ReadonlyMap<string, RunningSource>;

/** The running sources, which change as a whole. */
export interface SourceSet {
  /** Opens what another configuration needs. Nothing changes until it is committed. @throws Error when a storage cannot be opened */
  prepare(config: EventConfig): Promise<SourceChange>;
  /** Null when there is no source with this id. */
  publisher(sourceId: string): Publisher | null;
  current(): Sources;
  /** Takes no more events, and sends what waits in memory for some seconds. */
  close(): Promise<void>;
}

export interface SourceChange {
  /** The publishers of the sources of the gateway's own events. */
  readonly own: readonly Publisher[];
  /**
   * From now on the other sources run. A source keeps its storage and the state of its limits where those are the same; what waits
   * in a storage that it has no more is sent in the background.
   */
  commit(): void;
  discard(): Promise<void>;
}

export interface SourceSetInput {
  channels: ChannelPool;
  drops: Pick<DropReports, 'add'>;
  gates: Pick<Gates, 'of'>;
  log: Log;
  /** Where storages are. */
  places: SpoolPlaces;
  random: () => number;
  tail: Pick<Tail, 'published'>;
}

export function createSourceSet(input: SourceSetInput): SourceSet {
  const { channels, drops, gates, log, places, random, tail } = input;
  let current: Sources = new Map();
  const healthOf = createChannelHealths(monotonicClock);
  const retired = new Set<Publisher>();

  const retire = (publisher: Publisher) => {
    retired.add(publisher);
    void publisher
      .retire()
      .catch((error: unknown) => log.error({ error: describe(error) }, 'a source did not end'))
      .finally(() => retired.delete(publisher));
  };
  const open = async (settings: PublisherSettings): Promise<RunningSource> => {
    const { source } = settings;
    const spool = await openSpool(source, places);
    const gateOf = (channelId: string) => {
      const outer = gates.of(`source:${source.id}`, channelId);
      const inner = gates.of(`channel:${channelId}`);
      return { admit: () => admitToBoth(outer, inner) };
    };
    const onPublished = (event: CloudEvent, result: PublishResult['kind']) => {
      tail.published({ event, sourceId: source.id, result });
      // Of the gateway's own events it is told once for all sources.
      if (result === 'dropped' && !isOwn(source)) drops.add(source.id, 'the storage is full');
    };
    const input = { gateOf, healthOf, spool, clock: monotonicClock, random, log, onPublished };
    return { source, publisher: createPublisher(settings, input) };
  };
  return {
    current: () => current,
    publisher: (sourceId) => current.get(sourceId)?.publisher ?? null,
    async prepare(config) {
      const next = new Map<string, RunningSource>();
      const opened: Publisher[] = [];
      const updates: (() => void)[] = [];
      const discard = async () => {
        await Promise.all(opened.map((publisher) => publisher.close(0)));
      };
      try {
        for (const source of config.sources.values()) {
          const before = current.get(source.id);
          const settings = settingsOf(source, config, channels);
          if (before !== undefined && storageOf(before.source)?.type === storageOf(source)?.type) {
            next.set(source.id, { source, publisher: before.publisher });
            updates.push(() => before.publisher.update(settings));
          } else {
            const running = await open(settings);
            opened.push(running.publisher);
            next.set(source.id, running);
          }
        }
      } catch (error) {
        await discard();
        throw error;
      }
      return {
        own: [...next.values()].flatMap(({ publisher, source }) =>
          isOwn(source) && config.routes.some(({ sourceId }) => sourceId === source.id) ? [publisher] : [],
        ),
        commit() {
          for (const update of updates) update();
          for (const [id, { publisher }] of current)
            if (next.get(id)?.publisher !== publisher) retire(publisher);
          current = next;
        },
        discard,
      };
    },
    async close() {
      const all = [...current.values()].map(({ publisher }) => publisher);
      current = new Map();
      await Promise.all([...all, ...retired].map((publisher) => publisher.close(DRAIN_MS)));
    },
  };
}

const isOwn = ({ processor }: Source): boolean => processor.kind === 'gateway';

/**
 * The channels of a source: each once, however many routers lead through it. A channel gets only those of the gateway's own events
 * that some router selects: there is one for every request, and most gateways want few of them.
 */
function settingsOf(source: Source, configured: EventConfig, pool: ChannelPool): PublisherSettings {
  const { channels, routes } = configured;
  const destinations = new Map<Channel, { id: string; routes: Route[] }>();
  for (const route of routes) {
    const config = channels.get(route.channelId);
    if (route.sourceId !== source.id || config === undefined) continue;
    if (isOrigin(config.id, source, configured)) continue;
    const channel = pool.open(config);
    const destination = destinations.get(channel) ?? { id: config.id, routes: [] };
    destination.routes.push(route);
    destinations.set(channel, destination);
  }
  const selectors = isOwn(source)
    ? new Map([...destinations.values()].map(({ id, routes: own }) => [id, createRouteSelector(own)]))
    : null;
  return {
    source,
    channels: new Map([...destinations].map(([channel, { id }]) => [id, channel])),
    takes: (id, event) => selectors === null || selectors.get(id)?.(event, source.id) === true,
  };
}
