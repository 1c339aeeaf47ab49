import type { Consumer, Kafka, KafkaMessage } from 'kafkajs';
import { decodeKafka } from '../../cloudevents/kafka.ts';
import type { BrokerMessage, BrokerReceiver, ConnectInput } from '../broker/broker.ts';
import { contentOf } from '../broker/content.ts';
import { createInOrder, type InOrder } from '../in-order.ts';

/** Of one partition, and of all together, in one answer. */
const MOST_PARTITION_BYTES = 1_048_576;
const MOST_BYTES = 4 * 1_048_576;
/** How long Kafka may wait for messages before it answers; pausing and leaving wait for that. */
const LONGEST_FETCH_MS = 500;
/** After this time Kafka gives the partitions of a member that died to others. */
const SESSION_MS = 10_000;
const HEARTBEAT_MS = 2_000;

/** This process in a consumer group. */
export interface GroupMember {
  /** Whether messages are handed over. Until then they stay where they are. */
  readonly isConsuming: boolean;
  /** @param prefetch messages that are not settled, beyond which no more are fetched */
  begin(prefetch: number, receiver: BrokerReceiver): void;
  /** Commits offsets, by partition. */
  commit(offsets: ReadonlyMap<number, bigint>): Promise<void>;
  /** Offsets behind the last message of each partition that was handed over. */
  positions(): ReadonlyMap<number, bigint>;
  /** Commits what is settled, and leaves the group. What is not settled comes again to whoever has its partition next. */
  leave(): Promise<void>;
}

/** One partition, as long as it is this member's. */
interface Partition {
  readonly offsets: InOrder<bigint>;
  next: bigint;
}

interface Taker {
  readonly prefetch: number;
  readonly receiver: BrokerReceiver;
}

interface JoinInput {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly group: string;
  readonly background: ConnectInput['background'];
}

/** Joins a group, and resolves when it has partitions, or none are left for it. */
export async function joinGroup({ background, group, kafka, topic }: JoinInput): Promise<GroupMember> {
  const consumer = kafka.consumer({
    groupId: group,
    maxBytesPerPartition: MOST_PARTITION_BYTES,
    maxBytes: MOST_BYTES,
    maxWaitTimeInMs: LONGEST_FETCH_MS,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    // The channel connects again, so that it knows of the trouble.
    retry: { retries: 5, restartOnFailure: async () => false },
  });
  const commits = createCommits(consumer, topic, background);
  let partitions = new Map<number, Partition>();
  let taker: Taker | null = null;
  let paused = false;
  let left = false;

  const pace = () => {
    const unsettled = [...partitions.values()].reduce((sum, { offsets }) => sum + offsets.unsettled, 0);
    const full = taker === null || unsettled >= taker.prefetch;
    if (left || full === paused) return;
    paused = full;
    if (full) consumer.pause([{ topic }]);
    else consumer.resume([{ topic }]);
  };
  const settle = (partition: Partition, number: number, offset: bigint) => {
    // It is not committed, so it comes again when the group is joined anew, and is settled then.
    if (left) return;
    const last = partition.offsets.settle(offset).at(-1);
    // Whoever has the partition now began behind what was committed before.
    if (last !== undefined && partitions.get(number) === partition) commits.add(number, last + 1n);
    pace();
  };
  const handOver = (number: number, message: KafkaMessage, { receiver }: Taker) => {
    const offset = BigInt(message.offset);
    const partition = partitions.get(number) ?? { offsets: createInOrder<bigint>(), next: offset };
    partitions.set(number, partition);
    partition.offsets.add(offset);
    partition.next = offset + 1n;
    receiver.message(messageOf(message, `${number}:${offset}`, () => settle(partition, number, offset)));
  };

  consumer.on('consumer.group_join', () => {
    partitions = new Map();
    commits.forget();
  });
  consumer.on('consumer.crash', ({ payload: { error } }) => {
    if (!left) taker?.receiver.onEnd(error);
  });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, isRunning, isStale, resolveOffset }) => {
      for (const message of batch.messages) {
        if (left || taker === null || !isRunning() || isStale()) return;
        handOver(batch.partition, message, taker);
        resolveOffset(message.offset);
      }
      pace();
    },
  });
  pace();
  return {
    get isConsuming() {
      return taker !== null;
    },
    begin(prefetch, receiver) {
      taker = { prefetch, receiver };
      pace();
    },
    async commit(offsets) {
      await consumer.commitOffsets(committed(topic, offsets));
    },
    positions: () => new Map([...partitions].map(([number, { next }]) => [number, next])),
    async leave() {
      if (left) return;
      await commits.finished();
      left = true;
      await consumer.disconnect();
    },
  };
}

function messageOf(message: KafkaMessage, position: string, settle: () => void): BrokerMessage {
  const { headers = {}, key, value } = message;
  return {
    content: contentOf(value ?? new Uint8Array(), decodeKafka({ key, value, headers })),
    position,
    // Kafka does not tell, and the position is exact.
    redelivered: true,
    unsettledBefore: null,
    ack: async () => settle(),
    // It is not committed, so it comes again when the group is joined anew.
    giveBack: async () => {},
  };
}

const committed = (topic: string, offsets: ReadonlyMap<number, bigint>) =>
  [...offsets].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }));

/** Commits offsets, one request at a time. What is not committed comes again, so a failure needs no more than the next one. */
function createCommits(consumer: Consumer, topic: string, background: ConnectInput['background']) {
  const offsets = new Map<number, bigint>();
  let committing: Promise<void> | null = null;
  const commit = async () => {
    while (offsets.size > 0) {
      const next = committed(topic, offsets);
      offsets.clear();
      await background.run('commit-handled', () => consumer.commitOffsets(next));
    }
    committing = null;
  };
  return {
    add(partition: number, offset: bigint) {
      offsets.set(partition, offset);
      committing ??= commit();
    },
    forget: () => offsets.clear(),
    finished: async () => committing,
  };
}
