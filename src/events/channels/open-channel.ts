import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Log } from '../../lib/log.ts';
import type { Channel as ChannelConfig } from '../config/config.ts';
import type { EventDatabase } from '../database/event-database.ts';
import { type Address, resolveAddress, withoutSecrets } from './broker/address.ts';
import type { Broker, Connect } from './broker/broker.ts';
import { createBrokerChannel } from './broker/broker-channel.ts';
import type { Channel } from './channel.ts';
import { createMemoryChannel } from './memory/memory-channel.ts';
import { createPostgresChannel } from './postgres/postgres-channel.ts';
import { createSqliteChannel } from './sqlite/sqlite-channel.ts';

export interface OpenChannelInput {
  /** Where relative addresses of `sqlite:` lead, and where messages of brokers wait for their next attempt. */
  dataDir: string;
  /** The database in a file, which is opened once. */
  database(path: string): EventDatabase;
  log: Log;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The value of an environment variable that the configuration names. */
  variable(name: string): string | undefined;
}

/** Libraries are loaded by those who use them. */
const drivers = {
  amqp: async (): Promise<Connect> => (await import('./amqp/connect-amqp.ts')).connectAmqp,
  kafka: async (): Promise<Connect> => (await import('./kafka/connect-kafka.ts')).connectKafka,
  mqtt: async (): Promise<Connect> => (await import('./mqtt/connect-mqtt.ts')).connectMqtt,
  nats: async (): Promise<Connect> => (await import('./nats/connect-nats.ts')).connectNats,
  redis: async (): Promise<Connect> => (await import('./redis/connect-redis.ts')).connectRedis,
};

/**
 * Opens a channel. A broker is connected to in the background, again and again until it is there.
 * @throws Error for a variable that is not set
 */
export function openChannel(config: ChannelConfig, input: OpenChannelInput): Channel {
  const { id, scheme, topic, url } = config;
  const { database, dataDir, log, now, variable } = input;
  switch (scheme) {
    case 'memory':
      return createMemoryChannel({ now });
    case 'sqlite':
      return createSqliteChannel(database(sqliteFile(url, dataDir)), topic, now);
    case 'amqp':
    case 'kafka':
    case 'mqtt':
    case 'nats':
    case 'redis': {
      const shelf = database(sqliteFile('sqlite:', dataDir));
      const broker = brokerOf(config, drivers[scheme], shelf, variable);
      return createBrokerChannel({
        broker,
        channelId: id,
        database: shelf,
        shelfKey: `${url} ${topic}`,
        log,
        now,
      });
    }
    case 'postgres': {
      const address = resolveAddress(url, variable);
      const local = database(sqliteFile('sqlite:', dataDir));
      const driver = async () => (await import('./postgres/connect-postgres.ts')).connectPostgres;
      return createPostgresChannel({
        async connect(onEvents, onLost) {
          const connect = await driver();
          return withHiddenSecrets(address, (lost) => connect(address, onEvents, lost), onLost);
        },
        channelId: id,
        topic,
        instance: () => local.ask('instance', null),
        log,
      });
    }
  }
}

/** Its errors tell no secret. @throws Error for a variable that is not set */
function brokerOf(
  { topic, url }: ChannelConfig,
  driver: () => Promise<Connect>,
  database: EventDatabase,
  variable: OpenChannelInput['variable'],
): Broker {
  const address = resolveAddress(url, variable);
  return {
    async connect(onLost) {
      const connect = await driver();
      const instance = await database.ask('instance', null);
      return withHiddenSecrets(address, (lost) => connect({ address, topic, instance }, lost), onLost);
    },
  };
}

/** Connects, and tells no secret of the address when that fails, or when the connection is lost. */
async function withHiddenSecrets<T>(
  address: Address,
  connect: (onLost: (error: Error) => void) => Promise<T>,
  onLost: (error: Error) => void,
): Promise<T> {
  try {
    return await connect((error) => onLost(withoutSecrets(error, address)));
  } catch (error) {
    throw withoutSecrets(error, address);
  }
}

/** `sqlite:` is the data directory's `events.db`, `sqlite:NAME` another file there, `sqlite:///PATH` any file. */
export function sqliteFile(url: string, dataDir: string): string {
  const name = url.replace(/^sqlite:(?:\/\/)?/i, '');
  const path = resolve(dataDir, name === '' ? 'events.db' : name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}
