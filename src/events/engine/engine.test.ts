import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { createLog } from '../../lib/log.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { EventConfig } from '../config/config.ts';
import { decodeConfig } from '../config/decode.ts';
import { createEngine, type EngineInput } from './engine.ts';

const event = (id: string, type = 't'): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type },
  data: null,
});

interface Trigger {
  kind?: string;
  name?: string;
  cesql?: string;
  channel?: string;
  bufferSize?: number;
}

/** A source `gw` of own events, and triggers that write into the log unless something else is said. */
function configOf(triggers: Readonly<Record<string, Trigger>>, url = 'sqlite:'): EventConfig {
  const channels = [...new Set(['main', ...Object.values(triggers).map(({ channel = 'main' }) => channel)])];
  const message = {
    components: {
      channels: channels.map((id) => ({ unique_id: id, url, mq_topic_name: id })),
      sources: [{ ref: { unique_id: 'gw', kind: 'gateway' } }],
      triggers: Object.entries(triggers).map(([id, { kind = 'log', name = '' }]) => ({
        ref: { unique_id: id, kind, name },
      })),
    },
    strategy: {
      trigger_strategies: Object.entries(triggers).map(([id, { bufferSize = 0 }]) => ({
        event_trigger_id: id,
        receive_buffer_size: bufferSize,
      })),
    },
    router_rules: {
      routers: Object.entries(triggers).map(([id, { cesql = '', channel = 'main' }]) => ({
        source_id: 'gw',
        trigger_id: id,
        channel_id: channel,
        filter: { cesql },
      })),
    },
  };
  const decoded = decodeConfig({ format: 'text', text: JSON.stringify(message) });
  assert.ok(decoded.ok, decoded.ok ? '' : JSON.stringify(decoded.problems));
  return decoded.config;
}

/** An engine, and the events that its triggers of the kind `log` got. */
function setUp(test: TestContext, input: Partial<EngineInput> = {}) {
  const delivered: { trigger: string; id: string }[] = [];
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    pretty: false,
    write(line) {
      lines.push(line);
      const { event: attributes, trigger } = JSON.parse(line);
      if (attributes?.id !== undefined && trigger !== undefined)
        delivered.push({ trigger, id: attributes.id });
    },
  });
  const engine = createEngine({
    redis: null,
    dataDir: temporaryFolder(test),
    listening: () => null,
    log,
    now: Date.now,
    random: () => 0.5,
    variable: () => undefined,
    privateNetworks: true,
    builtIn: () => null,
    ...input,
  });
  test.after(() => engine.close());
  const of = (trigger: string) => delivered.filter((one) => one.trigger === trigger).map(({ id }) => id);
  const got = (trigger: string, ids: readonly string[]) =>
    waitFor(`${ids} at ${trigger}`, () => ids.every((id) => of(trigger).includes(id)));
  return { engine, lines, of, got };
}

/** A receiver that answers when it is told to. */
async function startReceiver(test: TestContext) {
  const waiting: { path: string; response: ServerResponse }[] = [];
  const server = createServer((request, response) => {
    request.resume();
    waiting.push({ path: request.url ?? '', response });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, waiting };
}

describe('applying a configuration', () => {
  it('changes filters, and adds and removes triggers, from one event to the next', async (test) => {
    const { engine, got, of } = setUp(test);
    engine.emit(event('0'));
    await engine.apply(configOf({ a: { cesql: "type = 'x'" } }));
    engine.emit(event('1', 'x'));
    engine.emit(event('2', 'y'));
    await got('a', ['1']);
    await engine.apply(configOf({ a: { cesql: "type = 'y'" }, b: {} }));
    engine.emit(event('3', 'x'));
    engine.emit(event('4', 'y'));
    await got('a', ['4']);
    await got('b', ['3', '4']);
    await engine.apply(configOf({ b: {} }));
    engine.emit(event('5', 'y'));
    await got('b', ['5']);
    assert.deepEqual(of('a'), ['1', '4']);
  });

  it('keeps the old configuration when the new one cannot be run', async (test) => {
    const { engine, got } = setUp(test);
    await engine.apply(configOf({ a: {} }));
    const broken = configOf({ b: {}, c: { kind: 'http', name: `https://example.com/\${MISSING}` } });
    await assert.rejects(engine.apply(broken), /environment variable MISSING is not set/);
    engine.emit(event('1'));
    await got('a', ['1']);
  });

  it('delivers what came while a trigger was away', async (test) => {
    const { engine, got, of } = setUp(test);
    for (const url of ['sqlite:', 'memory:']) {
      await engine.apply(configOf({ a: {}, b: {} }, url));
      await engine.apply(configOf({ b: {} }, url));
      engine.emit(event(`1 ${url}`));
      await got('b', [`1 ${url}`]);
      assert.ok(!of('a').includes(`1 ${url}`));
      await engine.apply(configOf({ a: {}, b: {} }, url));
      await got('a', [`1 ${url}`]);
    }
  });

  it('collects nothing for a trigger that was removed for good', async (test) => {
    const { engine, got, of } = setUp(test, { removedMs: 1 });
    await engine.apply(configOf({ a: {}, b: {} }));
    await engine.apply(configOf({ b: {} }));
    let sent = 0;
    // Whether the time is over is seen by what still is collected.
    await waitFor('the subscription to end', async () => {
      sent += 1;
      engine.emit(event(String(sent)));
      await got('b', [String(sent)]);
      await engine.apply(configOf({ a: {}, b: {} }));
      engine.emit(event(`after ${sent}`));
      await got('a', [`after ${sent}`]);
      const missed = !of('a').includes(String(sent));
      await engine.apply(configOf({ b: {} }));
      return missed;
    });
  });

  it('does not disturb unchanged triggers, and lets changed ones finish first', async (test) => {
    const receiver = await startReceiver(test);
    const { engine, got } = setUp(test);
    const hooks = (bufferSize: number) => ({
      same: { kind: 'http', name: `${receiver.url}/same`, channel: 'one' },
      changed: { kind: 'http', name: `${receiver.url}/changed`, channel: 'two', bufferSize },
    });
    await engine.apply(configOf(hooks(1)));
    engine.emit(event('1'));
    const at = (path: string) => receiver.waiting.filter((one) => one.path === path);
    await waitFor('an event at both', () => at('/same').length === 1 && at('/changed').length === 1);
    await engine.apply(configOf({ ...hooks(2), other: {} }));
    engine.emit(event('2'));
    await got('other', ['2']);
    await waitFor('the next event where nothing changed', () => at('/same').length === 2);
    assert.equal(at('/changed').length, 1);
    at('/changed')[0]?.response.writeHead(204).end();
    await waitFor('the next event where something changed', () => at('/changed').length === 2);
    for (const { response } of receiver.waiting) if (!response.headersSent) response.writeHead(204).end();
  });

  it('moves a trigger to another channel', async (test) => {
    const { engine, got } = setUp(test);
    await engine.apply(configOf({ a: { channel: 'one' } }));
    engine.emit(event('1'));
    await engine.apply(configOf({ a: { channel: 'two' } }));
    engine.emit(event('2'));
    await got('a', ['2']);
    await engine.apply(configOf({ a: { channel: 'one' } }));
    await got('a', ['1', '2']);
  });
});
