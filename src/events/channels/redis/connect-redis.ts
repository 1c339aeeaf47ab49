import { once } from 'node:events';
import { createClient, RESP_TYPES } from '@redis/client';
import { createAnswerWatch } from '../../../lib/redis/answer-watch.ts';
import { decodeRedis, encodeRedis, type RedisFields } from '../../cloudevents/redis.ts';
import type { BrokerConnection, BrokerMessage, BrokerReceiver, ConnectInput } from '../broker/broker.ts';
import { contentOf } from '../broker/content.ts';
import { ChannelFull } from '../channel.ts';

const CONNECT_MS = 5_000;
const PING_MS = 5_000;
/** A connection that says nothing for so long is lost. */
const SILENCE_MS = 15_000;
/** For how long one request for messages stays with the server. */
const BLOCK_MS = 5_000;
/** What nobody says is still worked on goes to somebody else. */
const ABANDONED_MS = 7_500;
const WORKING_MS = 2_000;
const TRIM_MS = 30_000;
/** A subscription that was ended is forgotten after so long. */
const ENDED_MS = 86_400_000;

type Client = ReturnType<typeof createRedisClient>;

/**
 * Redis Streams, 7.0 or newer: a topic is a stream, a consumer a consumer group. Beside a stream that was not there before
 * stands a hash, `modelgate:topic:<topic>`, which says that what all groups have done with may be deleted from it.
 */
export async function connectRedis(
  { address, background, instance, topic }: ConnectInput,
  onLost: (error: Error) => void,
): Promise<BrokerConnection> {
  const { hosts, parameters, password, path, scheme, username } = address;
  const options = {
    username: username === '' ? undefined : username,
    password: password === '' ? undefined : password,
    database: Number(path || (parameters.get('db') ?? 0)),
    host: hosts[0]?.host ?? '',
    port: hosts[0]?.port || 6379,
    tls: scheme === 'rediss',
  };
  const client = createRedisClient(options, onLost);
  try {
    await client.connect();
    return await connectionOf({
      client,
      another: () => createRedisClient(options, onLost),
      key: topic,
      instance,
      background,
    });
  } catch (error) {
    client.destroy();
    throw error;
  }
}

interface ClientOptions {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

function createRedisClient(
  { database, host, password, port, tls, username }: ClientOptions,
  onLost: (error: Error) => void,
) {
  const socket = {
    host,
    port,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // The channel connects again itself.
    reconnectStrategy: false as const,
  };
  const client = createClient({
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    name: 'modelgate',
    disableOfflineQueue: true,
    socket: tls ? { ...socket, tls: true } : socket,
  });
  const watch = createAnswerWatch(SILENCE_MS);
  const ping = () => {
    if (!client.isReady) clearInterval(pings);
    else if (!watch.maySend()) onLost(new Error(`Redis has not answered for ${SILENCE_MS / 1_000} s`));
    else client.ping().then(watch.answered, watch.answered);
  };
  let pings: NodeJS.Timeout | undefined;
  client.on('ready', () => {
    pings = setInterval(ping, PING_MS);
  });
  client.on('error', onLost);
  client.on('end', () => {
    clearInterval(pings);
    onLost(new Error('Redis closed the connection'));
  });
  return client;
}

const groupOf = (consumer: string): string => `modelgate:${consumer}`;

/** Answers of Redis that mean that the stream, or the group, is not there. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && /^(NOGROUP|ERR no such key)/.test(error.message);

interface Parts {
  readonly client: Client;
  another(): Client;
  /** Of the stream. */
  readonly key: string;
  readonly instance: string;
  readonly background: ConnectInput['background'];
}

