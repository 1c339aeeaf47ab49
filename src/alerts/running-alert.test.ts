import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { waitFor } from '../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import type { CloudEvent } from '../events/cloudevents/event.ts';
import type { ProcessorOutcome } from '../events/processors/processor.ts';
import { buildEvent } from '../events/types/own-event.ts';
import { createLog } from '../lib/log.ts';
import { openStore } from '../store/database.ts';
import { digestStore } from './digest-store.ts';
import { createRunningAlert } from './running-alert.ts';
import { alertStore } from './store.ts';

const silent = createLog({ level: 'silent', pretty: false, write() {} });
const key = Buffer.alloc(32, 1);

function failedRequest(n: number, at = Date.now()): CloudEvent {
  const data = { key_id: `key_${n}`, name: 'k' };
  return buildEvent('keys', 'key.created', { subject: `key_${n % 3}`, data }, { at, instance: 'here' });
}

async function setUp(test: TestContext, digestMs: number) {
  const store = await openStore(temporaryFolder(test), { create: true });
  test.after(() => store.close());
  const alerts = alertStore(store, key);
  const target = { kind: 'slack', url: 'http://127.0.0.1:1/' } as const;
  const alert = await alerts.add({ target, name: null, on: ['*'], where: null, digestMs, byApi: false });
  const sent: CloudEvent[] = [];
  const published: CloudEvent[] = [];
  const state = { outcome: { kind: 'done' } as ProcessorOutcome };
  const open = () => {
    const running = createRunningAlert({
      alert,
      digests: digestStore(store),
      sender: {
        async send(event) {
          sent.push(event);
          return { outcome: state.outcome, answer: '' };
        },
        async close() {},
      },
      publish: async (event) => void published.push(event),
      instance: 'here',
      log: silent,
      now: Date.now,
    });
    test.after(() => running.close());
    return running;
  };
  const summary = (index = 0) => JSON.parse(Buffer.from(published[index]?.data ?? []).toString());
  return { open, sent, published, state, summary, store };
}

describe('an alert with a digest', () => {
  it('makes two messages of ten thousand events, and counts all of them', async (test) => {
    const { open, published, sent, summary } = await setUp(test, 3_000);
    const alert = open();
    const begun = Date.now();
    for (let from = 0; from < 10_000; from += 500)
      await Promise.all(Array.from({ length: 500 }, (_, n) => alert.process(failedRequest(from + n))));
    const counted = () => published.reduce((sum, _, index) => sum + summary(index).count, 0);
    await waitFor('the summaries', () => counted() === 9_999);
    assert.equal(sent.length, 1);
    // One for each window, however long the machine takes.
    const windows = Math.ceil((Date.now() - begun) / 3_000) + 1;
    assert.ok(published.length <= windows, `${published.length} summaries`);
    const { groups } = summary();
    assert.equal(groups.length, 3);
    for (const { type } of groups) assert.equal(type, 'io.modelgate.key.created.v1');
    assert.equal((await alert.process(published[0] ?? assert.fail())).kind, 'done');
    assert.equal(sent.length, 2);
  });

  it('retries the first until it is accepted, and counts the others meanwhile', async (test) => {
    const { open, sent, state } = await setUp(test, 3_600_000);
    const alert = open();
    const [first, other] = [failedRequest(1), failedRequest(2)];
    state.outcome = { kind: 'retry', reason: 'no', status: 503, afterMs: 0 };
    assert.equal((await alert.process(first)).kind, 'retry');
    assert.equal((await alert.process(other)).kind, 'done');
    state.outcome = { kind: 'done' };
    assert.equal((await alert.process(first)).kind, 'done');
    assert.deepEqual(
      sent.map(({ attributes }) => attributes.id),
      [first.attributes.id, first.attributes.id],
    );
  });

  it('reports after a restart what was counted before', async (test) => {
    const { open, published, sent, store, summary } = await setUp(test, 3_600_000);
    const alert = open();
    for (let n = 0; n < 5; n += 1) await alert.process(failedRequest(n));
    await alert.close();
    const { state } = await store.db.selectFrom('alert_digests').select('state').executeTakeFirstOrThrow();
    const over = JSON.stringify({ ...JSON.parse(state), until: Date.now() - 1 });
    await store.db.updateTable('alert_digests').set({ state: over }).execute();
    open();
    await waitFor('the summary', () => published.length === 1);
    assert.deepEqual([sent.length, summary().count], [1, 4]);
  });

  it('sends each event when there is no digest, and none from before it began', async (test) => {
    const { open, sent } = await setUp(test, 0);
    const alert = open();
    for (let n = 0; n < 3; n += 1) await alert.process(failedRequest(n));
    await alert.process(failedRequest(4, Date.now() - 60_000));
    assert.equal(sent.length, 3);
  });
});
