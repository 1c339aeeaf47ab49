import { retryTopic } from '../channels/broker/waiting-retry-calls.ts';
import type { Channel } from '../channels/channel.ts';
import {
  hasRetryStore,
  type OpenChannelInput,
  openChannel,
  retryStoreKey,
  sqliteFile,
} from '../channels/open-channel.ts';
import type { Channel as ChannelConfig } from '../config/config.ts';
import { type EventDatabase, openEventDatabase } from '../database/event-database.ts';

export type ChannelPoolInput = Omit<OpenChannelInput, 'database'>;

/** The open channels. Two configurations of the same topic share one. */
export interface ChannelPool {
  /** Opens a channel, or returns the one that is open. @throws Error when it cannot be opened */
  open(config: ChannelConfig): Channel;
  /** Closes the channels with other keys, once what was asked of them is done. */
  closeOthers(keys: ReadonlySet<string>): Promise<void>;
  /** The gateway's own database of events, `events.db` of the data directory, or one in memory. */
  database(place: 'local' | 'memory'): EventDatabase;
  /** Whether a channel's events are in the gateway's own database. */
  isInOwnDatabase(config: ChannelConfig): boolean;
  /**
   * Brings what waits for another attempt by a trigger to where a channel has its retries, from where it had them under another
   * address. Resolves at once for channels that keep their retries themselves.
   * @param others channels, by key, that the trigger receives from besides
   * @throws Error when the database does not work
   */
  takeOverRetries(config: ChannelConfig, trigger: string, others: Iterable<string>): Promise<void>;
  /** The open channels by their keys. */
  opened(): ReadonlyMap<string, Channel>;
  close(): Promise<void>;
}

/** Equal for configurations of the same topic. */
export function channelKey({ id, scheme, topic, url }: ChannelConfig): string {
  return JSON.stringify([scheme === 'memory' ? id : url, topic]);
}

/** What tells the waiting messages of the channel with this key from those of others. */
export function retryStoreKeyOf(key: string): string {
  const [url, topic] = JSON.parse(key) as [url: string, topic: string];
  return retryStoreKey({ url, topic });
}

export function createChannelPool(input: ChannelPoolInput): ChannelPool {
  const channels = new Map<string, Channel>();
  const databases = new Map<string, EventDatabase>();
  const database = (path: string): EventDatabase => {
    const opened = databases.get(path) ?? openEventDatabase(path);
    databases.set(path, opened);
    return opened;
  };
  const ownFile = () => sqliteFile('sqlite:', input.dataDir);
  const closeOthers = async (keys: ReadonlySet<string>) => {
    const others = [...channels].filter(([key]) => !keys.has(key));
    for (const [key] of others) channels.delete(key);
    await Promise.all(others.map(([, channel]) => channel.close()));
  };
  return {
    open(config) {
      const key = channelKey(config);
      const channel = channels.get(key) ?? openChannel(config, { ...input, database });
      channels.set(key, channel);
      return channel;
    },
    closeOthers,
    database: (place) => database(place === 'local' ? ownFile() : ':memory:'),
    isInOwnDatabase: ({ scheme, url }) => scheme === 'sqlite' && sqliteFile(url, input.dataDir) === ownFile(),
    async takeOverRetries(config, trigger, others) {
      if (!hasRetryStore(config)) return;
      const moved = await database(ownFile()).ask('takeOverRetries', {
        channel: config.id,
        consumer: trigger,
        topic: retryTopic(retryStoreKey(config)),
        others: [...others].map((key) => retryTopic(retryStoreKeyOf(key))),
      });
      if (moved > 0)
        input.log.info(
          { channel: config.id, trigger, events: moved },
          'events that wait for another attempt moved along with their channel',
        );
    },
    opened: () => channels,
    async close() {
      await closeOthers(new Set());
      await Promise.all([...databases.values()].map((database) => database.close()));
    },
  };
}
