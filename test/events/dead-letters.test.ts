import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile } from '../../src/events/cesql/cesql.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { numberedEvent } from '../support/events/event-trigger.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const yaml = (url: string, persistence: string) => `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      enable_idempotence: true
      runtime_strategy: {concurrency_limit_strateg: {max_concurrency: 1}}
      dead_letter_strategy: {enable: true, persistence: ${persistence}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

describe('the dead letters of a running engine', () => {
  it('are replayed across a restart, each delivered once, without those that are done', async (t) => {
    let status = 400;
    const got: string[] = [];
    const receiver = await startEventReceiver(({ attributes: { id } }) => {
      if (status === 204) got.push(id);
      return status;
    });
    t.after(() => receiver.close());
    const dataDir = temporaryFolder(t);
    const text = yaml(receiver.url, '{persistence_type: LFS}');
    const opened = { engine: await startEngine(dataDir, text) };
    t.after(() => opened.engine.close());
    const ids = ['1', '2', '3', '4'];
    for (const id of ids) await opened.engine.publish('s', numberedEvent(id));
    const count = async () => (await opened.engine.deadLetters.list({ limit: 99 })).letters.length;
    await waitFor('the dead letters', async () => (await count()) === 4);
    // A dead letter is not delivered because the event comes again.
    await opened.engine.publish('s', numberedEvent('1'));
    await waitFor('the duplicate', async () => {
      const [hook] = (await opened.engine.status()).triggers;
      return hook?.counters.duplicates === 1;
    });
    const expression = compile("id = '1' OR id = '2'");
    assert.ok(expression.ok);
    // Nobody takes them before the next start.
    status = 503;
    assert.equal(await opened.engine.deadLetters.replayAll({ filter: expression.expression }), 2);
    await waitFor('that they failed again', async () => (await count()) === 4);
    status = 204;
    await opened.engine.close();
    opened.engine = await startEngine(dataDir, text);
    assert.equal(await opened.engine.deadLetters.replayAll({ trigger: 'hook' }), 4);
    await waitFor('all events', () => got.length === 4);
    assert.deepEqual(got.sort(), ids);
    assert.equal(await count(), 0);
    for (const id of ids) await opened.engine.publish('s', numberedEvent(id));
    await waitFor('the duplicates', async () => {
      const [hook] = (await opened.engine.status()).triggers;
      return hook?.counters.duplicates === 4;
    });
    assert.equal(got.length, 4);
  });

  it('pause the trigger while there is no room for them, and nothing is lost', async (t) => {
    const refused = new Set(['1', '2']);
    const got: string[] = [];
    const receiver = await startEventReceiver(({ attributes: { id } }) => {
      if (refused.has(id)) return 400;
      got.push(id);
      return 204;
    });
    t.after(() => receiver.close());
    const engine = await startEngine(temporaryFolder(t), yaml(receiver.url, '{persistence_size: 500}'));
    t.after(() => engine.close());
    for (const id of ['1', '2', '3']) await engine.publish('s', numberedEvent(id));
    await waitFor('the pause', async () => {
      const [hook] = (await engine.status()).triggers;
      return hook?.paused?.reason === 'dead-letters-full';
    });
    assert.deepEqual(got, []);
    assert.equal(await engine.deadLetters.purge({ trigger: 'hook' }), 1);
    await waitFor('the event behind them', () => got.length === 1);
    const { letters } = await engine.deadLetters.list({ limit: 9 });
    assert.deepEqual(
      letters.map(({ event }) => event?.attributes.id),
      ['2'],
    );
  });
});
