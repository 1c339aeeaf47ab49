import { createHash, randomUUID } from 'node:crypto';
import type { IPublishPacket } from 'mqtt-packet';
import { decodeMqtt, encodeMqtt } from '../../cloudevents/mqtt.ts';
import type { Address } from '../broker/address.ts';
import type { BrokerConnection, BrokerMessage, ConnectInput } from '../broker/broker.ts';
import { contentOf, eventPosition } from '../broker/content.ts';
import { brokerName } from '../broker/name.ts';
import { createInOrder } from '../in-order.ts';
import {
  type MqttConnection,
  type MqttInput,
  type MqttVersion,
  OldMqttServer,
  openMqtt,
} from './connection.ts';

const PORT = 1883;
const TLS_PORT = 8883;
/** The greatest number that the protocol knows for it. */
const MOST_PREFETCH = 65_535;

/** MQTT: a topic, and for each consumer a session that the server keeps. `?version=5` or `?version=3.1.1` tries no other. */
export async function connectMqtt(
  input: ConnectInput,
  onLost: (error: Error) => void,
): Promise<BrokerConnection> {
  const [first, second] = versionsOf(input.address);
  try {
    return await connectWith(first, input, onLost);
  } catch (error) {
    if (second === undefined || !(error instanceof OldMqttServer)) throw error;
    return connectWith(second, input, onLost);
  }
}

/** Those to try, the first one first. */
function versionsOf({ parameters }: Address): readonly [MqttVersion, MqttVersion?] {
  const version = parameters.get('version');
  if (version === undefined) return [5, 4];
  if (version === '5') return [5];
  if (version === '3.1.1') return [4];
  throw new Error('version must be 5 or 3.1.1');
}

type OwnInput = Omit<MqttInput, 'server' | 'version'>;

async function connectWith(
  version: MqttVersion,
  { address, instance, topic }: ConnectInput,
  onLost: (error: Error) => void,
): Promise<BrokerConnection> {
  const { hosts, password, scheme, username } = address;
  const [{ host, port } = { host: '', port: 0 }] = hosts;
  const tls = scheme === 'mqtts';
  const server = { host, port: port || (tls ? TLS_PORT : PORT), tls, username, password };
  const open = (own: OwnInput) => openMqtt({ server, version, ...own });
  const publisher = await open({
    clientId: `modelgate-${randomUUID()}`,
    persistent: false,
    receiveMaximum: 1,
    onMessage: () => {},
    onClose: onLost,
  });
  return connectionOf({ version, topic, instance, publisher, open });
}

interface Parts {
  readonly version: MqttVersion;
  readonly topic: string;
  readonly instance: string;
  readonly publisher: MqttConnection;
  open(own: OwnInput): Promise<MqttConnection>;
}

function connectionOf({ instance, open, publisher, topic, version }: Parts): BrokerConnection {
  /** The sessions that are connected, by consumer. */
  const consuming = new Map<string, MqttConnection>();
  const idle = { receiveMaximum: 1, onMessage: () => {}, onClose: () => {} };
  const openSession = (consumer: string, own: Omit<OwnInput, 'clientId' | 'persistent'>) =>
    open({ clientId: clientId(instance, topic, consumer), persistent: true, ...own });
  /** With shared subscriptions, gateways that have the same trigger get each event once together. */
  const filterOf = (consumer: string, { sharedSubscriptions }: MqttConnection) =>
    sharedSubscriptions ? `$share/${brokerName(consumer)}/${topic}` : topic;

  return {
    warnings: [],
    async publish(event) {
      const { payload, properties } = encodeMqtt(event, version === 5 ? 'binary' : 'structured');
      await publisher.publish(topic, payload, version === 5 ? properties : undefined);
    },
    async subscribe(consumer) {
      if (consuming.has(consumer)) return;
      const session = await openSession(consumer, idle);
      await session.subscribe(filterOf(consumer, session));
      session.close();
    },
    async unsubscribe(consumer) {
      const session = consuming.get(consumer) ?? (await openSession(consumer, idle));
      await session.unsubscribe(filterOf(consumer, session));
      if (!consuming.has(consumer)) session.close();
    },
    async consume(consumer, prefetch, receiver) {
      const unsettled = createInOrder<number>();
      let stopped = false;
      const settle = (messageId: number | undefined, session: MqttConnection) => {
        if (consuming.get(consumer) !== session) throw new Error('The session is not connected');
        if (messageId === undefined) return;
        for (const id of unsettled.settle(messageId)) session.acknowledge(id);
      };
      const session = await openSession(consumer, {
        receiveMaximum: Math.min(prefetch, MOST_PREFETCH),
        onMessage(packet, own) {
          consuming.set(consumer, own);
          if (packet.messageId !== undefined) unsettled.add(packet.messageId);
          receiver.message(messageOf(packet, version, () => settle(packet.messageId, own)));
        },
        onClose(error) {
          consuming.delete(consumer);
          if (!stopped) receiver.onEnd(error);
        },
      });
      consuming.set(consumer, session);
      return {
        async stop() {
          stopped = true;
          session.close();
        },
      };
    },
    waiting: async () => null,
    async close() {
      for (const session of [...consuming.values(), publisher]) session.close();
    },
  };
}

function messageOf(packet: IPublishPacket, version: MqttVersion, settle: () => void): BrokerMessage {
  const payload = Buffer.from(packet.payload);
  const properties = version === 5 ? (packet.properties ?? {}) : null;
  const content = contentOf(payload, decodeMqtt({ properties, payload }));
  return {
    content,
    position: eventPosition(content),
    redelivered: packet.dup,
    // A session that only subscribes may have been sent it too.
    unsettledBefore: null,
    ack: async () => settle(),
    // The server gives it again at the next connection of this session.
    giveBack: async () => {},
  };
}

/** Every server takes 23 letters and digits. */
function clientId(instance: string, topic: string, consumer: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([instance, topic, consumer]))
    .digest('hex');
  return `mg${digest.slice(0, 21)}`;
}
