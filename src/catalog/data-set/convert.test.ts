import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertDataSet } from './convert.ts';
import { modelTable } from './schema.ts';

const model = {
  id: 'big',
  name: 'Big',
  reasoning: true,
  tool_call: true,
  structured_output: true,
  release_date: '2026-03-05',
  modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
  limit: { context: 1_000_000, input: 900_000, output: 128_000 },
  cost: {
    input: 2,
    output: 8,
    cache_read: 0.2,
    cache_write: 2.5,
    reasoning: 9,
    input_audio: 30,
    output_audio: 60,
  },
};

function entries(models: object, provider: object = {}) {
  const converted = convertDataSet({
    acme: { id: 'acme', npm: '@ai-sdk/openai-compatible', models, ...provider },
  });
  return { ...converted, list: modelTable.parse(converted.table)['acme'] ?? [] };
}

test('a model keeps its limits, abilities and the price of every bucket', () => {
  assert.deepEqual(entries({ big: model }).list, [
    {
      id: 'big',
      name: 'Big',
      ctx: 1_000_000,
      input: 900_000,
      output: 128_000,
      in: 'tip',
      out: 't',
      can: 'rts',
      released: '2026-03-05',
      price: { i: 2, o: 8, r: 0.2, w: 2.5, t: 9, a: 30, b: 60 },
    },
  ]);
});

test('a tier holds for the rates that it names, and what it leaves out stays as it is', () => {
  const tiers = [
    { tier: { size: 400 }, input: 5, output: 8 },
    { tier: { size: 200 }, input: 4, output: 8, cache_read: 0.4 },
  ];
  const [entry] = entries({ big: { ...model, cost: { input: 2, output: 8, cache_read: 0.2, tiers } } }).list;
  assert.deepEqual(entry?.price, { i: [2, 200, 4, 400, 5], o: 8, r: [0.2, 200, 0.4] });
});

test('a missing price stays unknown, and a free model is marked free', () => {
  const { list } = entries({
    bare: { id: 'bare' },
    free: { id: 'free', cost: { input: 0, output: 0 } },
    half: { id: 'half', cost: { input: 1 } },
  });
  assert.deepEqual(list, [{ id: 'bare' }, { id: 'free', price: { i: 0, o: 0 } }, { id: 'half' }]);
});

test('a request that asks to be served sooner has prices of its own', () => {
  const modes = {
    fast: { cost: { input: 4, output: 16 }, provider: { body: { service_tier: 'priority' } } },
    quick: { cost: { input: 6, output: 24 }, provider: { body: { speed: 'fast' } } },
  };
  const [entry] = entries({ big: { ...model, experimental: { modes } } }).list;
  assert.deepEqual(entry?.priority, { i: 4, o: 16 });
  assert.deepEqual(entry?.fast, { i: 6, o: 24 });
});

test('a provider that serves its models in several formats says which for each', () => {
  const { list } = entries({
    a: { id: 'a', provider: { npm: '@ai-sdk/anthropic' } },
    b: { id: 'b' },
    c: { id: 'c', provider: { npm: '@ai-sdk/openai' } },
    d: { id: 'd', provider: { shape: 'responses' } },
  });
  assert.deepEqual(
    list.map(({ format }) => format),
    ['anthropic-messages', 'openai-chat', 'openai-responses', 'openai-responses'],
  );
  const alike = entries({ a: { id: 'a', provider: { npm: '@ai-sdk/openai-compatible' } }, b: { id: 'b' } });
  assert.deepEqual(alike.list[1], { id: 'b' });
});

test('a model without the shape of one is left out and named, the others are kept', () => {
  const { list, models, refused } = entries({
    bad: { id: 'bad', cost: { input: -1, output: 1 } },
    good: { id: 'good' },
    worse: 'text',
  });
  assert.equal(models, 3);
  assert.deepEqual(list, [{ id: 'good' }]);
  assert.match(refused.join('\n'), /acme\/bad: cost\.input: .*\nacme\/worse: /s);
});

test('a kind, a state or a date that is not known yet is passed over', () => {
  const { list, refused } = entries({
    big: {
      id: 'big',
      modalities: { input: ['text', 'smell'], output: ['text', 'constructor'] },
      status: 'retired',
      release_date: 'soon',
    },
  });
  assert.deepEqual([list, refused], [[{ id: 'big', in: 't', out: 't' }], []]);
});

test('what is no data set is refused', () => {
  for (const document of [null, [], 'text', 3]) assert.throws(() => convertDataSet(document), TypeError);
  assert.deepEqual(convertDataSet({ acme: 'text' }).table, {});
  assert.deepEqual(Object.keys(convertDataSet(JSON.parse('{"__proto__":{"id":"x","models":{}}}')).table), []);
});
