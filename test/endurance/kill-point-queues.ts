import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { createClient } from '@redis/client';
import type { Channel } from '../../src/events/channels/channel.ts';
import { openChannel } from '../../src/events/channels/open-channel.ts';
import { createSqliteChannel } from '../../src/events/channels/sqlite/sqlite-channel.ts';
import type { ChannelScheme } from '../../src/events/config/config.ts';
import { type EventDatabase, openEventDatabase } from '../../src/events/database/event-database.ts';
import { silentEmitter } from '../../src/events/types/emitter.ts';
import { createLog } from '../../src/lib/log.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { numberedEvent } from '../support/events/event-trigger.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { delayedPort } from '../support/upstream/delayed-port.ts';

/** The channel of one process. */
export interface KillableChannel {
  readonly channel: Channel;
  /** Events that the queue has not seen settled, wherever they are. */
  unsettled(): Promise<number>;
  /** What the end of the process does to the channel: its connections end, and nothing is said before. */
  kill(): Promise<void>;
  /** Closes it as a process that stops. */
  close(): Promise<void>;
}

/** Events that wait for a trigger which nobody has run yet. */
export interface WaitingEvents {
  /** The database of the gateway. */
  readonly file: string;
  /** Whether the queue is in it too. */
  readonly sharesDatabase: boolean;
  open(database: EventDatabase): Promise<KillableChannel>;
  /** Ends what stands between the processes and the queue. */
  end(): Promise<void>;
}

/** Where the events of a run wait. */
export interface KillPointQueue {
  /** @param name tells the events from those of another try */
  fill(folder: string, name: string, ids: readonly string[]): Promise<WaitingEvents>;
  /** How many tries may run at the same time: as many as are worth it where each of them waits for long. */
  readonly atOnce: number;
}

export const TRIGGER = 'trigger';

export const sqliteQueue: KillPointQueue = {
  atOnce: 1,
  async fill(folder, name, ids) {
    const fresh = join(folder, 'fresh.db');
    const file = join(folder, `${name}.db`);
    if (!existsSync(fresh)) {
      const database = openEventDatabase(fresh);
      const channel = createSqliteChannel(database, 'main', Date.now);
      for (const id of ids) await channel.publish(numberedEvent(id));
      await database.close();
    }
    copyFileSync(fresh, file);
    return {
      file,
      sharesDatabase: true,
      async open(own) {
        const channel = createSqliteChannel(own, 'main', Date.now);
        return { channel, unsettled: async () => 0, kill: async () => {}, close: () => channel.close() };
      },
      end: async () => {},
    };
  },
};

/** What a server counts as handed over and not settled, where a channel cannot tell: by the address and the topic. */
const unsettledAt: Partial<Record<ChannelScheme, (url: string, topic: string) => Promise<number>>> = {
  async nats(url, topic) {
    const connection = await connect({ servers: url });
    try {
      const { consumers } = await jetstreamManager(connection);
      const info = await consumers.info(`modelgate_${topic}`, `modelgate_${TRIGGER}`);
      return info.num_pending + info.num_ack_pending;
    } finally {
      await connection.close();
    }
  },
  async redis(url, topic) {
    const client = await createClient({ url }).connect();
    try {
      const groups = await client.xInfoGroups(topic);
      return groups.reduce((sum, { lag, pending }) => sum + pending + (lag ?? 0), 0);
    } finally {
      client.destroy();
    }
  },
};

/** A queue on a server. NATS waits for half a minute until it gives what a dead process had to another one. */
export function serverQueue(scheme: ChannelScheme, server: PrivateBroker): KillPointQueue {
  const openAt = (url: string, topic: string, file: string, database: EventDatabase) =>
    openChannel(
      { id: 'main', scheme, url, topic },
      {
        dataDir: join(file, '..'),
        database: () => database,
        log: createLog({ level: 'silent', write: () => {}, pretty: false }),
        emitter: silentEmitter,
        now: Date.now,
        variable: () => undefined,
      },
    );
  return {
    atOnce: 8,
    async fill(folder, name, ids) {
      const topic = `ended-${name}`;
      const publishers = join(folder, `${name}-publisher.db`);
      const database = openEventDatabase(publishers);
      const publisher = openAt(server.url, topic, publishers, database);
      await waitFor('the server', () => publisher.problem() === null);
      for (const id of ids) await publisher.publish(numberedEvent(id));
      await publisher.close();
      await database.close();
      const file = join(folder, `${name}.db`);
      const network = await delayedPort(() => server.port);
      // The same for both processes: what waits for another attempt belongs to an address.
      const address = server.url.replace(`:${server.port}`, `:${network.port}`);
      return {
        file,
        sharesDatabase: false,
        async open(own) {
          network.refuses = false;
          const channel = openAt(address, topic, file, own);
          await waitFor('the server', () => channel.problem() === null);
          return {
            channel,
            unsettled: async () => (await unsettledAt[scheme]?.(server.url, topic)) ?? 0,
            async kill() {
              network.refuses = true;
              network.cut();
              await channel.close();
            },
            close: () => channel.close(),
          };
        },
        end: () => network.close(),
      };
    },
  };
}
