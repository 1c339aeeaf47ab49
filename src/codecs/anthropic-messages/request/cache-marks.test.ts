import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../../test/support/machine/properties.ts';
import { type CachedUsage, promptCache } from '../../../../test/support/upstream/prompt-cache.ts';
import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import { leastCached } from '../../prompt-cache/cache-minimum.ts';
import { markCache } from './cache-marks.ts';

const long = 'All work and no play makes Jack a dull boy. '.repeat(500);
const tool = { name: 'read', input_schema: { type: 'object' } };
const text = (words: string): JsonObject => ({ type: 'text', text: words });
const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content });
const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
const request = (more: JsonObject): JsonObject => ({ model: 'claude-sonnet-5', ...more });

/** The paths of the marks in a request, and nothing else of it may have changed. */
function marksOf(before: JsonObject, shared = false): string[] {
  const after = markCache(before, shared);
  const paths: string[] = [];
  const seek = (path: string) => (block: unknown, index: number) => {
    if (objectOf(block)['cache_control'] !== undefined) paths.push(`${path}.${index}`);
  };
  listOf(after['tools']).forEach(seek('tools'));
  listOf(after['system']).forEach(seek('system'));
  listOf(after['messages']).forEach((message, index) => {
    listOf(objectOf(message)['content']).forEach(seek(`messages.${index}`));
  });
  const unmarked = JSON.stringify(after, (key, value) => (key === 'cache_control' ? undefined : value));
  assert.equal(unmarked, JSON.stringify(before));
  return paths;
}

describe('cache marks', () => {
  const messages = [
    user(text('One')),
    assistant(text('1')),
    user(text('Two'), text('and a half')),
    assistant(text('2')),
    user(text('Three')),
  ];

  it('are set at the end of the tools, of the instructions and of the last two user turns', () => {
    const whole = request({
      tools: [tool, { ...tool, name: 'b' }],
      system: [text(long), text('b')],
      messages,
    });
    assert.deepEqual(marksOf(whole), ['tools.1', 'system.1', 'messages.2.1', 'messages.4.0']);
    const bare = request({ system: [text(long)], messages });
    assert.deepEqual(marksOf(bare), ['system.0', 'messages.0.0', 'messages.2.1', 'messages.4.0']);
  });

  it('are not set on a tool with deferred loading, where the vendor refuses them', () => {
    const tools = [tool, { ...tool, name: 'b' }, { ...tool, name: 'c', defer_loading: true }];
    const whole = request({ tools, system: [text(long)], messages: messages.slice(0, 1) });
    assert.deepEqual(marksOf(whole), ['tools.1', 'system.0', 'messages.0.0']);
    assert.deepEqual(marksOf({ ...whole, tools: tools.slice(2) }), ['system.0', 'messages.0.0']);
  });

  it('are set on an earlier turn instead of the tools if it would be too far back to be found', () => {
    const calls = Array.from({ length: 20 }, (_, index) => text(`${index}`));
    const far = [...messages.slice(0, 2), user(...calls), ...messages.slice(3)];
    const whole = request({ tools: [tool], system: [text(long)], messages: far });
    assert.deepEqual(marksOf(whole), ['system.0', 'messages.0.0', 'messages.2.19', 'messages.4.0']);
  });

  it('are set if the conversation will continue: with tools, an earlier answer, or a client that asks for it', () => {
    const first = request({ system: [text(long)], messages: [user(text('One'))] });
    assert.deepEqual(marksOf(first), []);
    assert.deepEqual(marksOf(first, true), ['system.0', 'messages.0.0']);
    assert.deepEqual(marksOf({ ...first, tools: [tool] }), ['tools.0', 'system.0', 'messages.0.0']);
    assert.deepEqual(marksOf({ ...first, messages: messages.slice(0, 3) }), [
      'system.0',
      'messages.0.0',
      'messages.2.1',
    ]);
  });

  it('are not set if the client has set one anywhere', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const result = { type: 'tool_result', tool_use_id: 'a', content: [{ ...text('A'), ...mark }] };
    const whole = request({ tools: [tool], system: [text(long)], messages });
    for (const own of [
      mark,
      { tools: [{ ...tool, ...mark }] },
      { system: [text(long), { ...text('x'), ...mark }] },
      { messages: [...messages, user({ ...text('x'), ...mark })] },
      { messages: [...messages, user(result)] },
    ])
      assert.deepEqual(markCache({ ...whole, ...own }, true), { ...whole, ...own });
  });

  it('are not set on a prompt that is too short to be cached', () => {
    const hasMarks = (model: string, bytes: number) =>
      marksOf({ model, messages: [user(text('x'.repeat(bytes)))], tools: [tool] }).length > 0;
    assert.deepEqual([hasMarks('claude-sonnet-5', 1_000), hasMarks('claude-sonnet-5', 3_000)], [false, true]);
    assert.deepEqual(
      [hasMarks('claude-haiku-4-5', 7_000), hasMarks('claude-haiku-4-5', 9_000)],
      [false, true],
    );
    assert.deepEqual([hasMarks('my-alias', 500), hasMarks('my-alias', 1_500)], [false, true]);
  });

  it("use the vendor's minimum for a model under each of its names", () => {
    const expected: Record<string, number> = {
      'claude-opus-4-5-20251101': 4096,
      'us.anthropic.claude-opus-4-6-v1:0': 4096,
      'anthropic/claude-opus-4.7': 2048,
      'claude-opus-4-20250514': 1024,
      'claude-opus-4-8': 1024,
      'claude-opus-5': 512,
      'claude-sonnet-4-5@20250929': 1024,
      'Claude-Sonnet-5': 1024,
      'claude-sonnet-5-5': 512,
      'claude-sonnet-5-20260101': 1024,
      'claude-3-5-haiku-20241022': 2048,
      'claude-haiku-4-5': 4096,
      'claude-haiku-5-5': 512,
      'claude-opus-9': 512,
      gpt: 512,
    };
    for (const [model, tokens] of Object.entries(expected)) assert.equal(leastCached(model), tokens, model);
  });
});