async function connectionOf({
  another,
  background,
  client,
  instance,
  key,
}: Parts): Promise<BrokerConnection> {
  const notes = `modelgate:topic:${key}`;
  if ((await client.exists(key)) === 0) await client.hSet(notes, 'ours', '1');
  const consumptions = new Set<ReturnType<typeof consume>>();
  const deleteHandled = () => background.run('delete-handled', () => trim(client, key, notes));
  const trimmer = setInterval(() => void deleteHandled(), TRIM_MS);
  return {
    warnings: await durabilityWarnings(client),
    async publish(event) {
      try {
        await client.xAdd(key, '*', encodeRedis(event, 'binary'));
      } catch (error) {
        if (error instanceof Error && /^OOM /.test(error.message)) throw new ChannelFull('Redis is full');
        throw error;
      }
    },
    async subscribe(consumer, again) {
      const groups = await groupsOf(client, key);
      const from = again || groups.length === 0 ? '0' : '$';
      if (!groups.some(({ name }) => name === groupOf(consumer)))
        await client.xGroupCreate(key, groupOf(consumer), from, { MKSTREAM: true }).catch(ignoreBusy);
      await client.hDel(notes, `ended:${groupOf(consumer)}`);
    },
    async unsubscribe(consumer) {
      await client.hSet(notes, `ended:${groupOf(consumer)}`, String(Date.now()));
    },
    async consume(consumer, prefetch, receiver) {
      const reader = another();
      await reader.connect();
      const consumption = consume({
        client,
        reader,
        key,
        group: groupOf(consumer),
        instance,
        prefetch,
        receiver,
        background,
      });
      consumptions.add(consumption);
      return consumption;
    },
    async waiting(consumer) {
      const group = (await groupsOf(client, key)).find(({ name }) => name === groupOf(consumer));
      return group === undefined ? 0 : (group.lag ?? null);
    },
    async close() {
      clearInterval(trimmer);
      for (const consumption of consumptions) consumption.end();
      await Promise.allSettled([...consumptions].map((consumption) => consumption.stop()));
      client.destroy();
    },
  };
}

const ignoreBusy = (error: unknown): void => {
  if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
};

/** What Redis forgets of what it has confirmed, by its settings. */
async function durabilityWarnings(client: Client): Promise<string[]> {
  const settings = ['appendonly', 'appendfsync', 'maxmemory', 'maxmemory-policy'];
  // A user of Redis may have no right to ask, and services in the cloud seldom give it.
  const { appendfsync, appendonly, maxmemory, ...others } = await client
    .configGet(settings)
    .catch((): Record<string, string> => ({}));
  const policy = others['maxmemory-policy'];
  const warnings: string[] = [];
  if (appendonly === undefined || appendfsync === undefined)
    warnings.push(
      'Redis does not tell its settings, so it may lose events that it has confirmed. Allow its user CONFIG|GET, or set appendonly to yes, appendfsync to always and maxmemory-policy to noeviction',
    );
  else if (appendonly !== 'yes')
    warnings.push(
      'Redis writes no append-only file: events that it has are lost when it ends. Set appendonly to yes',
    );
  else if (appendfsync !== 'always')
    warnings.push(
      `Redis confirms events before they are on the disk (appendfsync ${appendfsync}): when it is killed, those of the last seconds are lost. Set appendfsync to always`,
    );
  if (policy?.startsWith('allkeys-') === true && maxmemory !== '0')
    warnings.push(
      `Redis deletes streams when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy to noeviction`,
    );
  return warnings;
}

