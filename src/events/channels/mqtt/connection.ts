import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { generate, type IConnackPacket, type IPublishPacket, type Packet, parser } from 'mqtt-packet';

/** Version 5, or 3.1.1, whose number on the wire is 4. */
export type MqttVersion = 4 | 5;

export interface MqttServer {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Empty: none. */
  readonly username: string;
  readonly password: string;
}

export interface MqttInput {
  server: MqttServer;
  version: MqttVersion;
  clientId: string;
  /** Whether the server keeps the subscriptions, and what comes for them, while nobody is connected. */
  persistent: boolean;
  /** Messages that the server may send before they are acknowledged, 1 to 65,535; version 3.1.1 has no such limit. */
  receiveMaximum: number;
  onMessage(message: IPublishPacket, connection: MqttConnection): void;
  /** Called once, after it was open. The error says who ended it. */
  onClose(error: Error): void;
}

/** A connection to an MQTT server. Messages are published and received with QoS 1. */
export interface MqttConnection {
  /** Whether the server had the session of this client. */
  readonly sessionPresent: boolean;
  readonly sharedSubscriptions: boolean;
  /** Resolves when the server has confirmed it. @throws when the server refuses it, or the connection ends first */
  publish(
    topic: string,
    payload: Uint8Array,
    properties: IPublishPacket['properties'] | undefined,
  ): Promise<void>;
  subscribe(filter: string): Promise<void>;
  unsubscribe(filter: string): Promise<void>;
  /** MQTT wants acknowledgements in the order of the messages. */
  acknowledge(messageId: number): void;
  /** Says goodbye. A persistent session stays. */
  close(): void;
}

/** The server speaks version 3.1.1 only. */
export class OldMqttServer extends Error {}

const KEEPALIVE_S = 10;
const CONNECT_MS = 10_000;
/** Seconds; the greatest number stands for ever. */
const FOR_EVER = 0xffffffff;
const MOST_PACKET_BYTES = 16 * 1_048_576;
const MOST_IDS = 65_535;
/** For servers of version 3.1.1, which cannot tell: some drop what comes faster than their subscribers take it. */
const MOST_UNCONFIRMED = 20;
/** What servers of version 3.1.1 and 5 say to a version that they do not speak. */
const UNKNOWN_VERSION = new Set([0x01, 0x84]);
const FIRST_REFUSAL = 0x80;

interface Pending {
  resolve(): void;
  reject(error: Error): void;
}

/** Connects, and resolves when the server has accepted the client. @throws {OldMqttServer} and other errors */
export function openMqtt(input: MqttInput): Promise<MqttConnection> {
  const { clientId, persistent, receiveMaximum, server, version } = input;
  return new Promise((resolve, reject) => {
    const socket = connectTo(server);
    const packets = parser({ protocolVersion: version });
    const options = { protocolVersion: version };
    const send = (packet: Packet) => void socket.write(generate(packet, options));
    let session: Session | null = null;
    let receivedAt = performance.now();
    let keepalive: NodeJS.Timeout | undefined;

    const end = (error: Error) => {
      clearTimeout(opening);
      clearInterval(keepalive);
      if (!socket.destroyed) socket.destroy();
      if (session === null) reject(error);
      else session.end(error);
    };
    const opening = setTimeout(() => end(new Error('The MQTT server did not answer in time')), CONNECT_MS);
    const watch = () => {
      if (performance.now() - receivedAt > 1.5 * KEEPALIVE_S * 1_000)
        end(new Error('The MQTT server stopped answering'));
      else send({ cmd: 'pingreq' });
    };
    const welcome = (packet: IConnackPacket) => {
      const code = packet.reasonCode ?? packet.returnCode ?? 0;
      if (UNKNOWN_VERSION.has(code) && version === 5) return end(new OldMqttServer());
      if (code !== 0) return end(new Error(`The MQTT server refused the connection with code ${code}`));
      clearTimeout(opening);
      keepalive = setInterval(watch, KEEPALIVE_S * 1_000);
      session = sessionOf(input, packet, send, (last) => {
        clearInterval(keepalive);
        socket.end(generate(last, options));
      });
      resolve(session.connection);
    };

    socket.on('connect', () => {
      const own = { sessionExpiryInterval: persistent ? FOR_EVER : 0, receiveMaximum };
      send({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: version,
        clientId,
        clean: !persistent,
        keepalive: KEEPALIVE_S,
        ...(server.username === '' ? {} : { username: server.username }),
        ...(server.password === '' ? {} : { password: Buffer.from(server.password) }),
        ...(version === 5 ? { properties: { ...own, maximumPacketSize: MOST_PACKET_BYTES } } : {}),
      });
    });
    packets.on('packet', (packet) => {
      if (session !== null) session.take(packet);
      else if (packet.cmd === 'connack') welcome(packet);
    });
    packets.on('error', (error) => {
      // A server of version 3.1.1 answers in its own version, which is cut short in version 5.
      const old = session === null && version === 5;
      end(old ? new OldMqttServer() : new Error(`What the MQTT server sent is not MQTT: ${String(error)}`));
    });
    socket.on('data', (bytes) => {
      receivedAt = performance.now();
      packets.parse(bytes);
    });
    socket.on('error', end);
    socket.on('close', () => end(new Error('The MQTT server ended the connection')));
  });
}

