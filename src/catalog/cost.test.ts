import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { noUsage, type Usage } from '../codecs/wire-format.ts';
import { findProvider } from '../providers/index.ts';
import { createCatalog } from './catalog.ts';
import { cacheSavings, costOf } from './cost.ts';
import type { ModelPrice, Rate } from './price.ts';

const catalog = createCatalog({ overrides: {} });
const november = Date.UTC(2026, 10, 21, 12);

function price(providerId: string, model: string, at = november, from = catalog): ModelPrice {
  const provider = findProvider(providerId);
  assert.ok(provider, providerId);
  const price = from.priceOf(provider, model, at);
  assert.ok(price, `${providerId}/${model}`);
  return price;
}

function cost(of: ModelPrice, usage: Partial<Usage>): number {
  const usd = costOf(of, { ...noUsage, ...usage });
  assert.ok(usd !== null);
  return usd;
}

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} ≠ ${expected}`);
}

test('OpenAI: cached input costs a tenth and is not billed twice', () => {
  // 10,000 prompt tokens of which 8,000 were cached, at 1.25 and 0.125; 500 completion tokens of which 300 reasoning, at 10.
  const usd = cost(price('openai', 'gpt-5'), { input: 2000, cacheRead: 8000, output: 200, reasoning: 300 });
  near(usd, 0.0025 + 0.001 + 0.005);
});

test('Anthropic: five-minute writes cost 1.25 and one-hour writes 2 times the input, reads a tenth', () => {
  // Sonnet 4.5: input 3, write 3.75, one-hour write 6, read 0.3, output 15.
  const usd = cost(price('anthropic', 'claude-sonnet-4-5-20250929'), {
    input: 1000,
    cacheWrite5m: 20_000,
    cacheWrite1h: 10_000,
    cacheRead: 100_000,
    output: 1500,
    reasoning: 500,
  });
  near(usd, 0.003 + 0.075 + 0.06 + 0.03 + 0.0225 + 0.0075);
});

test('Anthropic: web searches cost 10 USD per thousand', () => {
  near(cost(price('anthropic', 'claude-sonnet-5'), { output: 100, webSearches: 3 }), 0.001 + 0.03);
});

test('GPT-5.4: from 272,000 input tokens on, cached ones included, the whole request costs the higher rate', () => {
  const gpt = price('openai', 'gpt-5.4');
  near(cost(gpt, { input: 1999, cacheRead: 270_000, output: 1000 }), 1999 * 2.5e-6 + 0.27 * 0.25 + 0.015);
  near(cost(gpt, { input: 2000, cacheRead: 270_000, output: 1000 }), 0.01 + 0.27 * 0.5 + 0.0225);
});

test('Claude Sonnet 4.5: above 200,000 input tokens every bucket costs its long-context rate', () => {
  const sonnet = price('anthropic', 'claude-sonnet-4-5', Date.UTC(2026, 0, 15));
  const usage = { input: 50_000, cacheRead: 100_000, cacheWrite5m: 50_000, output: 1000 };
  near(cost(sonnet, usage), 0.15 + 0.03 + 0.1875 + 0.015);
  near(cost(sonnet, { ...usage, input: 50_001 }), 50_001 * 6e-6 + 0.06 + 0.375 + 0.0225);
});

test('Claude Sonnet 4.6: the long-context price ended on 2026-03-13', () => {
  const usage = { input: 250_000, output: 1000 };
  near(cost(price('anthropic', 'claude-sonnet-4-6', Date.UTC(2026, 2, 12, 23, 59, 59)), usage), 1.5 + 0.0225);
  near(cost(price('anthropic', 'claude-sonnet-4-6', Date.UTC(2026, 2, 13)), usage), 0.75 + 0.015);
});

test('Gemini 2.5 Pro: the tier begins above 200,000 tokens', () => {
  const gemini = price('gemini', 'gemini-2.5-pro');
  near(cost(gemini, { input: 200_000, reasoning: 4000, output: 1000 }), 0.25 + 0.05);
  near(cost(gemini, { input: 200_001, reasoning: 4000, output: 1000 }), 200_001 * 2.5e-6 + 0.075);
});

test('Gemini 2.5 Flash: audio input has its own rate', () => {
  near(
    cost(price('gemini', 'gemini-2.5-flash'), { input: 1000, audioInput: 1000, output: 100 }),
    0.0003 + 0.001 + 0.00025,
  );
});

test('DeepSeek V4: peak hours of the UTC day cost double', () => {
  const usage = { input: 1_000_000, output: 0 };
  const at = (hour: number, minute = 0) =>
    cost(price('deepseek', 'deepseek-v4-pro', Date.UTC(2026, 10, 20, hour, minute)), usage);
  near(at(0, 59), 0.66);
  near(at(1), 1.32);
  near(at(3, 59), 1.32);
  near(at(4), 0.66);
  near(at(9, 59), 1.32);
  near(at(10), 0.66);
});

test('a daily window that passes midnight holds on both of its sides', () => {
  const table = {
    source: 'test',
    notice: '',
    sellers: {
      openai: {
        models: [
          {
            id: 'm',
            price: [
              { i: 1, o: 1 },
              { daily: [82_800, 3600] as [number, number], i: 2, o: 2 },
            ],
          },
        ],
      },
    },
  };
  const night = createCatalog({ overrides: {}, table });
  for (const [hour, rate] of [
    [22, 1],
    [23, 2],
    [0, 2],
    [1, 1],
  ] as const) {
    assert.equal(price('openai', 'm', Date.UTC(2026, 10, 20, hour), night).input, rate, `${hour} h`);
  }
});

test('embeddings have no output price: their input is priced, output that should not exist makes the cost unknown', () => {
  const embedding = price('openai', 'text-embedding-3-small');
  near(cost(embedding, { input: 1_000_000 }), 0.02);
  assert.equal(costOf(embedding, { ...noUsage, input: 10, output: 1 }), null);
});

test('a search without a known rate makes the cost unknown, never free', () => {
  assert.equal(
    costOf({ input: 1, output: 1, source: 'test' }, { ...noUsage, input: 10, webSearches: 1 }),
    null,
  );
});

test('missing rates fall back: cache and audio input to input, one-hour to five-minute writes, the rest to output', () => {
  const plain: ModelPrice = { input: 1, output: 10, source: 'test' };
  const million = 1_000_000;
  near(cost(plain, { cacheRead: million }), 1);
  near(cost(plain, { cacheWrite5m: million }), 1);
  near(cost(plain, { cacheWrite1h: million }), 1);
  near(cost(plain, { audioInput: million }), 1);
  near(cost(plain, { reasoning: million }), 10);
  near(cost(plain, { audioOutput: million }), 10);
  near(cost({ ...plain, cacheWrite5m: 3 }, { cacheWrite1h: million }), 3);
});

test('local servers and the demo are free, and say so', () => {
  for (const id of ['ollama', 'lm-studio', 'llama-cpp', 'vllm', 'demo']) {
    const local = price(id, 'anything');
    assert.equal(local.source, 'free');
    assert.equal(costOf(local, { ...noUsage, input: 1000, output: 1000, webSearches: 1 }), 0);
  }
});

test('models that the table calls free cost nothing', () => {
  assert.equal(costOf(price('openrouter', 'openai/gpt-oss-20b:free'), { ...noUsage, input: 1000 }), 0);
  assert.equal(costOf(price('gemini', 'gemma-4-31b-it'), { ...noUsage, input: 1000 }), 0);
});

test('overrides win: the provider before *, the full name before a pattern, the longer pattern before the shorter', () => {
  const own = createCatalog({
    overrides: {
      '*/gpt-5': { input: 1, output: 1 },
      '*/gpt-*': { input: 2, output: 2 },
      'openai/gpt-*': { input: 3, output: 3 },
      'openai/GPT-5.4*': { input: 4, output: 4 },
      'openai/gpt-5.4': { input: 5, output: 5, cache_read: 0.5 },
      'ollama/*': { input: 6, output: 6 },
      'openai-compatible/org/model': { input: { base: 7, tiers: [{ above: 100, rate: 8 }] }, output: 7 },
    },
  });
  assert.equal(price('openai', 'gpt-5.4', november, own).input, 5);
  assert.equal(price('openai', 'gpt-5.4', november, own).cacheRead, 0.5);
  assert.equal(price('openai', 'gpt-5.4-mini', november, own).input, 4);
  assert.equal(price('openai', 'gpt-5', november, own).input, 3);
  assert.equal(price('azure-openai', 'gpt-5', november, own).input, 1);
  assert.equal(price('nvidia', 'gpt-x', november, own).input, 2);
  assert.equal(price('ollama', 'llama', november, own).input, 6);
  assert.equal(price('ollama', 'llama', november, own).source, 'override');
  near(cost(price('openai-compatible', 'org/model', november, own), { input: 101 }), 101 * 8e-6);
  assert.equal(price('openai', 'gpt-5.4', november, own).webSearch, 10, 'the search rate of the table stays');
  assert.equal(price('anthropic', 'claude-sonnet-5', november, own).source, catalogSource());
});

function catalogSource(): string {
  return price('anthropic', 'claude-sonnet-5').source;
}

test('an override for a provider that does not exist is refused by name', () => {
  assert.throws(() => createCatalog({ overrides: { 'opnai/gpt-5': { input: 1, output: 1 } } }), {
    code: 'invalid_request',
    message: /opnai\/gpt-5/,
  });
});

test('a count that is not a number from zero up makes the cost unknown', () => {
  const plain: ModelPrice = { input: 1, output: 1, source: 'test' };
  for (const input of [-1, Number.NaN])
    assert.equal(costOf(plain, { ...noUsage, input }), null, String(input));
});

const rates = fc.double({ min: 0, max: 1000, noNaN: true });
const tokens = fc.nat({ max: 2_000_000 });
const flat: fc.Arbitrary<ModelPrice> = fc.record(
  {
    input: rates,
    output: rates,
    cacheRead: rates,
    cacheWrite5m: rates,
    cacheWrite1h: rates,
    reasoning: rates,
    audioInput: rates,
    audioOutput: rates,
    imageInput: rates,
    imageOutput: rates,
    webSearch: rates,
    image: rates,
    audioHour: rates,
    characters: rates,
    searchUnit: rates,
    source: fc.constant('test'),
  },
  {
    requiredKeys: [
      'input',
      'output',
      'webSearch',
      'image',
      'audioHour',
      'characters',
      'searchUnit',
      'source',
    ],
  },
);
const usages: fc.Arbitrary<Usage> = fc.record({
  input: tokens,
  cacheRead: tokens,
  cacheWrite5m: tokens,
  cacheWrite1h: tokens,
  output: tokens,
  reasoning: tokens,
  audioInput: tokens,
  audioOutput: tokens,
  imageInput: tokens,
  imageOutput: tokens,
  webSearches: fc.nat({ max: 100 }),
  images: fc.nat({ max: 10 }),
  audioSeconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
  characters: tokens,
  searchUnits: fc.nat({ max: 10 }),
});
const buckets = Object.keys(noUsage) as (keyof Usage)[];

test('GPT Image: pictures given and made have their own rates', () => {
  // 40 text tokens at 5, 300 picture tokens at 8, 1,000 made at 32.
  const usage = { input: 40, imageInput: 300, imageOutput: 1000 };
  near(cost(price('openai', 'gpt-image-1.5'), usage), 0.0002 + 0.0024 + 0.032);
  // Without a rate of its own, a picture costs as other output: 40 for GPT Image 1, all of whose output is pictures.
  near(cost(price('openai', 'gpt-image-1'), { imageOutput: 1000 }), 0.04);
});

test('Whisper: speech by the hour, at OpenAI and at Groq', () => {
  near(cost(price('openai', 'whisper-1'), { audioSeconds: 90 }), 0.009);
  near(cost(price('groq', 'whisper-large-v3-turbo'), { audioSeconds: 3600 }), 0.04);
  assert.equal(costOf(price('openai', 'whisper-1'), { ...noUsage, input: 5 }), null);
});

test('moderations at OpenAI are free', () => {
  near(cost(price('openai', 'omni-moderation-latest'), { input: 500 }), 0);
});

test('pictures, characters and searches cost what the owner says, and are unknown without that', () => {
  const own = createCatalog({
    overrides: {
      'openai/dall-e-3': { image: 0.04 },
      'openai/tts-1': { characters: 15 },
      'openai-compatible/rerank': { search_unit: 2 },
      'openai/whisper-1': { audio_hour: 1 },
    },
  });
  near(cost(price('openai', 'dall-e-3', november, own), { images: 3 }), 0.12);
  near(cost(price('openai', 'tts-1', november, own), { characters: 2000 }), 0.03);
  near(cost(price('openai-compatible', 'rerank', november, own), { searchUnits: 5 }), 0.01);
  near(cost(price('openai', 'whisper-1', november, own), { audioSeconds: 36 }), 0.01);
  const gpt = price('openai', 'gpt-5');
  for (const unit of ['images', 'audioSeconds', 'characters', 'searchUnits'])
    assert.equal(costOf(gpt, { ...noUsage, [unit]: 1 }), null, unit);
});

test('within a tier the cost of a request is the sum of the costs of its buckets', () => {
  fc.assert(
    fc.property(flat, usages, (of, usage) => {
      const parts = buckets.map((bucket) => cost(of, { [bucket]: usage[bucket] }));
      const sum = parts.reduce((total, part) => total + part, 0);
      assert.ok(Math.abs(cost(of, usage) - sum) <= 1e-9 * Math.max(1, sum));
    }),
  );
});

test('a cost is never negative', () => {
  fc.assert(fc.property(flat, usages, (of, usage) => cost(of, usage) >= 0));
});

test('one token more never makes a request cheaper, when higher tiers cost no less', () => {
  const rising: fc.Arbitrary<Rate> = fc
    .tuple(rates, fc.array(fc.tuple(tokens, rates), { minLength: 1, maxLength: 3 }))
    .map(([base, steps]) => {
      const tiers: { above: number; rate: number }[] = [];
      for (const [above, more] of steps.sort((a, b) => a[0] - b[0])) {
        tiers.push({ above, rate: (tiers.at(-1)?.rate ?? base) + more });
      }
      return { base, tiers };
    });
  fc.assert(
    fc.property(
      flat,
      rising,
      rising,
      usages,
      fc.constantFrom(...buckets),
      (of, input, output, usage, bucket) => {
        const tiered = { ...of, input, output };
        assert.ok(
          cost(tiered, { ...usage, [bucket]: usage[bucket] + 1 }) >= cost(tiered, usage) * (1 - 1e-12),
        );
      },
    ),
  );
});

test('a prompt cache saves what its tokens would have cost as input, less what they did cost', () => {
  const sonnet = price('anthropic', 'claude-sonnet-5');
  const saved = (usage: Partial<Usage>) => cacheSavings(sonnet, { ...noUsage, ...usage });
  // Input 2, write 2.5, one-hour write 4, read 0.2 for a million.
  assert.equal(saved({ input: 5_000, output: 300 }), 0);
  assert.equal(saved({ cacheRead: 1_000_000, output: 10 }), 1.8);
  assert.equal(saved({ cacheWrite5m: 1_000_000 }), -0.5);
  assert.equal(saved({ cacheWrite1h: 1_000_000, cacheRead: 1_000_000 }), -0.2);
  assert.equal(cacheSavings({ input: null, output: 1, source: 's' }, { ...noUsage, cacheRead: 1 }), null);
});

test('a prompt cache saves the difference between two costs, whatever the price', () => {
  const amount = fc.double({ min: 0, max: 100, noNaN: true });
  const rate = fc.oneof(amount, fc.record({ base: amount, tiers: fc.constant([{ above: 1_000, rate: 7 }]) }));
  const made = fc.record({ input: rate, output: rate, cacheRead: rate, cacheWrite5m: rate });
  const tokens = fc.nat(100_000);
  fc.assert(
    fc.property(made, tokens, tokens, tokens, (rates, input, cacheRead, cacheWrite5m) => {
      const of: ModelPrice = { ...rates, source: 's' };
      const all = input + cacheRead + cacheWrite5m;
      const saved = cacheSavings(of, { ...noUsage, input, cacheRead, cacheWrite5m });
      const difference = cost(of, { input: all }) - cost(of, { input, cacheRead, cacheWrite5m });
      assert.ok(Math.abs((saved ?? Number.NaN) - difference) < 1e-9);
    }),
  );
});
