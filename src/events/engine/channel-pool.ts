import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Channel } from '../channels/channel.ts';
import { createMemoryChannel } from '../channels/memory/memory-channel.ts';
import { createSqliteChannel } from '../channels/sqlite/sqlite-channel.ts';
import type { Channel as ChannelConfig } from '../config/config.ts';
import { type EventDatabase, openEventDatabase } from '../database/event-database.ts';

export interface ChannelPoolInput {
  /** Where relative addresses of `sqlite:` lead. */
  dataDir: string;
  now: () => number;
}

/** The open channels. Two configurations of the same topic share one. */
export interface ChannelPool {
  /** Opens a channel, or returns the one that is open. @throws Error when it cannot be opened */
  open(config: ChannelConfig): Channel;
  /** Closes the channels with other keys, once what was asked of them is done. */
  closeOthers(keys: ReadonlySet<string>): Promise<void>;
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
  const closeOthers = async (keys: ReadonlySet<string>) => {
    const others = [...channels].filter(([key]) => !keys.has(key));
    for (const [key] of others) channels.delete(key);
    await Promise.all(others.map(([, channel]) => channel.close()));
  };
  return {
    open(config) {
      const key = channelKey(config);
      const channel = channels.get(key) ?? openChannel(config, databases, input);
      channels.set(key, channel);
      return channel;
    },
    closeOthers,
    opened: () => channels,
    async close() {
      await closeOthers(new Set());
      await Promise.all([...databases.values()].map((database) => database.close()));
    },
  };
}

/** `sqlite:` is the data directory's `events.db`, `sqlite:NAME` another file there, `sqlite:///PATH` any file. */
function openChannel(
  { scheme, topic, url }: ChannelConfig,
  databases: Map<string, EventDatabase>,
  { dataDir, now }: ChannelPoolInput,
): Channel {
  if (scheme === 'memory') return createMemoryChannel({ now });
  const name = url.replace(/^sqlite:(?:\/\/)?/i, '');
  const path = resolve(dataDir, name === '' ? 'events.db' : name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = databases.get(path) ?? openEventDatabase(path);
  databases.set(path, database);
  return createSqliteChannel(database, topic, now);
}
