import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger } from '../endurance/ledger.ts';
import { startEngine } from '../support/event-engine.ts';
import { startEventReceiver } from '../support/event-receiver.ts';
import { temporaryFolder } from '../support/folder.ts';
import { waitFor } from '../support/gateway.ts';

const yaml = (url: string) => `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      runtime_strategy: {concurrency_limit_strateg: {max_concurrency: 1}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

describe('a trigger that handles one event at a time', () => {
  it('gets the events of each publisher in their order, over a restart too', async (t) => {
    const ledger = createLedger();
    let atOnce = 0;
    let most = 0;
    const receiver = await startEventReceiver(async (event) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      ledger.delivered('hook', event);
      atOnce -= 1;
      return 204;
    });
    t.after(() => receiver.close());
    const dataDir = temporaryFolder(t);
    const opened = { engine: await startEngine(dataDir, yaml(receiver.url)) };
    t.after(() => opened.engine.close());
    const publishers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const publish = async (publisher: string) => {
      for (let index = 0; index < 20; index += 1) {
        const event = ledger.next(publisher);
        await opened.engine.publish('s', event);
        ledger.accepted(event);
      }
    };
    await Promise.all(publishers.map(publish));
    await opened.engine.close();
    opened.engine = await startEngine(dataDir, yaml(receiver.url));
    await Promise.all(publishers.map(publish));
    await waitFor('all events', () => ledger.missing('hook').length === 0);
    const { accepted, duplicates, lost, reordered } = ledger.report(['hook']);
    assert.deepEqual(
      { accepted, lost, duplicates, reordered, most },
      { accepted: 320, lost: 0, duplicates: 0, reordered: 0, most: 1 },
    );
  });
});