async function groupsOf(client: Client, key: string) {
  try {
    return await client.xInfoGroups(key);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Deletes what every group has done with, and groups whose subscription ended long ago. */
async function trim(client: Client, key: string, notes: string): Promise<void> {
  const { ours, ...others } = await client.hGetAll(notes);
  for (const [name, at] of Object.entries(others)) {
    if (!name.startsWith('ended:') || Date.now() - Number(at) < ENDED_MS) continue;
    await client.xGroupDestroy(key, name.slice('ended:'.length));
    await client.hDel(notes, name);
  }
  const groups = await groupsOf(client, key);
  if (ours === undefined || groups.length === 0) return;
  const oldest: string[] = [];
  for (const group of groups) {
    const pending = group.pending > 0 ? (await client.xPending(key, group.name)).firstId : null;
    oldest.push(pending ?? String(group['last-delivered-id']));
  }
  const [first] = oldest.sort(byId);
  if (first !== undefined) await client.xTrim(key, 'MINID', first as never);
}

/** Ids are two numbers, of up to 64 bits. */
function byId(a: string, b: string): number {
  const [timeA = '0', countA = '0'] = a.split('-');
  const [timeB = '0', countB = '0'] = b.split('-');
  const difference = BigInt(timeA) - BigInt(timeB) || BigInt(countA) - BigInt(countB);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

interface ConsumeInput {
  client: Client;
  /** A connection of its own, for it waits for messages. */
  reader: Client;
  key: string;
  group: string;
  /** Under which name the group knows this gateway. */
  instance: string;
  prefetch: number;
  receiver: BrokerReceiver;
  background: ConnectInput['background'];
}

interface Entry {
  readonly id: Buffer;
  readonly message: RedisFields | null;
}

function consume({ background, client, group, instance, key, prefetch, reader, receiver }: ConsumeInput) {
  const bytes = { [RESP_TYPES.BLOB_STRING]: Buffer } as const;
  const binary = reader.withTypeMapping(bytes);
  const claiming = client.withTypeMapping(bytes);
  const unsettled = new Set<string>();
  let stopped = false;
  let roomMade = () => {};
  const settle = (id: string) => {
    unsettled.delete(id);
    roomMade();
  };
  const hasRoom = () => unsettled.size < prefetch;
  const room = async () => {
    while (!stopped && !hasRoom())
      await new Promise<void>((resolve) => {
        roomMade = resolve;
      });
  };
  const handOver = async (entries: readonly Entry[], unsettledBefore: boolean) => {
    for (const { id, message } of entries) {
      const name = id.toString();
      // Deleted from the stream while it was pending.
      if (message === null) await client.xAck(key, group, name);
      else if (!unsettled.has(name)) {
        unsettled.add(name);
        receiver.message(messageOf(name, message, unsettledBefore));
      }
    }
  };
  const messageOf = (id: string, fields: RedisFields, unsettledBefore: boolean): BrokerMessage => ({
    content: contentOf(fields['event'] ?? fields['data'] ?? rawText(fields), decodeRedis(fields)),
    position: id,
    redelivered: true,
    unsettledBefore,
    async ack() {
      settle(id);
      await client.xAck(key, group, id);
    },
    async giveBack() {
      settle(id);
      await client.xClaimJustId(key, group, instance, 0, id, { IDLE: ABANDONED_MS });
    },
  });
  const read = async (from: string) => {
    const count = prefetch - unsettled.size;
    const reply = await binary.xReadGroup(
      group,
      instance,
      { key, id: from },
      { COUNT: count, BLOCK: BLOCK_MS },
    );
    return (reply ?? []).flatMap(({ messages }) => messages as Entry[]);
  };
  const run = async () => {
    // What this gateway had in hand before it was connected this time.
    for (let from = '0'; !stopped; ) {
      await room();
      const entries = await read(from);
      if (entries.length === 0) break;
      await handOver(entries, true);
      from = entries.at(-1)?.id.toString() ?? from;
    }
    while (!stopped) {
      await room();
      if (!stopped) await handOver(await read('>'), false);
    }
  };
  const keepAndClaim = async () => {
    const ids = [...unsettled];
    if (ids.length > 0) await client.xClaimJustId(key, group, instance, 0, ids);
    const count = prefetch - unsettled.size;
    if (count <= 0) return;
    const { messages } = await claiming.xAutoClaim(key, group, instance, ABANDONED_MS, '0-0', {
      COUNT: count,
    });
    await handOver(messages as Entry[], true);
  };
  const worker = setInterval(() => void background.run('renew-leases', keepAndClaim), WORKING_MS);
  void run().catch((error: unknown) => {
    // Otherwise it would go on claiming messages that nobody takes from it.
    clearInterval(worker);
    if (!stopped) receiver.onEnd(error instanceof Error ? error : new Error(String(error)));
  });
  return {
    /** Nothing of it can be settled any more. */
    end: () => clearInterval(worker),
    async stop() {
      stopped = true;
      roomMade();
      if (!reader.isOpen) return;
      const ended = once(reader, 'end');
      reader.destroy();
      await ended;
    },
  };
}

/** Fields that no binding knows, as the text of an object. */
function rawText(fields: RedisFields): Buffer {
  const texts = Object.entries(fields).map(([name, value]) => [name, Buffer.from(value).toString()]);
  return Buffer.from(JSON.stringify(Object.fromEntries(texts)));
}
