import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { calcPrice, findProvider as findInPackage, type MatchLogic } from '@pydantic/genai-prices';
import { noUsage } from '../codecs/wire-format.ts';
import { findProvider, ownProviders } from '../providers/index.ts';
import type { Provider } from '../providers/provider.ts';
import { createCatalog } from './catalog.ts';
import { costOf } from './cost.ts';
import { compile } from './match.ts';
import { createPrices, loadPriceTable } from './prices.ts';
import { priceTable } from './schema.ts';

const catalog = createCatalog({ overrides: {} });
const november = Date.UTC(2026, 10, 21, 12);

function provider(id: string): Provider {
  const match = findProvider(id);
  assert.ok(match, id);
  return match;
}

test('the committed table has the documented shape and names its source and licence', () => {
  const table = priceTable.parse(loadPriceTable());
  assert.match(table.source, /^genai-prices \d/);
  assert.match(table.notice, /MIT License.*Pydantic Services/);
});

test('the committed table is what the generator makes of the installed price package', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-prices.ts', '--check'], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});

test('the table stays small enough to be read at every start', () => {
  assert.ok(readFileSync(new URL('./prices.gen.json', import.meta.url)).length < 250_000);
});

test('every provider with prices has a seller in the table, and every fallback is one too', () => {
  const table = loadPriceTable();
  for (const { id, prices } of ownProviders) assert.ok(prices === null || table.sellers[prices], id);
  for (const { fallback } of Object.values(table.sellers)) {
    for (const other of fallback ?? []) assert.ok(table.sellers[other], other);
  }
});

test('every model that the price package knows costs here what the package says, or is unknown where it says 0', () => {
  const times = [november, Date.UTC(2026, 10, 21, 2, 30), Date.UTC(2025, 3, 1, 20), Date.UTC(2027, 1, 1)];
  const usages = [
    { input: 1000, cacheRead: 500, cacheWrite5m: 300, cacheWrite1h: 200, output: 700, reasoning: 100 },
    { input: 900_000, cacheRead: 500, cacheWrite5m: 300, cacheWrite1h: 200, output: 700, reasoning: 100 },
  ];
  let compared = 0;
  for (const provider of ownProviders) {
    if (provider.prices === null) continue;
    const rows = findInPackage({ providerId: provider.prices })?.models ?? [];
    for (const model of new Set(rows.flatMap((row) => exampleIds(row.match)))) {
      for (const at of times) {
        for (const usage of usages) {
          const here = catalog.priceOf(provider, model, at);
          const cost = here === null ? null : costOf(here, { ...noUsage, ...usage });
          const theirs = calcPrice(packageUsage(usage), model, {
            providerId: provider.prices,
            timestamp: new Date(at),
          });
          if (cost === null) {
            const rates = theirs?.model_price ?? {};
            assert.ok(
              rates['output_mtok'] === undefined,
              `${provider.id}/${model} has a price but none here`,
            );
          } else {
            const expected = theirs?.total_price ?? Number.NaN;
            assert.ok(
              Math.abs(cost - expected) < 1e-9 * Math.max(1, expected),
              `${provider.id}/${model}: ${cost} ≠ ${expected}`,
            );
          }
          compared++;
        }
      }
    }
  }
  assert.ok(compared > 5000, `only ${compared} comparisons`);
});

function exampleIds(match: MatchLogic): string[] {
  if ('equals' in match) return [match.equals];
  if ('starts_with' in match)
    return [match.starts_with, `${match.starts_with}-preview`, `${match.starts_with}-20251001`];
  if ('contains' in match) return [match.contains];
  if ('or' in match) return match.or.flatMap(exampleIds);
  return [];
}

function packageUsage(usage: {
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  reasoning: number;
}) {
  return {
    input_tokens: usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_write_1h_tokens: usage.cacheWrite1h,
    output_tokens: usage.output + usage.reasoning,
    output_reasoning_tokens: usage.reasoning,
  };
}

test('an id is found in any case, with a dated suffix, and under the prefix of the provider’s own list', () => {
  const haiku = catalog.priceOf(provider('anthropic'), 'claude-haiku-4-5', november);
  assert.ok(haiku);
  assert.deepEqual(catalog.priceOf(provider('anthropic'), 'Claude-Haiku-4-5-20251001', november), haiku);
  assert.deepEqual(
    catalog.priceOf(provider('openai'), 'gpt-5-20250807', november),
    catalog.priceOf(provider('openai'), 'gpt-5', november),
  );
  assert.deepEqual(
    catalog.priceOf(provider('gemini'), 'models/gemini-3.8-flash', november),
    catalog.priceOf(provider('gemini'), 'gemini-3.8-flash', november),
  );
});

test('a later version never takes the price of the one whose name it begins with', () => {
  for (const id of [
    'claude-sonnet-5-5',
    'claude-sonnet-5.5',
    'claude-sonnet-5-5-20261101',
    'claude-haiku-4-5-1',
  ]) {
    assert.equal(catalog.priceOf(provider('anthropic'), id, november), null, id);
  }
  const startsWith = compile('^gemini-2.5-flash');
  for (const id of [
    'gemini-2.5-flash',
    'gemini-2.5-flash-09-2025',
    'gemini-2.5-flash-05-20',
    'gemini-2.5-flash-001',
  ]) {
    assert.ok(startsWith(id), id);
  }
  for (const id of ['gemini-2.5-flash-2', 'gemini-2.5-flash.2', 'gemini-2.5-flash-10'])
    assert.ok(!startsWith(id), id);
});

test('a model that is not in the table, or is not priced there, has no price', () => {
  for (const [id, model] of [
    ['openai', 'gpt-99'],
    ['openai', 'tts-1'],
    ['openai', ''],
    ['openrouter', 'google/lyria-3-pro-preview'],
    ['nvidia', 'openai/gpt-oss-120b'],
    ['openai-compatible', 'gpt-5'],
    ['openrouter', 'openrouter/auto'],
    ['qwen', 'qwen99-plus'],
  ] as const) {
    assert.equal(catalog.priceOf(provider(id), model, november), null, `${id}/${model}`);
  }
});

test('a name of Object.prototype is neither a model nor a provider of prices', () => {
  for (const model of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.equal(catalog.priceOf(provider('openai'), model, november), null, model);
  }
});

test('Azure prices a deployment that is named after a model of the vendors it resells', () => {
  const there = catalog.priceOf(provider('azure-openai'), 'gpt-5.4', november);
  assert.deepEqual(there, catalog.priceOf(provider('openai'), 'gpt-5.4', november));
  assert.equal(catalog.priceOf(provider('azure-openai'), 'my-deployment', november), null);
});

test('look-ups are remembered for a bounded number of names and stay right beyond it', () => {
  const prices = createPrices(loadPriceTable());
  for (let index = 0; index < 10_000; index++)
    assert.equal(prices.find('openai', `no-${index}`, { fallback: true }), null);
  assert.equal(prices.find('openai', 'gpt-5', { fallback: true })?.id, 'gpt-5');
  assert.equal(prices.find('openai', 'no-1', { fallback: true }), null);
});

test('models lists ids that find their own row and are not deprecated, suggested models among them', () => {
  for (const each of ownProviders) {
    const models = catalog.models(each);
    assert.equal(new Set(models).size, models.length, each.id);
    for (const id of models) {
      const info = catalog.describe(each, id);
      assert.ok(info, `${each.id}/${id} is offered but not described`);
      assert.equal(info.deprecated, false, id);
      assert.ok(catalog.offers(each, id), `${each.id}/${id} is listed and does not lead there`);
    }
  }
  const anthropic = catalog.models(provider('anthropic'));
  assert.ok(anthropic.includes('claude-sonnet-5'));
  assert.ok(!anthropic.includes('claude-opus-4-1'), 'retired on 2026-08-05');
  assert.ok(catalog.models(provider('fireworks')).every((id) => id.startsWith('accounts/fireworks/')));
});

test('a bare Claude or GPT name is known to its vendor only, not to those who resell or rename it', () => {
  assert.equal(catalog.describe(provider('anthropic'), 'claude-sonnet-5')?.contextWindow, 1_000_000);
  for (const [id, model] of [
    ['gemini', 'claude-sonnet-5'],
    ['azure-openai', 'gpt-5.4'],
    ['openrouter', 'gpt-4o'],
  ] as const) {
    assert.equal(catalog.offers(provider(id), model), false, `${id}/${model}`);
  }
});
