import { type Admin, Kafka, type KafkaConfig, logLevel, Partitioners, type SASLOptions } from 'kafkajs';
import type { CloudEvent } from '../../cloudevents/event.ts';
import { encodeKafka, partitionKey } from '../../cloudevents/kafka.ts';
import { type Address, choice } from '../broker/address.ts';
import type { BrokerConnection, ConnectInput } from '../broker/broker.ts';
import { brokerName } from '../broker/name.ts';
import { inBatches } from './batches.ts';
import { type GroupMember, joinGroup } from './group-member.ts';

const CONNECT_MS = 8_000;
const REQUEST_MS = 10_000;
const DEFAULT_PORT = 9092;
const ALL_REPLICAS = -1;
const RETRIES = 2;

/**
 * Kafka: a topic, and a consumer group for each consumer.
 * `?tls=true&mechanism=plain|scram-sha-256|scram-sha-512&partition_by=none|partitionkey|source`: the last is what the key of a
 * record is made of, which decides its partition; events in one partition keep their order.
 */
export async function connectKafka({ address, background, topic }: ConnectInput): Promise<BrokerConnection> {
  const keyOf = choice<(event: CloudEvent) => string | null>(address, 'partition_by', {
    none: () => null,
    partitionkey: partitionKey,
    source: ({ attributes }) => attributes.source,
  });
  const kafka = new Kafka(configOf(address));
  const producer = kafka.producer({
    // One request at a time, so that a repeated one does not change the order.
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
    retry: { retries: RETRIES },
  });
  const admin = kafka.admin({ retry: { retries: RETRIES } });
  const disconnect = async () => {
    await Promise.allSettled([producer.disconnect(), admin.disconnect()]);
  };
  try {
    await Promise.all([producer.connect(), admin.connect()]);
    const fresh = !(await admin.listTopics()).includes(topic);
    const publish = inBatches(async (events: readonly CloudEvent[]) => {
      const messages = events.map((event) => {
        const { headers, key, value } = encodeKafka(event, 'binary', keyOf);
        return { headers, key: key && Buffer.from(key), value: value && Buffer.from(value) };
      });
      await producer.send({ topic, acks: ALL_REPLICAS, messages });
    });
    return connectionOf({ kafka, admin, topic, fresh, publish, disconnect, background });
  } catch (error) {
    await disconnect();
    throw error;
  }
}

function configOf(address: Address): KafkaConfig {
  const { hosts, password, username } = address;
  const login = { username, password };
  const sasl = choice<SASLOptions>(address, 'mechanism', {
    plain: { mechanism: 'plain', ...login },
    'scram-sha-256': { mechanism: 'scram-sha-256', ...login },
    'scram-sha-512': { mechanism: 'scram-sha-512', ...login },
  });
  return {
    clientId: 'modelgate',
    brokers: hosts.map(
      ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port || DEFAULT_PORT}`,
    ),
    ssl: choice(address, 'tls', { false: false, true: true }),
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    logLevel: logLevel.NOTHING,
    ...(username === '' ? {} : { sasl }),
  };
}

interface Parts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly topic: string;
  /** Whether nobody had the topic before: then its first group gets it from the beginning. */
  readonly fresh: boolean;
  publish(event: CloudEvent): Promise<void>;
  disconnect(): Promise<void>;
  readonly background: ConnectInput['background'];
}

function connectionOf({
  admin,
  background,
  disconnect,
  fresh,
  kafka,
  publish,
  topic,
}: Parts): BrokerConnection {
  const members = new Map<string, GroupMember>();
  let isFirst = fresh;
  const groupOf = (consumer: string) => `${brokerName(topic)}.${brokerName(consumer)}`;
  const leave = async (consumer: string) => {
    const member = members.get(consumer);
    members.delete(consumer);
    await member?.leave();
  };
  return {
    warnings: [],
    publish,
    async subscribe(consumer, again) {
      if (members.has(consumer)) return;
      const start = isFirst || again ? 'low' : 'high';
      isFirst = false;
      if ((await committedOffsets(admin, topic, groupOf(consumer))).size > 0) return;
      const offsets = await admin.fetchTopicOffsets(topic);
      // Only members may commit.
      const member = await joinGroup({ kafka, topic, group: groupOf(consumer), background });
      members.set(consumer, member);
      await member.commit(new Map(offsets.map((one) => [one.partition, BigInt(one[start])])));
    },
    // A group collects nothing: the topic has all of it.
    unsubscribe: leave,
    async consume(consumer, prefetch, receiver) {
      const before = members.get(consumer);
      if (before?.isConsuming === true) await leave(consumer);
      const member =
        members.get(consumer) ?? (await joinGroup({ kafka, topic, group: groupOf(consumer), background }));
      members.set(consumer, member);
      member.begin(prefetch, receiver);
      return { stop: () => leave(consumer) };
    },
    async waiting(consumer) {
      const offsets = await committedOffsets(admin, topic, groupOf(consumer));
      const positions = members.get(consumer)?.positions();
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.reduce((sum, { high, low, partition }) => {
        const next = positions?.get(partition) ?? offsets.get(partition) ?? BigInt(low);
        return sum + Number(BigInt(high) - next);
      }, 0);
    },
    async close() {
      await Promise.allSettled([...members.keys()].map(leave));
      await disconnect();
    },
  };
}

async function committedOffsets(admin: Admin, topic: string, groupId: string): Promise<Map<number, bigint>> {
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const all = (offsets?.partitions ?? []).map(
    ({ offset, partition }) => [partition, BigInt(offset)] as const,
  );
  return new Map(all.filter(([, offset]) => offset >= 0n));
}
