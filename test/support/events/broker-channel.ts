import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Channel } from '../../../src/events/channels/channel.ts';
import { openChannel } from '../../../src/events/channels/open-channel.ts';
import type { ChannelScheme } from '../../../src/events/config/config.ts';
import { type EventDatabase, openEventDatabase } from '../../../src/events/database/event-database.ts';
import { type Emitter, silentEmitter } from '../../../src/events/types/emitter.ts';
import { createLog, type Log } from '../../../src/lib/log.ts';
import { temporaryFolder } from '../machine/folder.ts';
import type { Cleanup, OpenedChannel } from './channel-contract.ts';

/** Channels of a broker, opened as the engine does. */

export interface BrokerUnderTest {
  readonly scheme: ChannelScheme;
  readonly url: string;
  /** Publishes bytes that are no event, as another program would. */
  publishBytes?(topic: string, bytes: Uint8Array): Promise<void>;
}

const silent = {
  emitter: silentEmitter,
  log: createLog({ level: 'silent', write: () => {}, pretty: false }),
};

/** Opens two topics that nobody used before. */
export async function openBrokerChannels(
  t: Cleanup,
  broker: BrokerUnderTest,
  told: { readonly emitter: Emitter; readonly log: Log } = silent,
  onTopic: (topic: string) => void = () => {},
): Promise<OpenedChannel> {
  const dataDir = temporaryFolder(t);
  const clock = { now: 1_000_000 };
  const topics = { a: `a-${randomUUID()}`, b: `b-${randomUUID()}` };
  onTopic(topics.a);
  const opened = new Set<Channel>();
  const databases = new Map<string, EventDatabase>();
  const database = (path: string) => {
    const known = databases.get(path) ?? openEventDatabase(path);
    databases.set(path, known);
    return known;
  };
  const open = (topic: string) => {
    const { scheme, url } = broker;
    const channel = openChannel(
      { id: topic, scheme, url, topic },
      { dataDir: join(dataDir, 'data'), database, ...told, now: () => clock.now, variable: () => undefined },
    );
    opened.add(channel);
    return channel;
  };
  const close = async () => {
    await Promise.all([...opened].map((channel) => channel.close()));
    await Promise.all([...databases.values()].map((one) => one.close()));
    opened.clear();
    databases.clear();
  };
  t.after(close);
  const { publishBytes } = broker;
  return {
    channel: open(topics.a),
    other: open(topics.b),
    async advance(ms) {
      clock.now += ms;
    },
    ...(publishBytes === undefined ? {} : { publishBytes: (bytes) => publishBytes(topics.a, bytes) }),
    async restart() {
      await close();
      return open(topics.a);
    },
  };
}
