import {
  type Channel,
  type ChannelModel,
  type ConfirmChannel,
  type ConsumeMessage,
  connect,
  type Options,
} from 'amqplib';
import { decodeAmqp091, encodeAmqp091 } from '../../cloudevents/amqp.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Address } from '../broker/address.ts';
import type { BrokerConnection, BrokerMessage, ConnectInput } from '../broker/broker.ts';
import { contentOf, eventPosition } from '../broker/content.ts';
import { brokerName } from '../broker/name.ts';
import { ChannelFull } from '../channel.ts';

/** Seconds. A server that is silent for twice as long is gone. */
const HEARTBEAT_S = 5;
const CONNECT_MS = 10_000;
/** The greatest number that the protocol knows for it. */
const MOST_PREFETCH = 65_535;
const LONGEST_KEY = 255;
const quorum = { durable: true, arguments: { 'x-queue-type': 'quorum' } };

/**
 * RabbitMQ: a durable exchange with the name of the topic, and a quorum queue for each consumer. `amqp://host/vhost`, and
 * `?heartbeat=` in seconds.
 */
export async function connectAmqp(
  { address, topic }: ConnectInput,
  onLost: (error: Error) => void,
): Promise<BrokerConnection> {
  const model = await connect(optionsOf(address), { timeout: CONNECT_MS, noDelay: true });
  let fault: Error | null = null;
  let closing = false;
  model.on('error', (error) => {
    fault ??= error;
  });
  model.on('close', () => {
    if (!closing) onLost(fault ?? new Error('RabbitMQ ended the connection'));
  });
  /** A channel that fails takes the connection with it, so that everything is set up again. */
  const openChannel = async <C extends Channel>(opening: Promise<C>): Promise<C> => {
    const channel = await opening;
    channel.on('error', (error) => {
      fault ??= error;
      close(model);
    });
    return channel;
  };
  try {
    await declareExchange(model, topic);
    const control = await openChannel(model.createChannel());
    const publisher = await openChannel(model.createConfirmChannel());
    const close = async () => {
      closing = true;
      await model.close().catch(() => {});
    };
    return connectionOf({ model, topic, control, publisher, openChannel, close });
  } catch (error) {
    close(model);
    throw error;
  }
}

function optionsOf({ hosts, parameters, password, path, scheme, username }: Address): Options.Connect {
  const [{ host, port } = { host: '', port: 0 }] = hosts;
  return {
    protocol: scheme,
    hostname: host,
    ...(port === 0 ? {} : { port }),
    ...(username === '' ? {} : { username, password }),
    vhost: path === '' ? '/' : path,
    heartbeat: Number(parameters.get('heartbeat') ?? HEARTBEAT_S),
  };
}

interface Parts {
  readonly model: ChannelModel;
  close(): Promise<void>;
  readonly topic: string;
  readonly control: Channel;
  readonly publisher: ConfirmChannel;
  openChannel<C extends Channel>(opening: Promise<C>): Promise<C>;
}

function connectionOf({ close, control, model, openChannel, publisher, topic }: Parts): BrokerConnection {
  const publish = publishing(model, control, publisher, topic);
  return {
    warnings: [],
    publish,
    async subscribe(consumer) {
      const queue = queueName(topic, consumer);
      await control.assertQueue(queue, quorum);
      await control.bindQueue(queue, topic, '#');
      await moveMessages(model, publisher, unclaimedQueue(topic), queue);
    },
    async unsubscribe(consumer) {
      const queue = queueName(topic, consumer);
      await control.assertQueue(queue, quorum);
      await control.unbindQueue(queue, topic, '#');
    },
    async consume(consumer, prefetch, receiver) {
      const channel = await openChannel(model.createChannel());
      await channel.prefetch(Math.min(prefetch, MOST_PREFETCH));
      const { consumerTag } = await channel.consume(queueName(topic, consumer), (message) => {
        if (message === null) receiver.onEnd(new Error('The queue was deleted'));
        else receiver.message(messageOf(message, channel));
      });
      return {
        async stop() {
          await channel.cancel(consumerTag);
        },
      };
    },
    waiting: async (consumer) => (await control.checkQueue(queueName(topic, consumer))).messageCount,
    close,
  };
}

