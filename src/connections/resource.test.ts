import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createUpstream, upstreamKey } from '../../test/cli/upstream.ts';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { admin } from '../../test/support/management/caller.ts';
import { noLogins } from '../../test/support/management/tokens.ts';
import type { Row } from '../http/resource.ts';
import { openStore } from '../store/database.ts';
import { checkBaseUrl } from './checked-input.ts';
import { type ConnectionHealth, connectionsResource } from './resource.ts';
import { connectionRow } from './schema.ts';
import { connectionStore } from './store.ts';

const now = Date.UTC(2026, 10, 21, 10);

/** Nothing is held against any connection. */
const healthy: ConnectionHealth = {
  of: () => ({ condition: { state: 'ready', until: null, reason: null }, model_conditions: [] }),
  reset: () => false,
};

async function opened(test: TestContext) {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  const connections = connectionStore(store, Buffer.alloc(32, 1), () => now);
  const resource = connectionsResource({ connections, health: healthy, testTimeoutMs: 5000, ...noLogins });
  const create = async (input: Record<string, unknown>): Promise<Row> => {
    const made = await resource.create?.run(input, admin);
    assert.ok(made);
    assert.equal(made.secret, undefined, 'what was given is not given back');
    return made.row;
  };
  const update = async (row: Row, input: Record<string, unknown>): Promise<Row> => {
    assert.ok(resource.update);
    return resource.update.run(row, input, admin);
  };
  const act = async (name: string, row: Row) => {
    const action = resource.actions?.[name];
    assert.ok(action);
    return action.run(row, {}, admin);
  };
  return { store, connections, resource, create, update, act };
}

