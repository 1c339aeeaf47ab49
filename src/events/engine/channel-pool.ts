import type { Channel } from '../channels/channel.ts';
import { type OpenChannelInput, openChannel, sqliteFile } from '../channels/open-channel.ts';
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
  /** The open channels by their keys. */
  opened(): ReadonlyMap<string, Channel>;
  close(): Promise<void>;
}

/** Equal for configurations of the same topic. */
export function channelKey({ id, scheme, topic, url }: ChannelConfig): string {
  return JSON.stringify([scheme === 'memory' ? id : url, topic]);
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
    opened: () => channels,
    async close() {
      await closeOthers(new Set());
      await Promise.all([...databases.values()].map((database) => database.close()));
    },
  };
}
