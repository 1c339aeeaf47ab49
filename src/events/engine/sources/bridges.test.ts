import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { waitFor } from '../../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { createLog } from '../../../lib/log.ts';
import { uptimeClock } from '../../../lib/time/clock.ts';
import { createSqliteChannel } from '../../channels/sqlite/sqlite-channel.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import { decodeConfig } from '../../config/decode.ts';
import { openEventDatabase } from '../../database/event-database.ts';
import { createEngine } from '../engine.ts';

interface Components {
  sources: readonly { unique_id: string; kind: string; name?: string }[];
  triggers: readonly { unique_id: string; kind: string; name?: string }[];
  /** Source, trigger and channel of each router. */
  routers: readonly (readonly [string, string, string])[];
}

function configOf({ routers, sources, triggers }: Components) {
  const text = JSON.stringify({
    components: {
      channels: ['one', 'two'].map((id) => ({ unique_id: id, url: 'sqlite:', mq_topic_name: id })),
      sources: sources.map((ref) => ({ ref })),
      triggers: triggers.map((ref) => ({ ref })),
    },
    router_rules: {
      routers: routers.map(([source_id, trigger_id, channel_id]) => ({ source_id, trigger_id, channel_id })),
    },
  });
  const decoded = decodeConfig({ format: 'text', text });
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.config;
}

const event = (id: string, source = '/elsewhere'): CloudEvent => ({
  attributes: { specversion: '1.0', id, source, type: 't' },
  data: null,
});

async function setUp(test: TestContext, components: Components) {
  const delivered: { trigger: string; event: Record<string, unknown> }[] = [];
  const log = createLog({
    level: 'info',
    pretty: false,
    write(line) {
      const { event: attributes, trigger } = JSON.parse(line);
      if (attributes?.id !== undefined && trigger !== undefined)
        delivered.push({ trigger, event: attributes });
    },
  });
  const dataDir = temporaryFolder(test);
  // Another program, as far as the engine knows.
  const database = openEventDatabase(`${dataDir}/events.db`);
  for (const id of ['foreign-1', 'foreign-2'])
    await createSqliteChannel(database, 'one', uptimeClock).publish(event(id));
  await database.close();
  const engine = createEngine({
    redis: null,
    dataDir,
    listening: () => null,
    log,
    now: Date.now,
    random: () => 0.5,
    variable: () => undefined,
  });
  test.after(() => engine.close());
  await engine.apply(configOf(components));
  const got = (trigger: string, ids: readonly string[]) =>
    waitFor(`${ids} at ${trigger}`, () =>
      ids.every((id) => delivered.some((one) => one.trigger === trigger && one.event['id'] === id)),
    );
  return { engine, delivered, got };
}

describe('a source of the kind channel', () => {
  const source = { unique_id: 'shop', kind: 'channel', name: 'one' };

  it('copies the events of its channel into another one, as its own', async (test) => {
    const { delivered, got } = await setUp(test, {
      sources: [source],
      triggers: [{ unique_id: 'seen', kind: 'log' }],
      routers: [['shop', 'seen', 'two']],
    });
    await got('seen', ['foreign-1', 'foreign-2']);
    for (const one of delivered)
      assert.deepEqual([one.event['eventsourceid'], one.event['eventhops']], ['shop', 1]);
    assert.equal(delivered.length, 2);
  });

  it('lets triggers read its channel without copying the events', async (test) => {
    const { delivered, got } = await setUp(test, {
      sources: [source],
      triggers: [{ unique_id: 'seen', kind: 'log' }],
      routers: [['shop', 'seen', 'one']],
    });
    await got('seen', ['foreign-1', 'foreign-2']);
    assert.deepEqual(
      delivered.map((one) => one.event['eventhops']),
      [undefined, undefined],
    );
  });

  it('gets what a trigger of the kind channel passes on', async (test) => {
    const { delivered, engine, got } = await setUp(test, {
      sources: [
        { unique_id: 'gw', kind: 'gateway' },
        { ...source, name: 'two' },
      ],
      triggers: [
        { unique_id: 'onward', kind: 'channel', name: 'two' },
        { unique_id: 'seen', kind: 'log' },
      ],
      routers: [
        ['gw', 'onward', 'one'],
        ['shop', 'seen', 'two'],
      ],
    });
    engine.emit(event('own'));
    await got('seen', ['own']);
    assert.equal(delivered.length, 1);
    assert.equal(delivered[0]?.event['eventhops'], 1);
    // Nobody's: no source of this gateway stands for what others publish there.
    const [onward] = (await engine.status()).triggers;
    assert.equal(onward?.counters.unrouted, 2);
  });

  it('ends a ring of channels after eight times', async (test) => {
    const { engine } = await setUp(test, {
      sources: [
        { unique_id: 'a', kind: 'channel', name: 'one' },
        { unique_id: 'b', kind: 'channel', name: 'two' },
      ],
      triggers: [
        { unique_id: 'to-two', kind: 'channel', name: 'two' },
        { unique_id: 'to-one', kind: 'channel', name: 'one' },
      ],
      routers: [
        ['a', 'to-two', 'one'],
        ['b', 'to-one', 'two'],
      ],
    });
    await waitFor('the end of both events', async () => {
      const counters = (await engine.status()).triggers.map((status) => status.counters);
      return counters.reduce((sum, { discarded }) => sum + discarded, 0) === 2;
    });
    const delivered = (await engine.status()).triggers.map((status) => status.counters.delivered);
    assert.equal(
      delivered.reduce((a, b) => a + b),
      16,
    );
  });
});