describe('the resource of connections', () => {
  it('takes a credential and never shows it', async (test) => {
    const { connections, create, resource, store } = await opened(test);
    const row = await create({ provider: 'openai', name: 'work', api_key: upstreamKey, priority: 3 });
    assert.deepEqual(row, {
      id: row.id,
      provider: 'openai',
      name: 'work',
      auth_type: 'api-key',
      base_url: null,
      default_model: null,
      active: true,
      priority: 3,
      prompt_cache_marks: true,
      billing: 'metered',
      status: 'untested',
      last_error: null,
      last_tested_at: null,
      models: null,
      models_at: null,
      ...healthy.of(''),
      models_error: null,
      has_credential: true,
      oauth: null,
      needs_reentry: false,
      created_at: '2026-11-21T10:00:00.000Z',
    });
    assert.deepEqual(connectionRow.strict().parse(row), row, 'the record is the row');
    const list = await resource.list?.(admin);
    assert.deepEqual(list, [row]);
    assert.equal(JSON.stringify(list).includes(upstreamKey.slice(3)), false);
    assert.deepEqual(await resource.find('work', admin), row);
    assert.equal((await connections.findOpen(row.id))?.credential, upstreamKey);
    const other = connectionStore(store, Buffer.alloc(32, 2));
    const lost = await connectionsResource({ connections: other, health: healthy, ...noLogins }).find(
      'work',
      admin,
    );
    assert.deepEqual([lost?.['has_credential'], lost?.['needs_reentry']], [true, true]);
  });

  it('refuses what cannot work, and names the field', async (test) => {
    const { create, resource } = await opened(test);
    const refused: readonly [param: string, input: Record<string, unknown>][] = [
      ['provider', { provider: 'nobody' }],
      ['provider', { provider: 'demo' }],
      ['api_key', { provider: 'openai' }],
      ['base_url', { provider: 'openai-compatible' }],
      ['base_url', { provider: 'openai', api_key: 'k', base_url: 'file:///etc/passwd' }],
      ['base_url', { provider: 'openai', api_key: 'k', base_url: 'http://169.254.169.254/latest' }],
      ['name', { provider: 'ollama', name: 'demo' }],
    ];
    for (const [param, input] of refused)
      await assert.rejects(create(input), { code: 'invalid_request', param }, JSON.stringify(input));
    const bad = [
      {},
      { provider: 'openai', api_key: 'two words' },
      { provider: 'openai', api_key: '' },
      { provider: 'openai', status: 'ok' },
      { provider: 'openai', priority: 1.5 },
    ];
    for (const input of bad)
      assert.equal(resource.create?.input.safeParse(input).success, false, JSON.stringify(input));
    assert.deepEqual(await resource.list?.(admin), []);
  });

  it('refuses link-local addresses however they are written, and no others', () => {
    for (const host of ['169.254.169.254', '2852039166', '0xa9fea9fe', '[fe80::1]', '[::ffff:169.254.1.1]'])
      assert.throws(() => checkBaseUrl(`http://${host}/v1`, () => null), { param: 'base_url' }, host);
    for (const host of ['127.0.0.1:11434', '10.1.2.3', '[::1]:8000', 'gpu.local', '[fd00::1]'])
      checkBaseUrl(`http://${host}/v1`, () => null);
  });

  it('changes the given fields, and nothing else', async (test) => {
    const { connections, create, update } = await opened(test);
    const row = await create({ provider: 'ollama' });
    assert.deepEqual([row['name'], row['has_credential']], ['ollama', false]);
    const changed = await update(row, { name: 'gpu', base_url: 'http://10.0.0.5:11434', default_model: 'm' });
    const changes = { name: 'gpu', base_url: 'http://10.0.0.5:11434', default_model: 'm' };
    assert.deepEqual(changed, { ...row, ...changes });
    assert.deepEqual(await update(changed, {}), changed);
    const unmarked = await update(changed, { prompt_cache_marks: false });
    assert.deepEqual(unmarked, { ...changed, prompt_cache_marks: false });
    assert.deepEqual(await update(unmarked, { prompt_cache_marks: true }), changed);
    const keyed = await update(changed, { api_key: 'k-1', priority: -1, active: false });
    assert.deepEqual(keyed, {
      ...changed,
      auth_type: 'api-key',
      has_credential: true,
      priority: -1,
      active: false,
    });
    await update(keyed, { api_key: null });
    assert.deepEqual((await connections.findOpen('gpu'))?.credential, null);
    await create({ provider: 'ollama', name: 'taken' });
    await assert.rejects(update(keyed, { name: 'taken' }), { code: 'invalid_request', param: 'name' });
    await connections.remove(row.id);
    await assert.rejects(update(keyed, { priority: 1 }), { code: 'not_found' });
  });

  it('sends a stored credential only to the server that it was given for', async (test) => {
    const { connections, create, update } = await opened(test);
    const row = await create({ provider: 'openai', api_key: upstreamKey });
    const moves = ['https://evil.example/v1', 'http://api.openai.com/v1', 'https://api.openai.com:444/v1'];
    for (const base_url of moves)
      await assert.rejects(update(row, { base_url }), { code: 'invalid_request', param: 'api_key' });
    assert.equal((await connections.findOpen(row.id))?.baseUrl, null);
    await update(row, { base_url: 'https://api.openai.com/v1/' });
    await update(row, { base_url: 'https://mine.example/v1', api_key: 'k-2' });
    await assert.rejects(update(row, { base_url: null }), { param: 'api_key' }, 'nor back');
    await assert.rejects(update(row, { api_key: null }), { param: 'api_key' }, 'OpenAI needs one');
  });

  it('tests, discovers, enables and disables', async (test) => {
    const { act, create, resource, update } = await opened(test);
    const upstream = await createUpstream();
    test.after(() => upstream.close());
    const row = await create({ provider: 'openai', base_url: upstream.url, api_key: 'wrong' });
    const failed = await act('test', row);
    assert.deepEqual(
      [failed.success, failed.result?.['valid'], failed.result?.['status_code']],
      [true, false, 401],
    );
    assert.match(failed.message, /"openai" failed: .*does not accept the API key/);
    assert.equal((await resource.find(row.id, admin))?.['status'], 'failed');
    await update(row, { api_key: upstreamKey });
    const passed = await act('discover', row);
    assert.deepEqual([passed.success, passed.result?.['listed']], [true, ['small', 'large']]);
    const tested = await resource.find(row.id, admin);
    assert.deepEqual(
      [tested?.['status'], tested?.['models'], tested?.['models_at'], tested?.['last_tested_at']],
      ['ok', 2, '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z'],
    );
    const { disable, discover, enable } = resource.actions ?? {};
    assert.deepEqual([disable?.possible?.(row), enable?.possible?.(row)], [true, false]);
    assert.equal(discover?.possible?.(row), true);
    const requestsBefore = upstream.seen.length;
    for (const action of Object.values(resource.actions ?? {})) await action.preview?.(row, {}, admin);
    assert.equal(upstream.seen.length, requestsBefore, 'a preview asks nobody');
    await act('disable', row);
    assert.equal((await resource.find(row.id, admin))?.['active'], false);
    await act('enable', row);
    assert.equal((await resource.find(row.id, admin))?.['active'], true);
    await resource.remove?.run(row, admin);
    for (const name of ['test', 'discover', 'disable'])
      await assert.rejects(act(name, row), { code: 'not_found' }, name);
    await assert.rejects(async () => resource.remove?.run(row, admin), { code: 'not_found' });
  });
});
