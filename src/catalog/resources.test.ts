import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admin } from '../../test/support/management/caller.ts';
import { allProviders, findProvider } from '../providers/index.ts';
import { createCatalog } from './catalog.ts';
import { modelsResource, type OfferedName, type OfferingConnection } from './models-resource.ts';
import { providersResource } from './providers-resource.ts';
import { modelRow, providerRow } from './row-schema.ts';

const now = Date.UTC(2026, 10, 21, 10);

describe('the resource of providers', () => {
  const resource = providersResource({
    connections: async () => [
      { provider: 'openai', name: 'work', active: true },
      { provider: 'groq', name: 'idle', active: false },
    ],
  });

  it('has every provider, and says which are connected', async () => {
    const rows = (await resource.list?.(admin)) ?? [];
    assert.deepEqual(
      rows.map(({ id }) => id),
      allProviders().map(({ id }) => id),
    );
    for (const row of rows) assert.deepEqual(providerRow.strict().parse(row), row, row.id);
    const state = async (id: string) => {
      const row = await resource.find(id, admin);
      return [row?.['connected'], row?.['connections']];
    };
    assert.deepEqual(await state('openai'), [true, ['work']]);
    assert.deepEqual(await state('groq'), [false, ['idle']]);
    assert.deepEqual(await state('mistral'), [false, []]);
    assert.deepEqual(await state('demo'), [true, []]);
    assert.equal(await resource.find('nobody', admin), null);
  });
});

describe('the resource of models', () => {
  const offer = (
    providerId: string,
    name: string,
    rest: Partial<OfferingConnection['connection']> = {},
  ): OfferingConnection => {
    const provider = findProvider(providerId);
    assert.ok(provider);
    return { provider, connection: { id: `con_${name}`, name, models: null, defaultModel: null, ...rest } };
  };
  const offers = [
    offer('openrouter', 'router', { models: ['meta/llama', 'openai/gpt-4o'], defaultModel: 'auto' }),
    offer('anthropic', 'claude'),
    offer('ollama', 'local', { models: ['qwen'] }),
    offer('ollama', 'claude', { models: ['never-reached'] }),
  ];
  const overrides = {
    'openrouter/meta/llama': { input: { base: 1, tiers: [{ above: 9, rate: 2 }] }, output: 3 },
  };
  const named: OfferedName = { id: 'fast', kind: 'combo', contextWindow: 8192, price: null };
  const resource = modelsResource({
    names: () => [named],
    offers: () => offers,
    catalog: () => createCatalog({ overrides }),
    now: () => now,
  });

  it('lists what a request may name, with what is known of it', async () => {
    const rows = (await resource.list?.(admin)) ?? [];
    const ids = rows.map(({ id }) => id);
    assert.deepEqual(ids.slice(0, 4), ['fast', 'router/auto', 'router/meta/llama', 'router/openai/gpt-4o']);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.includes('local/qwen'));
    assert.ok(ids.filter((id) => id.startsWith('claude/')).length > 5, 'what the catalogue knows');
    assert.equal(ids.includes('claude/never-reached'), false);
    for (const row of rows) assert.deepEqual(modelRow.strict().parse(row), row, row.id);
    const claude = rows.find(({ id }) => id.startsWith('claude/claude-'));
    assert.equal(typeof claude?.['context_window'], 'number');
    assert.equal(typeof claude?.['deprecated'], 'boolean');
  });

  it('finds each of them by its id, slashes and all', async () => {
    for (const row of (await resource.list?.(admin)) ?? [])
      assert.deepEqual(await resource.find(row.id, admin), row);
    const llama = await resource.find('router/meta/llama', admin);
    assert.deepEqual(
      [llama?.['input_usd'], llama?.['output_usd'], llama?.['connection_id']],
      [1, 3, 'con_router'],
    );
    const local = await resource.find('local/qwen', admin);
    assert.deepEqual([local?.['input_usd'], local?.['priced']], [0, true]);
    for (const id of ['', '/', 'router', 'router/', 'nobody/x', 'claude/never-reached'])
      assert.equal(await resource.find(id, admin), null, id);
  });
});
