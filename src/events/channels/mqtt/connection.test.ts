import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { generate, type Packet, parser } from 'mqtt-packet';
import { type MqttInput, OldMqttServer, openMqtt } from './connection.ts';

type Answer = (packet: Packet, send: (packet: Packet) => void, socket: Socket) => void;

/** A server that says what a test wants it to. */
async function server(t: { after(fn: () => void): void }, version: 4 | 5, answer: Answer) {
  const listening = createServer((socket) => {
    const packets = parser({ protocolVersion: version });
    const send = (packet: Packet) => void socket.write(generate(packet, { protocolVersion: version }));
    packets.on('packet', (packet) => answer(packet, send, socket));
    socket.on('data', (bytes) => packets.parse(bytes));
    socket.on('error', () => {});
    t.after(() => socket.destroy());
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.after(() => listening.close());
  const { port } = listening.address() as AddressInfo;
  return { host: '127.0.0.1', port, tls: false, username: 'u', password: 'p' };
}

const input = (of: Partial<MqttInput> & Pick<MqttInput, 'server'>): MqttInput => ({
  version: 5,
  clientId: 'c',
  persistent: true,
  receiveMaximum: 7,
  onMessage: () => {},
  onClose: () => {},
  ...of,
});

const welcome: Packet = { cmd: 'connack', sessionPresent: false, reasonCode: 0, returnCode: 0 };

describe('an MQTT connection', () => {
  it('requests a persistent session, and identifies itself', async (t) => {
    const seen: Packet[] = [];
    const at = await server(t, 5, (packet, send) => {
      seen.push(packet);
      if (packet.cmd === 'connect') send(welcome);
    });
    const connection = await openMqtt(input({ server: at }));
    connection.close();
    const [first] = seen;
    assert.ok(first?.cmd === 'connect');
    const { clean, clientId, password, properties, username } = first;
    assert.deepEqual([clean, clientId, username, String(password)], [false, 'c', 'u', 'p']);
    assert.equal(properties?.sessionExpiryInterval, 0xffffffff);
    assert.equal(properties?.receiveMaximum, 7);
  });

  it('reports a server of version 3.1.1, which answers in that version', async (t) => {
    const at = await server(t, 5, (_, __, socket) => void socket.write(Buffer.from([0x20, 2, 0, 1])));
    await assert.rejects(openMqtt(input({ server: at })), OldMqttServer);
  });

  it('has no more messages in flight than the server accepts, and continues when it confirms them', async (t) => {
    const unconfirmed: number[] = [];
    let most = 0;
    const at = await server(t, 5, (packet, send) => {
      if (packet.cmd === 'connect') send({ ...welcome, properties: { receiveMaximum: 3 } } as Packet);
      if (packet.cmd !== 'publish') return;
      unconfirmed.push(packet.messageId ?? 0);
      most = Math.max(most, unconfirmed.length);
      setImmediate(() => {
        const messageId = unconfirmed.shift();
        if (messageId !== undefined) send({ cmd: 'puback', messageId, reasonCode: 0 });
      });
    });
    const connection = await openMqtt(input({ server: at }));
    const all = Array.from({ length: 50 }, () => connection.publish('t', Buffer.from('x'), undefined));
    await Promise.all(all);
    assert.equal(most, 3);
    connection.close();
  });

  it('fails messages that the server refuses, or did not answer before it disconnected', async (t) => {
    const at = await server(t, 5, (packet, send, socket) => {
      if (packet.cmd === 'connect') send(welcome);
      if (packet.cmd !== 'publish') return;
      if (packet.topic === 'leave') socket.destroy();
      else if (packet.messageId !== undefined)
        send({ cmd: 'puback', messageId: packet.messageId, reasonCode: 0x97 });
    });
    const closed: Error[] = [];
    const connection = await openMqtt(input({ server: at, onClose: (error) => closed.push(error) }));
    await assert.rejects(connection.publish('refused', Buffer.from('x'), undefined), /refused with code 151/);
    await assert.rejects(connection.publish('leave', Buffer.from('x'), undefined), /ended the connection/);
    await assert.rejects(connection.publish('later', Buffer.from('x'), undefined), /ended the connection/);
    assert.equal(closed.length, 1);
  });

  it('does not connect when it is no longer wanted', async (t) => {
    const at = await server(t, 5, (_, send) => send({ ...welcome, reasonCode: 0x87 } as Packet));
    await assert.rejects(openMqtt(input({ server: at })), /refused the connection with code 135/);
  });
});
