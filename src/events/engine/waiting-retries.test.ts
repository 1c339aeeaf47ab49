import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { startEventReceiver } from '../../../test/support/events/event-receiver.ts';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { hasRedis, privateRedis } from '../../../test/support/servers/redis.ts';
import { createLog } from '../../lib/log.ts';
import type { EventConfig } from '../config/config.ts';
import { decodeConfig } from '../config/decode.ts';
import { createEngine, type Engine, type EngineInput } from './engine.ts';

interface Setup {
  /** Of the channel `main`. */
  url: string;
  receiver: string;
  retryDelay: string;
  /** Whether a router leads to the trigger `hook`. */
  routed?: boolean;
  /** Whether the trigger keeps dead letters. */
  keepsLetters?: boolean;
}

function configOf({ keepsLetters = false, receiver, retryDelay, routed = true, url }: Setup): EventConfig {
  const decoded = decodeConfig({
    format: 'text',
    text: `
components:
  channels: [{unique_id: main, url: "${url}", mq_topic_name: events}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers:
    - {ref: {unique_id: hook, kind: http, name: "${receiver}"}}
    - {ref: {unique_id: other, kind: log}}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: ${retryDelay}}}
      dead_letter_strategy: {enable: ${keepsLetters}}
router_rules:
  routers:
    - {source_id: gw, trigger_id: other, channel_id: main}
${routed ? '    - {source_id: gw, trigger_id: hook, channel_id: main}' : ''}
`,
  });
  assert.ok(decoded.ok, decoded.ok ? '' : JSON.stringify(decoded.problems));
  return decoded.config;
}

describe('retries that wait', { skip: !hasRedis && 'redis-server is not installed' }, () => {
  const redis = privateRedis();
  const setUp = (test: TestContext) => {
    const dataDir = temporaryFolder(test);
    const start = (input: Partial<EngineInput> = {}): Engine => {
      const engine = createEngine({
        redis: null,
        dataDir,
        listening: () => null,
        log: createLog({ level: 'silent', write: () => {}, pretty: false }),
        now: Date.now,
        random: Math.random,
        variable: () => undefined,
        privateNetworks: true,
        builtIn: () => null,
        ...input,
      });
      test.after(() => engine.close());
      return engine;
    };
    return { start };
  };
  const retried = async (engine: Engine) => {
    const { triggers } = await engine.status();
    return triggers.some(({ counters, id }) => id === 'hook' && counters.retried > 0);
  };
  const emit = (engine: Engine, id: string) =>
    engine.emit({ attributes: { specversion: '1.0', id, source: '/test', type: 't' }, data: null });

  for (const restarted of [false, true]) {
    const when = restarted ? 'while the gateway was stopped' : 'while it runs';
    it(`are delivered when their channel got another address ${when}`, async (test) => {
      let status = 503;
      const accepted: string[] = [];
      const receiver = await startEventReceiver(({ attributes }) => {
        if (status === 204) accepted.push(attributes.id);
        return status;
      });
      test.after(receiver.close);
      const { start } = setUp(test);
      const setup = { receiver: receiver.url, retryDelay: 'PT0.2S' };
      let engine = start();
      await engine.apply(configOf({ ...setup, url: `${redis.url}/0` }));
      emit(engine, '1');
      await waitFor('a retry that waits', () => retried(engine));
      if (restarted) {
        await engine.close();
        engine = start();
      }
      await engine.apply(configOf({ ...setup, url: `${redis.url}/1` }));
      status = 204;
      await waitFor('the event', () => accepted.includes('1'));
      assert.deepEqual((await engine.deadLetters.list({ limit: 10 })).letters, []);
    });
  }

  it('become dead letters when nothing leads to their trigger any more', async (test) => {
    let status = 503;
    const received: string[] = [];
    const receiver = await startEventReceiver(({ attributes }) => {
      received.push(attributes.id);
      return status;
    });
    test.after(receiver.close);
    const { start } = setUp(test);
    const setup = { receiver: receiver.url, retryDelay: 'PT1H', url: `${redis.url}/2` };
    const engine = start({ removedMs: 50 });
    await engine.apply(configOf(setup));
    emit(engine, '1');
    await waitFor('a retry that waits', () => retried(engine));
    await engine.apply(configOf({ ...setup, routed: false }));
    const letters = async () => (await engine.deadLetters.list({ limit: 10 })).letters;
    await waitFor('the dead letter', async () => (await letters()).length > 0);
    const [letter] = await letters();
    assert.deepEqual(
      [letter?.trigger, letter?.channel, letter?.reason, letter?.attempts, letter?.event?.attributes.id],
      ['hook', 'main', 'removed', 1, '1'],
    );
    // Nobody would receive it.
    assert.equal(await engine.deadLetters.replayAll({}), 0);
    assert.equal((await letters()).length, 1);
    status = 204;
    await engine.apply(configOf({ ...setup, keepsLetters: true }));
    assert.equal(await engine.deadLetters.replayAll({}), 1);
    await waitFor('the event', () => received.length === 2);
    assert.deepEqual([received, await letters()], [['1', '1'], []]);
  });
});