function connectTo({ host, port, tls }: MqttServer): Socket {
  const socket = tls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  return socket.setNoDelay(true);
}

interface Session {
  readonly connection: MqttConnection;
  take(packet: Packet): void;
  end(error: Error): void;
}

function sessionOf(
  { onClose, onMessage, version }: MqttInput,
  { properties = {}, sessionPresent }: IConnackPacket,
  send: (packet: Packet) => void,
  leave: (last: Packet) => void,
): Session {
  const mostUnconfirmed = properties.receiveMaximum ?? (version === 5 ? MOST_IDS : MOST_UNCONFIRMED);
  const pending = new Map<number, Pending>();
  const waiting: (() => void)[] = [];
  let unconfirmed = 0;
  let lastId = 0;
  let ended: Error | null = null;

  const nextId = (): number => {
    do lastId = (lastId % MOST_IDS) + 1;
    while (pending.has(lastId));
    return lastId;
  };
  /** Sends what the server answers by its message's id. */
  const ask = (packetOf: (messageId: number) => Packet): Promise<void> =>
    new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended);
      const id = nextId();
      pending.set(id, { resolve, reject });
      send(packetOf(id));
    });
  const answer = (messageId: number | undefined, codes: readonly unknown[]) => {
    const existing = pending.get(messageId ?? 0);
    pending.delete(messageId ?? 0);
    const refusal = codes.find((code) => Number(code) >= FIRST_REFUSAL);
    if (refusal === undefined) existing?.resolve();
    else existing?.reject(new Error(`The MQTT server refused with code ${String(refusal)}`));
  };
  /** The send quota (MQTT 5.0, 4.9): the server takes only so many messages that it has not confirmed. */
  const takeSendQuota = async () => {
    if (unconfirmed < mostUnconfirmed) unconfirmed += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const returnSendQuota = () => {
    const next = waiting.shift();
    if (next === undefined) unconfirmed -= 1;
    else next();
  };
  const end = (error: Error) => {
    if (ended !== null) return;
    ended = error;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    for (const resolve of waiting.splice(0)) resolve();
    onClose(error);
  };

  const connection: MqttConnection = {
    sessionPresent,
    sharedSubscriptions: version === 5 && properties.sharedSubscriptionAvailable !== false,
    async publish(topic, payload, own) {
      await takeSendQuota();
      const message = { cmd: 'publish', qos: 1, dup: false, retain: false, topic } as const;
      const packet = { ...message, payload: Buffer.from(payload), ...(own && { properties: own }) };
      try {
        await ask((messageId) => ({ ...packet, messageId }));
      } finally {
        returnSendQuota();
      }
    },
    subscribe: (topic) =>
      // What the server retains of earlier messages has been delivered already, or is meant for others.
      ask((messageId) => ({ cmd: 'subscribe', messageId, subscriptions: [{ topic, qos: 1, rh: 2 }] })),
    unsubscribe: (topic) => ask((messageId) => ({ cmd: 'unsubscribe', messageId, unsubscriptions: [topic] })),
    acknowledge(messageId) {
      if (ended === null) send({ cmd: 'puback', messageId });
    },
    close() {
      if (ended !== null) return;
      leave({ cmd: 'disconnect' });
      end(new Error('The connection is closed'));
    },
  };
  return {
    connection,
    take(packet) {
      switch (packet.cmd) {
        case 'publish':
          return onMessage(packet, connection);
        case 'puback':
          return answer(packet.messageId, [packet.reasonCode ?? 0]);
        case 'suback':
        case 'unsuback':
          return answer(packet.messageId, packet.granted ?? []);
        case 'disconnect':
          return end(new Error(`The MQTT server ended the connection with code ${packet.reasonCode ?? 0}`));
        default:
          return undefined;
      }
    },
    end,
  };
}
