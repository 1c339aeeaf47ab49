import { createHash } from 'node:crypto';
import {
  AckPolicy,
  type Consumer,
  type ConsumerInfo,
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect, headers, type MsgHdrs, type NatsConnection, nanos } from '@nats-io/transport-node';
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

const CONNECT_MS = 5_000;
const PING_MS = 5_000;
/** What nobody says is still worked on goes to somebody else. */
const ACK_WAIT_MS = 30_000;
const WORKING_MS = 10_000;
/** For how long one request for messages stays with the server. */
const FETCH_MS = 30_000;
const DUPLICATES_MS = 120_000;
const TRIM_MS = 30_000;
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
  const consumptions = new Set<{ stop(): Promise<void>; giveBack(): Promise<void> }>();
  const deleteHandled = () => background.run('delete-handled', () => trim(manager, stream));
  const trimmer = setInterval(() => void deleteHandled(), TRIM_MS);
  void connection.closed().then(() => clearInterval(trimmer));
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
      const known = await existing(manager, stream, name);
      if (known === null) await addConsumer(manager, stream, subject, name, again);
      else if (known.config.inactive_threshold !== undefined)
        await manager.consumers.update(stream, name, { inactive_threshold: 0 });
    },
    async unsubscribe(consumer) {
      const name = `${OWN}${brokerName(consumer)}`;
      if ((await existing(manager, stream, name)) !== null)
        await manager.consumers.update(stream, name, { inactive_threshold: nanos(ENDED_MS) });
    },
    async consume(consumer, prefetch, receiver) {
      const pulled = await client.consumers.get(stream, `${OWN}${brokerName(consumer)}`);
      const consumption = consume(pulled, prefetch, receiver);
      consumptions.add(consumption);
      void connection.closed().then(consumption.end);
      return consumption;
    },
    async waiting(consumer) {
      const info = await existing(manager, stream, `${OWN}${brokerName(consumer)}`);
      return info === null ? 0 : info.num_pending;
    },
    async close() {
      clearInterval(trimmer);
      await Promise.allSettled([...consumptions].map((consumption) => consumption.giveBack()));
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
    deliver_policy: everything ? DeliverPolicy.All : DeliverPolicy.New,
    max_ack_pending: -1,
    max_deliver: -1,
  });
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

/** Asks for as many messages as may be in hand, again and again. */
function consume(pulled: Consumer, prefetch: number, receiver: BrokerReceiver) {
  const unsettled = new Set<JsMsg>();
  let stopped = false;
  let request: ConsumerMessages | null = null;
  let roomMade = () => {};
  const room = async () => {
    while (!stopped && unsettled.size >= prefetch)
      await new Promise<void>((resolve) => {
        roomMade = resolve;
      });
  };
  const settle = (message: JsMsg) => {
    unsettled.delete(message);
    roomMade();
  };
  const run = async () => {
    while (!stopped) {
      await room();
      if (stopped) return;
      request = await pulled.fetch({ max_messages: prefetch - unsettled.size, expires: FETCH_MS });
      for await (const message of request) {
        if (stopped) message.nak();
        else {
          unsettled.add(message);
          receiver.message(messageOf(message, settle));
        }
      }
    }
  };
  const worker = setInterval(() => {
    for (const message of unsettled) message.working();
  }, WORKING_MS);
  const ended = run().catch((error: unknown) =>
    receiver.ended(error instanceof Error ? error : new Error(String(error))),
  );
  const stop = async () => {
    stopped = true;
    roomMade();
    await request?.close();
    // Otherwise servers of 2.9 give the closed request what is given back, until somebody asks how the consumer is.
    await pulled.info().catch(() => {});
    await ended;
  };
  return {
    stop,
    /** The connection is closed. */
    end() {
      stopped = true;
      roomMade();
      clearInterval(worker);
    },
    async giveBack() {
      for (const message of unsettled) message.nak();
      unsettled.clear();
      clearInterval(worker);
      await stop();
    },
  } satisfies Consumption & { end(): void; giveBack(): Promise<void> };
}

function messageOf(message: JsMsg, settle: (message: JsMsg) => void): BrokerMessage {
  return {
    content: contentOf(message.data, decodeNats({ headers: pairsOf(message.headers), data: message.data })),
    // A stream that was made anew counts from 1 again.
    position: `${message.seq} ${message.timestamp}`,
    redelivered: true,
    unsettledBefore: message.redelivered,
    async ack() {
      settle(message);
      if (!(await message.ackAck())) throw new Error('NATS did not confirm that the message is done with');
    },
    async giveBack() {
      settle(message);
      message.nak();
    },
  };
}

const pairsOf = (head: MsgHdrs | undefined): [string, string][] =>
  (head?.keys() ?? []).map((name) => [name, head?.get(name) ?? '']);
