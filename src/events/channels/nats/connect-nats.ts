import { createHash } from 'node:crypto';
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import {
  connect,
  deadline,
  headers,
  type MsgHdrs,
  type NatsConnection,
  nanos,
} from '@nats-io/transport-node';
import type { CloudEvent } from '../../cloudevents/event.ts';
import { decodeNats, encodeNats } from '../../cloudevents/nats.ts';
import type { Address } from '../broker/address.ts';
import type {
  BrokerConnection,
  BrokerMessage,
  BrokerReceiver,
  ConnectInput,
  Consumption,
} from '../broker/broker.ts';
import { contentOf } from '../broker/content.ts';
import { brokerName } from '../broker/name.ts';
import { createPull, type StreamMessage } from './pull.ts';

const CONNECT_MS = 5_000;
const PING_MS = 5_000;
/** What nobody says is still worked on goes to somebody else. */
const ACK_WAIT_MS = 8_000;
const WORKING_MS = 2_500;
/** How long the last words of a connection may take. */
const FLUSH_MS = 1_000;
const DUPLICATES_MS = 120_000;
const TRIM_MS = 30_000;
/** After so many settled messages what is done with is deleted sooner: a server that is killed may forget what was settled. */
const TRIM_AFTER = 2_000;
/** A subscription that was ended is forgotten after so long. */
const ENDED_MS = 86_400_000;
/** Streams that begin so are ours: what all have done with is deleted from them. */
const OWN = 'modelgate_';

/**
 * NATS JetStream, 2.9 or newer: a topic is a subject, in the stream that has it or else in one of its own; a consumer is a
 * durable pull consumer. `?replicas=3` is for a new stream.
 */
