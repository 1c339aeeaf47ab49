import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, parseObject } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { translateRequest } from '../../src/proxy/translate/request.ts';
import { agentSessions, call, type Round, type SessionRequest } from '../support/agents/agent-sessions.ts';
import { fc } from '../support/machine/properties.ts';
import { connectionWith } from '../support/routing/connection.ts';
import { promptTokens } from '../support/upstream/caching-vendor.ts';
import { type CachedUsage, promptCache } from '../support/upstream/prompt-cache.ts';

const model = 'claude-sonnet-5';
const target = {
  connection: connectionWith({}),
  provider: anthropic,
  model,
  format: 'anthropic-messages' as const,
};
const formats: readonly (readonly [path: string, format: WireFormat])[] = [
  ['/chat/completions', 'openai-chat'],
  ['/responses', 'openai-responses'],
  ['/v1beta/', 'gemini'],
  ['/api/chat', 'ollama'],
];

/** A request of a tool as Anthropic gets it. */
function translated({ body, path }: SessionRequest): JsonObject {
  const [, format = 'openai-chat'] = formats.find(([part]) => path.includes(part)) ?? [];
  const named = format === 'gemini' ? { model, stream: true, array: false } : null;
  const request = translateRequest({ body: [Buffer.from(JSON.stringify(body))], named, target }, format);
  return parseObject(Buffer.concat(request.body).toString()) ?? {};
}

/** Any round: nothing said, no calls, many calls, results that are empty. */
const round: fc.Arbitrary<Round> = fc
  .record({
    said: fc.constantFrom('', ' ', 'I look.'),
    calls: fc.array(fc.constantFrom(0, 1, 40, 400), { maxLength: 30 }),
    next: fc.constantFrom('', 'Go on with the next one.'),
    number: fc.nat(1_000),
  })
  .map(({ calls, next, number, said }) => ({
    said,
    calls: calls.map((length, index) => call(number, index, length)),
    next: calls.length === 0 && next === '' ? 'And now?' : next,
  }));

describe('prompt caching in a session', () => {
  for (const { steps, tool } of agentSessions)
    it(`every step of ${tool} reads all of the step before out of the prompt cache`, () => {
      fc.assert(
        fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), (rounds) => {
          const cache = promptCache({ minimum: 1024, now: () => 0 });
          const usages: CachedUsage[] = [];
          for (const step of steps(model, 'k', rounds)) {
            const said = cache.ask(translated(step));
            assert.ok('usage' in said, JSON.stringify(said));
            const before = usages.at(-1);
            if (before !== undefined)
              assert.equal(said.usage.cache_read_input_tokens, promptTokens({ usage: before }));
            usages.push(said.usage);
          }
        }),
        { numRuns: 40 },
      );
    });
});

const blocks = (count: number, marks: readonly number[]) => ({
  messages: [
    {
      role: 'user',
      content: Array.from({ length: count }, (_, index) => ({
        type: 'text',
        text: `${index} `.repeat(100),
        ...(marks.includes(index + 1) ? { cache_control: { type: 'ephemeral' } } : {}),
      })),
    },
  ],
});

describe('the prompt cache of these tests', () => {
  const read = (said: ReturnType<ReturnType<typeof promptCache>['ask']>) =>
    'usage' in said ? said.usage.cache_read_input_tokens : said.refused;

  it('looks back at 20 blocks from each mark, as the vendor’s example has it', () => {
    const { ask } = promptCache({ minimum: 0, now: () => 0 });
    const [first, second] = [ask(blocks(10, [10])), ask(blocks(15, [15]))];
    assert.ok('usage' in first && 'usage' in second);
    assert.equal(read(first), 0);
    assert.equal(read(second), promptTokens(first));
    assert.equal(read(ask(blocks(35, [35]))), 0);
    const fresh = promptCache({ minimum: 0, now: () => 0 });
    fresh.ask(blocks(15, [15]));
    assert.equal(read(fresh.ask(blocks(35, [35, 15]))), promptTokens(second));
  });

  it('forgets after five minutes without use, and keeps nothing that is short', () => {
    let now = 0;
    const cache = promptCache({ minimum: 100, now: () => now });
    cache.ask(blocks(10, [10]));
    for (const [minutes, hits] of [
      [4, true],
      [8, true],
      [14, false],
    ] as const) {
      now = minutes * 60_000;
      assert.equal(read(cache.ask(blocks(10, [10]))) !== 0, hits, `after ${minutes} minutes`);
    }
    const short = promptCache({ minimum: 5_000, now: () => 0 });
    assert.deepEqual([short.ask(blocks(2, [2])), short.ask(blocks(2, [2]))].map(read), [0, 0]);
  });

  it('refuses more than four marks', () => {
    const { ask } = promptCache({ minimum: 0, now: () => 0 });
    assert.match(String(read(ask(blocks(9, [1, 2, 3, 4, 5])))), /maximum of 4 blocks .* Found 5/);
  });
});