function publishing(model: ChannelModel, control: Channel, publisher: ConfirmChannel, topic: string) {
  const unclaimed = unclaimedQueue(topic);
  /** Messages that came back, because no queue wants them: before they are confirmed. */
  const returned = new Set<string>();
  let blocked = false;
  let declared: Promise<unknown> | null = null;
  publisher.on('return', ({ properties }) => returned.add(nameOf(properties)));
  model.on('blocked', () => {
    blocked = true;
  });
  model.on('unblocked', () => {
    blocked = false;
  });
  return async (event: CloudEvent): Promise<void> => {
    if (blocked) throw new ChannelFull('RabbitMQ is low on memory or disk, and takes no messages');
    const { body, properties } = encodeAmqp091(event, 'binary');
    const key = routingKey(event.attributes.type);
    await confirmed(publisher, topic, key, Buffer.from(body), { ...properties, mandatory: true });
    if (!returned.delete(nameOf(properties))) return;
    declared ??= control.assertQueue(unclaimed, quorum);
    await declared;
    await confirmed(publisher, '', unclaimed, Buffer.from(body), properties);
  };
}

/** What tells a message that came back from others under way. */
function nameOf(properties: { messageId?: string; headers?: Readonly<Record<string, unknown>> }): string {
  return JSON.stringify([properties.messageId, properties.headers?.['cloudEvents_source']]);
}

/** Resolves when RabbitMQ has written it. @throws when it refuses it, or the connection ends before */
async function confirmed(
  channel: ConfirmChannel,
  exchange: string,
  key: string,
  body: Buffer,
  options: object,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    channel.publish(exchange, key, body, options, (error: unknown) => {
      if (error === null || error === undefined) resolve();
      else reject(new Error('RabbitMQ did not confirm the message'));
    });
  });
}

/** An exchange that is there already stays as it is: any type will do that takes the binding key `#`. */
async function declareExchange(model: ChannelModel, topic: string): Promise<void> {
  if (await exists(model, (channel) => channel.checkExchange(topic))) return;
  const channel = await model.createChannel();
  channel.on('error', () => {});
  await channel.assertExchange(topic, 'topic', { durable: true });
  await channel.close();
}

/** Asking for what is not there closes the channel. */
async function exists(model: ChannelModel, check: (channel: Channel) => Promise<unknown>): Promise<boolean> {
  const channel = await model.createChannel();
  channel.on('error', () => {});
  try {
    await check(channel);
  } catch {
    return false;
  }
  await channel.close();
  return true;
}

async function moveMessages(
  model: ChannelModel,
  publisher: ConfirmChannel,
  from: string,
  to: string,
): Promise<void> {
  if (!(await exists(model, (channel) => channel.checkQueue(from)))) return;
  const channel = await model.createChannel();
  channel.on('error', () => {});
  for (let one = await channel.get(from); one !== false; one = await channel.get(from)) {
    await confirmed(publisher, '', to, one.content, one.properties);
    channel.ack(one);
  }
  await channel.close();
}

function messageOf(message: ConsumeMessage, channel: Channel): BrokerMessage {
  const { content: body, fields, properties } = message;
  const contentType: string | undefined = properties.contentType;
  const headers = Object.entries(properties.headers ?? {}).map(([name, value]) => [name, plainValue(value)]);
  const decoded = decodeAmqp091({ properties: { contentType, headers: Object.fromEntries(headers) }, body });
  const content = contentOf(body, decoded);
  return {
    content,
    position: eventPosition(content),
    redelivered: fields.redelivered,
    unsettledBefore: fields.redelivered,
    ack: async () => channel.ack(message),
    giveBack: async () => channel.nack(message, false, true),
  };
}

/** Times come as seconds since the epoch, marked as such. */
function plainValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('!' in value) || !('value' in value)) return value;
  return value['!'] === 'timestamp' ? new Date(Number(value.value) * 1_000) : value.value;
}

/** The queue of one consumer. No consumer has an empty name: that queue keeps what is published before any has one. */
const queueName = (topic: string, consumer: string): string => `${brokerName(topic)}.${brokerName(consumer)}`;
const unclaimedQueue = (topic: string): string => queueName(topic, '');

/** The type of the event, so that others can bind queues of their own to some types: `com.example.#`. */
const routingKey = (type: string): string => (Buffer.byteLength(type) <= LONGEST_KEY ? type : '');

const close = (model: ChannelModel) => void model.close().catch(() => {});
