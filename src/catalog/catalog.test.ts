import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProvider } from '../providers/index.ts';
import type { Provider } from '../providers/provider.ts';
import { createCatalog } from './catalog.ts';

const catalog = createCatalog({ overrides: { 'stepfun/step-3.5-flash': { input: 7, output: 8 } } });
const now = Date.UTC(2026, 10, 22);

function provider(id: string): Provider {
  const match = findProvider(id);
  assert.ok(match, id);
  return match;
}

test('a price is the override’s, else the table’s, else the data set’s, and never a mixture', () => {
  const stepfun = provider('stepfun');
  assert.equal(catalog.priceOf(stepfun, 'step-3.5-flash', now)?.source, 'override');
  const { dataSet, override, table } = catalog.prices(stepfun, 'step-3.5-flash', now);
  assert.deepEqual([override?.input, table], [7, null]);
  assert.match(String(dataSet?.source), /^models\.dev/);
  const vendor = catalog.prices(provider('openai'), 'gpt-5.4', now);
  assert.ok(vendor.table && vendor.dataSet);
  assert.deepEqual(catalog.priceOf(provider('openai'), 'gpt-5.4', now), vendor.table);
  assert.equal(catalog.priceOf(provider('ollama'), 'anything', now)?.source, 'free');
});

test('a price of 0 counts when a source confirms that it is free, and is otherwise unknown', () => {
  for (const [id, model, cost] of [
    ['zai-coding-plan', 'glm-5.2', 0],
    ['github-models', 'deepseek/deepseek-r1', 0],
    ['opencode', 'deepseek-v4-flash-free', 0],
    ['openrouter', 'google/lyria-3-pro-preview', null],
    ['privatemode-ai', 'gpt-oss-120b', null],
    ['nano-gpt', 'auto-model', null],
  ] as const) {
    assert.notEqual(catalog.describe(provider(id), model), null, `${id}/${model}`);
    assert.equal(catalog.priceOf(provider(id), model, now)?.input ?? null, cost, `${id}/${model}`);
  }
});

test('a request that asks to be served sooner has a price of its own beside the usual one', () => {
  const tiersOf = (id: string, model: string) =>
    Object.fromEntries(catalog.tierPrices(provider(id), model, now).map(({ price, tier }) => [tier, price]));
  const { fast, priority } = tiersOf('openai', 'gpt-5.4');
  assert.deepEqual([priority?.input, priority?.output, fast], [5, 30, undefined]);
  assert.ok(tiersOf('anthropic', 'claude-opus-4-7')['fast']);
  assert.deepEqual(tiersOf('ollama', 'any'), {});
  const priceOf = (id: string, model: string, tier: string | null) =>
    catalog.priceOf(provider(id), model, now, tier);
  assert.deepEqual(priceOf('openai', 'gpt-5.4-2026-03-05', 'priority'), priority, 'a snapshot of the model');
  assert.deepEqual(priceOf('openai', 'gpt-5.4', 'default'), priceOf('openai', 'gpt-5.4', null));
});

test('a tier without a price in the data set costs what its vendor documents', () => {
  const usual = catalog.priceOf(provider('openai'), 'gpt-5-mini', now);
  const flex = catalog.priceOf(provider('openai'), 'gpt-5-mini', now, 'flex');
  assert.deepEqual([usual?.input, usual?.output, usual?.cacheRead], [0.25, 2, 0.025]);
  assert.deepEqual([flex?.input, flex?.output, flex?.cacheRead], [0.125, 1, 0.0125]);
  assert.deepEqual(flex?.webSearch, usual?.webSearch, 'a search costs the same in each');
  assert.match(flex?.source ?? '', /× 0\.5 \(developers\.openai\.com \d{4}-\d\d-\d\d\)$/);
  assert.equal(catalog.priceOf(provider('openai'), 'gpt-5-mini', now, 'priority')?.input, 0.45);
  assert.equal(catalog.priceOf(provider('groq'), 'qwen/qwen3-32b', now, 'performance'), null);
  assert.equal(catalog.priceOf(provider('anthropic'), 'claude-sonnet-5', now, 'priority'), null);
});

test('the owner says what a tier costs', () => {
  const own = createCatalog({
    overrides: { 'openai/gpt-5': { input: 1, output: 2, tiers: { scale: { input: 3, output: 4 } } } },
  });
  const inputs = [null, 'scale', 'flex', 'unheard-of'].map(
    (tier) => own.priceOf(provider('openai'), 'gpt-5', now, tier)?.input ?? null,
  );
  assert.deepEqual(inputs, [1, 3, 0.5, null]);
});

test('each fact names its source', () => {
  const openai = provider('openai');
  const sources = catalog.factSources(openai, 'gpt-5.4');
  const { head } = catalog.dataSet;
  assert.equal(sources.outputLimit, head().source);
  assert.equal(sources.tools, head().source);
  assert.equal(catalog.factSources(openai, 'gpt-6-luna').contextWindow?.startsWith('genai-prices'), true);
  assert.equal(catalog.factSources(openai, 'gpt-6-luna').outputLimit, null, 'newer than the data set');
});

test('abilities are those at the provider, and those of the family where it lists none', () => {
  assert.deepEqual(catalog.abilities(provider('opencode'), 'claude-sonnet-4-6'), {
    tools: true,
    images: true,
  });
  assert.deepEqual(catalog.abilities(provider('groq'), 'openai/gpt-oss-120b'), {
    tools: true,
    images: false,
  });
  assert.deepEqual(catalog.abilities(provider('openai-compatible'), 'gpt-5'), { tools: true, images: true });
  assert.deepEqual(catalog.abilities(provider('openai-compatible'), 'house-model'), {});
});

test('ids are compared without regard to case, and with the prefix of Google’s list', () => {
  const info = catalog.describe(provider('minimax-cn'), 'minimax-m3');
  assert.ok(info?.contextWindow);
  assert.deepEqual(catalog.describe(provider('minimax-cn'), 'MiniMax-M3'), info);
  const gemini = provider('gemini');
  assert.deepEqual(
    catalog.describe(gemini, 'models/gemini-2.5-pro'),
    catalog.describe(gemini, 'gemini-2.5-pro'),
  );
  for (const name of ['__proto__', 'constructor', ''])
    assert.equal(catalog.describe(gemini, name), null, name);
});

test('deployments are described by the model that they are named after, and lead nowhere by themselves', () => {
  for (const id of ['azure-openai', 'azure-cognitive-services']) {
    assert.deepEqual(catalog.models(provider(id)), [], id);
    assert.equal(catalog.offers(provider(id), 'gpt-5.4'), false, id);
    assert.ok(catalog.describe(provider(id), 'gpt-5.4')?.contextWindow, id);
  }
});

test('a model that the provider serves in a format that nothing here reaches is not offered', () => {
  // Its GPT models stand at another host, in the chat format.
  const freemodel = provider('freemodel');
  assert.deepEqual(Object.keys(freemodel.formats), ['anthropic-messages']);
  assert.ok(catalog.models(freemodel).length > 0);
  for (const model of catalog.models(freemodel))
    assert.notEqual(catalog.describe(freemodel, model)?.format, 'openai-chat', model);
});
