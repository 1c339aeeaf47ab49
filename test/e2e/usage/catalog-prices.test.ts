import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { builtInDataSet, parseDataSet } from '../../../src/catalog/data-set/file.ts';
import { findProvider } from '../../../src/providers/index.ts';
import { chat } from '../../support/formats/formats.ts';
import { type RunningGateway, rowsOf, startGateway } from '../../support/gateway/gateway.ts';
import { messagesAnswer } from '../../support/upstream/answers.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

/** Models that many people ask for, by the provider where they do, with every kind of price that the data set has. */
const wellKnown: Readonly<Record<string, readonly string[]>> = {
  openai: [
    'gpt-4.1',
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5.2',
    'gpt-5.4',
    'gpt-5.5',
    'o3',
    'o4-mini',
  ],
  anthropic: [
    'claude-haiku-4-5',
    'claude-opus-4-5',
    'claude-opus-4-8',
    'claude-sonnet-4-6',
    'claude-sonnet-5',
  ],
  groq: ['llama-3.1-8b-instant', 'llama-3.3-70b-versatile', 'openai/gpt-oss-120b', 'qwen/qwen3-32b'],
  cerebras: ['gpt-oss-120b'],
  moonshot: ['kimi-k2.5', 'kimi-k2.6', 'kimi-k2.7-code'],
  minimax: ['MiniMax-M2.7', 'MiniMax-M3'],
  zai: ['glm-4.6', 'glm-4.7', 'glm-5', 'glm-5.1'],
  qwen: [
    'qwen-max',
    'qwen-plus',
    'qwen-turbo',
    'qwen-omni-turbo',
    'qwen3-32b',
    'qwen3-max',
    'qwen3-coder-plus',
    'qwen3.5-27b',
  ],
  mistral: ['mistral-large-2512', 'mistral-small-2603'],
  cohere: ['command-a-03-2025', 'command-r-plus-08-2024'],
  perplexity: ['sonar', 'sonar-pro', 'sonar-deep-research'],
  together: ['deepseek-ai/DeepSeek-V4-Pro', 'zai-org/GLM-5.2'],
  fireworks: ['accounts/fireworks/models/glm-5p1', 'accounts/fireworks/models/kimi-k2p6'],
  deepinfra: ['deepseek-ai/DeepSeek-V3.2', 'XiaomiMiMo/MiMo-V2.5-Pro'],
  vercel: ['anthropic/claude-sonnet-4.6', 'anthropic/claude-opus-4.5', 'alibaba/qwen3.7-max'],
  xiaomi: ['mimo-v2.5-pro'],
};

const { table } = parseDataSet(readFileSync(builtInDataSet, 'utf8'));

interface Case {
  model: string;
  usage: object;
  /** USD, by the data set alone. */
  expected: number;
}

/** Tokens of a request below and above every tier; the rate is chosen by what goes in. */
const sizes = [1_000, 900_000] as const;

/** One request for each bucket that has a price, in each of its tiers. */
function casesOf(provider: string, model: string): Case[] {
  const source = findProvider(provider)?.modelsDev ?? '';
  const price = table[source]?.find(({ id }) => id === model)?.price;
  assert.ok(price, `${provider}/${model} has no price in the data set`);
  const usageOf = provider === 'anthropic' ? messagesUsage : chatUsage;
  return sizes.flatMap((tokens) =>
    (Object.keys(price) as (keyof typeof usageOf)[]).flatMap((bucket) => {
      const usage = usageOf[bucket]?.(tokens);
      if (usage === undefined) return [];
      // Output is priced by the tier of the input, of which these requests have none.
      const goesIn = bucket !== 'o' && bucket !== 't' && bucket !== 'b';
      const rate = rateOf(price[bucket as keyof typeof price], goesIn ? tokens : 0);
      return [{ model: `${provider}/${model}`, usage, expected: (tokens * rate) / 1_000_000 }];
    }),
  );
}

function rateOf(rate: unknown, tokens: number): number {
  if (!Array.isArray(rate)) return Number(rate);
  let found = Number(rate[0]);
  for (let index = 1; index < rate.length; index += 2) if (tokens > rate[index]) found = rate[index + 1];
  return found;
}

type UsageOf = Readonly<Partial<Record<string, (tokens: number) => object>>>;

const chatUsage: UsageOf = {
  i: (tokens) => ({ prompt_tokens: tokens, completion_tokens: 0 }),
  o: (tokens) => ({ prompt_tokens: 0, completion_tokens: tokens }),
  r: (tokens) => ({
    prompt_tokens: tokens,
    completion_tokens: 0,
    prompt_tokens_details: { cached_tokens: tokens },
  }),
  t: (tokens) => ({
    prompt_tokens: 0,
    completion_tokens: tokens,
    completion_tokens_details: { reasoning_tokens: tokens },
  }),
  a: (tokens) => ({
    prompt_tokens: tokens,
    completion_tokens: 0,
    prompt_tokens_details: { audio_tokens: tokens },
  }),
  b: (tokens) => ({
    prompt_tokens: 0,
    completion_tokens: tokens,
    completion_tokens_details: { audio_tokens: tokens },
  }),
};

const messagesUsage: UsageOf = {
  i: (tokens) => ({ input_tokens: tokens, output_tokens: 0 }),
  o: (tokens) => ({ input_tokens: 0, output_tokens: tokens }),
  r: (tokens) => ({ input_tokens: 0, cache_read_input_tokens: tokens, output_tokens: 0 }),
  w: (tokens) => ({ input_tokens: 0, cache_creation_input_tokens: tokens, output_tokens: 0 }),
};

describe('fifty well-known models', () => {
  let gateway: RunningGateway;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    const connections = Object.keys(wellKnown).map((provider) => ({
      provider,
      name: provider,
      baseUrl: upstream.url,
    }));
    gateway = await startGateway({ connections });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('cost in the ledger what the data set says, in every bucket and tier', async () => {
    const models = Object.entries(wellKnown).flatMap(([provider, ids]) =>
      ids.map((id) => ({ provider, id })),
    );
    assert.ok(models.length >= 50, String(models.length));
    const cases = models.flatMap(({ id, provider }) => casesOf(provider, id));
    upstream.respond(({ body }) => {
      const asked = cases[Number(JSON.parse(body.toString()).messages[0].content)];
      assert.ok(asked);
      const { usage } = asked;
      const isMessages = asked.model.startsWith('anthropic/');
      return [json(200, { ...(isMessages ? messagesAnswer() : chat.answer()), usage })];
    });
    const replies = await Promise.all(
      cases.map(({ model }, index) => {
        const messages = [{ role: 'user', content: String(index) }];
        return model.startsWith('anthropic/')
          ? gateway.ask('/v1/messages', { model, max_tokens: 100, messages })
          : gateway.ask('/v1/chat/completions', { model, messages });
      }),
    );
    const rows = await rowsOf(gateway, replies);
    const wrong = cases.flatMap(({ expected, model, usage }, index) => {
      const cost = rows[index]?.cost_usd ?? null;
      const close = cost !== null && Math.abs(cost - expected) <= 1e-9 * Math.max(1, expected);
      return close ? [] : [`${model} ${JSON.stringify(usage)}: ${cost}, not ${expected}`];
    });
    assert.deepEqual(wrong, []);
    assert.ok(cases.length > 300, `${cases.length} requests`);
  });
});
