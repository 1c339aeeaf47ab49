import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Log } from '../../lib/log.ts';
import type { Channel as ChannelConfig } from '../config/config.ts';
import type { EventDatabase } from '../database/event-database.ts';
import type { Emitter } from '../types/emitter.ts';
import { type BackgroundTasks, createBackgroundTasks } from './background-tasks.ts';
import { type Address, redactedError, resolveAddress } from './broker/address.ts';
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
  /** Tells of channels that are degraded. */
  emitter: Emitter;
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

/** Whether messages of a channel wait for their next attempt in the gateway's own database, apart from their queue. */
export const hasRetryStore = ({ scheme }: ChannelConfig): boolean => Object.hasOwn(drivers, scheme);

/** What tells the messages of a channel that wait for their next attempt from those of others. */
export const retryStoreKey = ({ topic, url }: Pick<ChannelConfig, 'topic' | 'url'>): string =>
  `${url} ${topic}`;

/**
 * Opens a channel. A broker is connected to in the background, again and again until it is there.
 * @throws Error for a variable that is not set
 */
export function openChannel(config: ChannelConfig, input: OpenChannelInput): Channel {
  const { id, scheme, topic, url } = config;
  const { database, dataDir, log, now } = input;
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
      const retryStore = database(sqliteFile('sqlite:', dataDir));
      const address = resolveAddress(url, input.variable);
      const background = backgroundOf(id, address, input, () => channel);
      const channel = createBrokerChannel({
        broker: brokerOf({ address, topic, driver: drivers[scheme], database: retryStore, background }),
        background,
        channelId: id,
        database: retryStore,
        retryStoreKey: retryStoreKey(config),
        log,
        now,
      });
      return channel;
    }
    case 'postgres': {
      const address = resolveAddress(url, input.variable);
      const background = backgroundOf(id, address, input, () => channel);
      const local = database(sqliteFile('sqlite:', dataDir));
      const channel = createPostgresChannel({
        background,
        async connect(onEvents, onLost) {
          const { connectPostgres } = await import('./postgres/connect-postgres.ts');
          const { prepareTables: prepare } = await import('./postgres/tables.ts');
          const connect = (lost: (error: Error) => void) =>
            connectPostgres(address, { prepare, onEvents }, lost);
          return withHiddenSecrets(address, connect, onLost);
        },
        channelId: id,
        topic,
        instance: () => local.ask('instance', null),
        log,
      });
      return channel;
    }
  }
}

/** Its errors tell no secret. */
function backgroundOf(
  channelId: string,
  address: Address,
  { emitter, log }: OpenChannelInput,
  channel: () => Channel,
): BackgroundTasks {
  return createBackgroundTasks({
    channelId,
    log,
    emitter,
    isConnected: () => channel().problem() === null,
    textOf: (error) => redactedError(error, address).message,
  });
}

interface BrokerParts {
  readonly address: Address;
  readonly topic: string;
  driver(): Promise<Connect>;
  readonly database: EventDatabase;
  readonly background: BackgroundTasks;
}

/** Its errors tell no secret. */
function brokerOf({ address, background, database, driver, topic }: BrokerParts): Broker {
  return {
    async connect(onLost) {
      const connect = await driver();
      const instance = await database.ask('instance', null);
      return withHiddenSecrets(
        address,
        (lost) => connect({ address, topic, instance, background }, lost),
        onLost,
      );
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
    return await connect((error) => onLost(redactedError(error, address)));
  } catch (error) {
    throw redactedError(error, address);
  }
}

/** `sqlite:` is the data directory's `events.db`, `sqlite:NAME` another file there, `sqlite:///PATH` any file. */
export function sqliteFile(url: string, dataDir: string): string {
  const name = url.replace(/^sqlite:(?:\/\/)?/i, '');
  const path = resolve(dataDir, name === '' ? 'events.db' : name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}
