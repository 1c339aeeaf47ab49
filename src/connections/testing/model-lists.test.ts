import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { noTokens } from '../../../test/support/management/tokens.ts';
import { hang, json } from '../../../test/support/upstream/steps.ts';
import { startUpstream } from '../../../test/support/upstream/upstream.ts';
import { openStore } from '../../store/database.ts';
import { connectionStore } from '../store.ts';
import { refreshModelLists } from './model-lists.ts';

const HOUR = 3_600_000;
const list = (...ids: string[]) => json(200, { data: ids.map((id) => ({ id })) });

async function world(test: TestContext, provider = 'openai-compatible') {
  const upstream = await startUpstream();
  test.after(() => upstream.close());
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  let time = 1_000 * HOUR;
  const connections = connectionStore(store, Buffer.alloc(32, 1), () => time);
  const { id } = await connections.add({
    provider,
    name: 'ai',
    baseUrl: upstream.url,
    apiKey: 'a-secret-key',
    defaultModel: null,
  });
  const storedRecord = async () => {
    const record = await connections.find(id);
    assert.ok(record);
    return record;
  };
  return {
    upstream,
    connections,
    id,
    storedRecord,
    advance(hours: number) {
      time += hours * HOUR;
    },
    refresh: (timeoutMs = 5000) =>
      refreshModelLists({ connections, tokens: noTokens, maxAgeMs: 6 * HOUR, timeoutMs, now: () => time }),
  };
}

describe('lists of models', () => {
  it('are asked for when there is none, and again when they are old', async (test) => {
    const { advance, storedRecord, refresh, upstream } = await world(test);
    upstream.always(list('one'));
    await refresh();
    const first = await storedRecord();
    assert.deepEqual([first.models, first.modelsAt], [['one'], 1_000 * HOUR]);
    assert.equal(first.status, 'untested', 'a list is no test');
    advance(5.9);
    await refresh();
    assert.equal(upstream.requests.length, 1);
    advance(0.1);
    upstream.always(list('one', 'two'));
    await refresh();
    assert.deepEqual((await storedRecord()).models, ['one', 'two']);
  });

  it('are kept when the upstream gives no new one, with their age and the reason', async (test) => {
    const { advance, storedRecord, refresh, upstream } = await world(test);
    upstream.always(list('one'));
    await refresh();
    advance(6);
    upstream.always(json(500, { error: { message: 'broken for a-secret-key' } }));
    await refresh();
    const record = await storedRecord();
    assert.deepEqual([record.models, record.modelsAt], [['one'], 1_000 * HOUR]);
    assert.match(record.modelsError ?? '', /answered 500/);
    assert.doesNotMatch(record.modelsError ?? '', /a-secret-key/);
    advance(0.4);
    await refresh();
    assert.equal(upstream.requests.length, 1, 'not at once again');
    advance(0.1);
    upstream.always(list('two'));
    await refresh();
    const after = await storedRecord();
    assert.deepEqual([after.models, after.modelsError], [['two'], null]);
  });

  it('are not waited for longer than the deadline', async (test) => {
    const { storedRecord, refresh, upstream } = await world(test);
    upstream.always(hang());
    await refresh(50);
    assert.match((await storedRecord()).modelsError ?? '', /did not answer within/);
  });

  it('of a server on this machine are asked for every ten minutes', async (test) => {
    const { advance, refresh, upstream } = await world(test, 'vllm');
    upstream.always(list('one'));
    await refresh();
    advance(0.1);
    await refresh();
    assert.equal(upstream.requests.length, 1);
    advance(0.1);
    await refresh();
    assert.equal(upstream.requests.length, 2);
  });

  it('are not fetched when disabled, and fetched at once when the address changes', async (test) => {
    const { connections, id, refresh, upstream } = await world(test);
    upstream.always(json(500, {}));
    await connections.update(id, { active: false });
    await refresh();
    assert.equal(upstream.requests.length, 0);
    await connections.update(id, { active: true });
    await refresh();
    assert.equal(upstream.requests.length, 1);
    await connections.update(id, { baseUrl: `${upstream.url}/v1` });
    await refresh();
    assert.equal(upstream.requests.length, 2);
  });
});