const block = fc.string({ maxLength: 40 }).map((words) => text(`- ${words}`));
const turn = (most: number) => fc.array(block, { minLength: 1, maxLength: most });
const step = fc.record({ answer: turn(30), next: turn(30) });
const session = fc.record({
  tools: fc.constantFrom([tool], [tool, { ...tool, name: 'b' }]),
  system: fc.constantFrom<JsonObject[]>([text(long)], [text(long), text('b')]),
  first: turn(3),
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
});

/** What a vendor with a prompt cache counts, request after request. */
function counted(requests: readonly JsonObject[]): CachedUsage[] {
  const cache = promptCache({ minimum: leastCached('claude-sonnet-5'), now: () => 0 });
  return requests.map((one) => {
    const answer = cache.ask(markCache(one, false));
    assert.ok('usage' in answer, JSON.stringify(answer));
    return answer.usage;
  });
}

const total = (usage: CachedUsage | undefined) =>
  (usage?.input_tokens ?? 0) +
  (usage?.cache_creation_input_tokens ?? 0) +
  (usage?.cache_read_input_tokens ?? 0);

describe('a conversation that grows', () => {
  it('reads the whole previous request from the cache, however many blocks a turn has', () => {
    fc.assert(
      fc.property(session, ({ first, steps, system, tools }) => {
        const messages = [user(...first)];
        const requests = [request({ tools, system, messages: [...messages] })];
        for (const { answer, next } of steps) {
          messages.push(assistant(...answer), user(...next));
          requests.push(request({ tools, system, messages: [...messages] }));
        }
        const usages = counted(requests);
        for (const [index, usage] of usages.slice(1).entries())
          assert.equal(usage.cache_read_input_tokens, total(usages[index]));
      }),
    );
  });

  it('reads the unchanged part from the cache if the client adds something to the last turn only for one request', () => {
    fc.assert(
      fc.property(session, ({ first, steps, system, tools }) => {
        const messages = [user(...first)];
        const requests: JsonObject[] = [];
        const cachedSizes: number[] = [];
        const ask = () => {
          const last = listOf(objectOf(messages.at(-1))['content']).map(objectOf);
          const noted = user(...last, text(`It is step ${requests.length}.`));
          requests.push(request({ tools, system, messages: [...messages.slice(0, -1), noted] }));
          cachedSizes.push(total(counted([request({ tools, system, messages: [...messages] })])[0]));
        };
        ask();
        for (const { answer, next } of steps) {
          messages.push(assistant(...answer), user(...next));
          ask();
        }
        for (const [index, usage] of counted(requests).slice(2).entries())
          assert.equal(usage.cache_read_input_tokens, cachedSizes[index]);
      }),
    );
  });
});
