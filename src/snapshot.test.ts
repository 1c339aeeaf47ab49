import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startGateway, waitFor } from '../test/support/gateway/gateway.ts';
import { connectionWith } from '../test/support/routing/connection.ts';
import { keyIndexOf } from './access/keys/key-index.ts';
import type { KeyRecord } from './access/schema.ts';
import { createCatalog } from './catalog/catalog.ts';
import { defaultOptions } from './combos/combo-schema.ts';
import { storageKey } from './connections/credentials/seal.ts';
import type { OpenConnection } from './connections/schema.ts';
import { connectionStore } from './connections/store.ts';
import { buildSnapshot } from './snapshot.ts';
import { openStore } from './store/database.ts';

const catalog = createCatalog({ overrides: {} });

const key: KeyRecord = {
  id: 'key_1',
  name: 'laptop',
  prefix: 'sk-…',
  hash: 'abc',
  models: null,
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  disabled: false,
  cacheTtlSeconds: null,
  owner: null,
  ownerUserId: null,
  team: null,
  labels: {},
};

const build = (connections: OpenConnection[], keys: KeyRecord[] = []) =>
  buildSnapshot({ keys: keyIndexOf(keys), connections, combos: [], aliases: [], catalog, revision: 7 });

describe('a snapshot', () => {
  it('has the keys by their hash, and the revision it was built at', () => {
    const { keys, revision } = build([], [key, { ...key, id: 'key_2', hash: 'def' }]);
    assert.deepEqual([keys.byHash.get('def')?.id, keys.byHash.get('ghi'), revision], ['key_2', undefined, 7]);
  });

  it('orders connections by priority, then age, then id, and the demo last', () => {
    const { routes } = build([
      connectionWith({ id: 'young', name: 'a', createdAt: 9 }),
      connectionWith({ id: 'old-2', name: 'b', createdAt: 1 }),
      connectionWith({ id: 'old-1', name: 'c', createdAt: 1 }),
      connectionWith({ id: 'low', name: 'd', priority: -5 }),
      connectionWith({ id: 'high', name: 'e', priority: 3, createdAt: 99 }),
    ]);
    const order = routes.ordered.map((route) => route.connection.id);
    assert.deepEqual(order, ['high', 'old-1', 'old-2', 'young', 'low', 'acp', 'demo']);
    const ofProvider = routes.byProvider.get('openai')?.map((route) => route.connection.id);
    assert.deepEqual(ofProvider, order.slice(0, -2));
  });

  it('is made without a look at the data set of models, with combos and all', () => {
    const read = (): never => assert.fail('the data set was read');
    const dataSet = { head: read, isInstalled: read, models: read };
    const combo = {
      id: 'cmb_1',
      name: 'all',
      strategy: 'priority' as const,
      options: defaultOptions,
      active: true,
      targets: [{ target: 'a/gpt-5', weight: 1 }],
      createdAt: 0,
      updatedAt: 0,
    };
    const { routes } = buildSnapshot({
      keys: keyIndexOf([]),
      connections: [connectionWith({ id: 'one', name: 'a' })],
      combos: [combo],
      aliases: [],
      catalog: createCatalog({ overrides: {}, dataSet }),
      revision: 1,
    });
    assert.equal(routes.combos.active?.candidates.length, 1);
  });

  it('leaves out connections that are off or whose provider is gone, and has the others by name and id', () => {
    const { routes } = build([
      connectionWith({}),
      connectionWith({ id: 'con_2', name: 'off', active: false }),
      connectionWith({ id: 'con_3', name: 'strange', provider: 'no-such-provider' }),
    ]);
    assert.deepEqual([...routes.byName.keys()].sort(), ['acp', 'con_1', 'demo', 'work']);
    assert.equal(routes.byName.get('work'), routes.byName.get('con_1'));
    assert.deepEqual([...routes.byProvider.keys()].sort(), ['acp', 'demo', 'openai']);
  });

  it('has the demo when there is nothing else, and no agents', () => {
    const { routes } = build([]);
    assert.deepEqual(
      routes.ordered.map((route) => [route.connection.name, route.connection.models]),
      [
        ['acp', []],
        ['demo', ['echo', 'tools']],
      ],
    );
  });
});

describe('the snapshot of a running gateway', () => {
  it('follows the connections that another process adds, switches off and removes', async (test) => {
    const gateway = await startGateway();
    test.after(() => gateway.kill());
    const store = await openStore(gateway.dataDir);
    test.after(() => store.close());
    const connections = connectionStore(store, (await storageKey(gateway.dataDir, null)).key);
    const listed = async () => {
      const { text } = await gateway.send({
        method: 'GET',
        path: '/v1/models',
        headers: { authorization: `Bearer ${gateway.key}` },
      });
      return text.includes('"work/');
    };
    assert.equal(await listed(), false);
    await gateway.cliJson(
      'provider',
      'add',
      'ollama',
      '--name',
      'work',
      '--base-url',
      'http://127.0.0.1:9',
      '--default-model',
      'm-1',
    );
    await waitFor('the connection of the command line', listed);
    const id = (await connections.find('work'))?.id ?? '';
    await connections.update(id, { active: false });
    await waitFor('its end', async () => !(await listed()));
    await connections.update(id, { active: true });
    await waitFor('its return', listed);
    await connections.remove(id);
    await waitFor('its removal', async () => !(await listed()));
    await gateway.stop();
  });

  it('with another storage key asks for re-entry of the credential, and serves everything else', async (test) => {
    const first = 'the first secret, long enough';
    const gateway = await startGateway({
      env: { STORAGE_ENCRYPTION_KEY: first },
      connections: [{ provider: 'openai', name: 'work', baseUrl: 'http://127.0.0.1:9' }],
    });
    test.after(() => gateway.kill());
    const store = await openStore(gateway.dataDir);
    test.after(() => store.close());
    // What a gateway with a wrong key sees: a credential that its own key does not open.
    const { key: wrong } = await storageKey(gateway.dataDir, 'another secret');
    const other = connectionStore(store, wrong);
    const id = (await other.find('work'))?.id ?? '';
    assert.equal((await other.find('work'))?.status, 'needs-re-entry');
    await other.update(id, { apiKey: 'sealed with the wrong key' });
    const ask = (model: string) =>
      gateway.ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });
    await waitFor('the refusal', async () => (await ask('work/m-1')).status === 503);
    const { text } = await ask('work/m-1');
    assert.match(text, /connection_unusable/);
    assert.equal((await ask('demo/echo')).status, 200);
    const { providers } = await gateway.cliJson('providers', 'list');
    assert.equal((providers as { status: string }[])[0]?.status, 'needs-re-entry');
    assert.equal(
      readFileSync(join(gateway.dataDir, 'modelgate.db')).includes('sealed with the wrong key'),
      false,
    );
    await gateway.stop();
  });
});