export async function connectNats(
  { address, background, topic: subject }: ConnectInput,
  onLost: (error: Error) => void,
): Promise<BrokerConnection> {
  const connection = await connect(optionsOf(address));
  void connection.closed().then((error) => onLost(error ?? new Error('NATS closed the connection')));
  try {
    const manager = await jetstreamManager(connection);
    const stream = await streamOf(manager, subject, Number(address.parameters.get('replicas') ?? 1));
    return connectionOf({ connection, manager, stream, subject, background });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function optionsOf({ hosts, password, scheme, username }: Address) {
  const credentials = password === '' ? { token: username } : { user: username, pass: password };
  return {
    servers: hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port || 4222}`),
    ...(username === '' ? {} : credentials),
    ...(scheme === 'tls' ? { tls: {} } : {}),
    name: 'modelgate',
    timeout: CONNECT_MS,
    // The channel connects again itself.
    reconnect: false,
    pingInterval: PING_MS,
    maxPingOut: 2,
  };
}

/** The name of the stream that has the subject. Makes one when there is none. */
async function streamOf(manager: JetStreamManager, subject: string, replicas: number): Promise<string> {
  try {
    return await manager.streams.find(subject);
  } catch {
    const name = `${OWN}${brokerName(subject)}`;
    await manager.streams.add({
      name,
      subjects: [subject],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      duplicate_window: nanos(DUPLICATES_MS),
      num_replicas: replicas,
    });
    return name;
  }
}

interface Parts {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly subject: string;
  readonly background: ConnectInput['background'];
}

function connectionOf({ background, connection, manager, stream, subject }: Parts): BrokerConnection {
  const client = jetstream(connection);
  const consumptions = new Set<Consumption>();
  const hands = new Map<string, Hand>();
  const deleteHandled = () => background.run('delete-handled', () => trim(manager, stream));
  const trimmer = setInterval(() => void deleteHandled(), TRIM_MS);
  let settledSinceTrim = 0;
  const settled = () => {
    settledSinceTrim += 1;
    if (settledSinceTrim < TRIM_AFTER) return;
    settledSinceTrim = 0;
    void deleteHandled();
  };
  const worker = setInterval(() => {
    for (const hand of hands.values()) for (const message of hand.messages()) message.inProgress();
  }, WORKING_MS);
  const endTimers = () => {
    clearInterval(trimmer);
    clearInterval(worker);
  };
  void connection.closed().then(endTimers);
  return {
    warnings: [],
    async publish(event) {
      const { data, headers: fields } = encodeNats(event, 'binary');
      const head = headers();
      for (const [name, value] of fields) head.set(name, value);
      await client.publish(subject, data, { headers: head, msgID: messageId(subject, event) });
    },
    async subscribe(consumer, again) {
      const name = `${OWN}${brokerName(consumer)}`;
      const existingConsumer = await existing(manager, stream, name);
      if (existingConsumer === null) await addConsumer(manager, stream, subject, name, again);
      else if (existingConsumer.config.inactive_threshold !== undefined)
        await manager.consumers.update(stream, name, { inactive_threshold: 0 });
    },
    async unsubscribe(consumer) {
      const name = `${OWN}${brokerName(consumer)}`;
      if ((await existing(manager, stream, name)) !== null)
        await manager.consumers.update(stream, name, { inactive_threshold: nanos(ENDED_MS) });
    },
    async consume(consumer, prefetch, receiver) {
      const name = `${OWN}${brokerName(consumer)}`;
      const hand = hands.get(name) ?? createHand(settled);
      hands.set(name, hand);
      const consumption = consume({ connection, stream, name, hand, prefetch, receiver });
      consumptions.add(consumption);
      return consumption;
    },
    async waiting(consumer) {
      const info = await existing(manager, stream, `${OWN}${brokerName(consumer)}`);
      return info === null ? 0 : info.num_pending;
    },
    async close() {
      endTimers();
      await Promise.allSettled([...consumptions].map((consumption) => consumption.stop()));
      if (!connection.isClosed()) {
        for (const hand of hands.values()) for (const message of hand.messages()) message.giveBack();
        await deadline(connection.flush(), FLUSH_MS).catch(() => {});
      }
      await connection.close().catch(() => {});
    },
  };
}

async function addConsumer(
  manager: JetStreamManager,
  stream: string,
  subject: string,
  name: string,
  again: boolean,
) {
  // The past of somebody else's stream is not meant for us.
  const everything = again || (stream.startsWith(OWN) && (await consumersOf(manager, stream)).length === 0);
  await manager.consumers.add(stream, {
    durable_name: name,
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    ...(everything ? { deliver_policy: DeliverPolicy.All } : await fromNowOn(manager, stream)),
    max_ack_pending: -1,
    max_deliver: -1,
  });
}

/** Not `New`: a server that has lost the position of a consumer would begin behind what came meanwhile. */
async function fromNowOn(manager: JetStreamManager, stream: string) {
  const { state } = await manager.streams.info(stream);
  return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: state.last_seq + 1 };
}

async function existing(
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<ConsumerInfo | null> {
  try {
    return await manager.consumers.info(stream, name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return null;
    throw error;
  }
}

async function consumersOf(manager: JetStreamManager, stream: string): Promise<ConsumerInfo[]> {
  const all: ConsumerInfo[] = [];
  for await (const info of manager.consumers.list(stream)) all.push(info);
  return all;
}

/** Deletes what every consumer has done with. */
async function trim(manager: JetStreamManager, stream: string): Promise<void> {
  if (!stream.startsWith(OWN)) return;
  const done = (await consumersOf(manager, stream)).map(({ ack_floor }) => ack_floor.stream_seq);
  const oldest = Math.min(...done);
  if (done.length > 0 && oldest > 0) await manager.streams.purge(stream, { seq: oldest + 1 });
}

/** Servers drop a message whose id they took within two minutes: one that is sent again because its answer was lost. */
function messageId(subject: string, { attributes: { id, source } }: CloudEvent): string {
  return createHash('sha256')
    .update(JSON.stringify([subject, source, id]))
    .digest('base64url');
}

/** What one consumer has in hand and has not settled, also while nothing is consumed. */
interface Hand {
  readonly size: number;
  messages(): Iterable<StreamMessage>;
  /** A message that is delivered once more takes the place of its earlier delivery. */
  add(message: StreamMessage): void;
  settle(message: StreamMessage): void;
  /** Resolves when fewer than so many are in hand, or `stopWaiting` is called. */
  room(most: number): Promise<void>;
  stopWaiting(): void;
}

function createHand(settled: () => void): Hand {
  const messages = new Map<number, StreamMessage>();
  let wake = () => {};
  return {
    get size() {
      return messages.size;
    },
    messages: () => messages.values(),
    add: (message) => void messages.set(message.sequence, message),
    settle({ sequence }) {
      if (messages.delete(sequence)) settled();
      wake();
    },
    async room(most) {
      if (messages.size < most) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
    stopWaiting: () => wake(),
  };
}

interface ConsumeInput {
  readonly connection: NatsConnection;
  readonly stream: string;
  /** Of the consumer. */
  readonly name: string;
  readonly hand: Hand;
  readonly prefetch: number;
  readonly receiver: BrokerReceiver;
}

/** Asks for as many messages as may be in hand, again and again. */
function consume({ connection, hand, name, prefetch, receiver, stream }: ConsumeInput): Consumption {
  let stopped = connection.isClosed();
  const handOver = (message: StreamMessage) => receiver.message(messageOf(message, hand));
  const pull = createPull({
    connection,
    stream,
    consumer: name,
    timeoutMs: CONNECT_MS,
    message(message) {
      hand.add(message);
      handOver(message);
    },
  });
  const run = async () => {
    // What an earlier consumption left, if that has ended: the server counts it as handed over.
    for (const message of [...hand.messages()]) handOver(message);
    while (!stopped) {
      if (hand.size < prefetch) await pull.request(prefetch - hand.size);
      else await hand.room(prefetch);
    }
  };
  const ended = run()
    .catch((error: unknown) => {
      if (!stopped) receiver.onEnd(error instanceof Error ? error : new Error(String(error)));
    })
    .finally(pull.close);
  const end = () => {
    stopped = true;
    hand.stopWaiting();
  };
  void connection.closed().then(end);
  return {
    async stop() {
      end();
      await ended;
    },
  };
}

function messageOf(message: StreamMessage, hand: Hand): BrokerMessage {
  const { data, headers: head, redelivered, sequence, time } = message;
  return {
    content: contentOf(data, decodeNats({ headers: pairsOf(head), data })),
    // A stream that was made anew counts from 1 again.
    position: `${sequence} ${time}`,
    numbered: { number: sequence, time: BigInt(time) },
    redelivered: true,
    unsettledBefore: redelivered,
    async ack() {
      hand.settle(message);
      await message.ack();
    },
    async giveBack() {
      hand.settle(message);
      message.giveBack();
    },
  };
}

const pairsOf = (head: MsgHdrs | undefined): [string, string][] =>
  (head?.keys() ?? []).map((name) => [name, head?.get(name) ?? '']);
