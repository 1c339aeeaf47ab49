import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { codecOf, codecs } from '../index.ts';
import { MAX_COUNT } from '../json/values.ts';
import { noUsage, type Usage, type WireFormat } from '../wire-format.ts';

const fixture = (format: WireFormat, name: string) =>
  readFileSync(new URL(`../${format}/fixtures/${name}`, import.meta.url));
const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const usageOf = (format: WireFormat, usage: unknown) => codecOf(format).readUsage(bodyOf({ id: 'x', usage }));

describe('usage of a complete answer', () => {
  const cases: [string, WireFormat, string, Partial<Usage> | null][] = [
    [
      'chat takes cached, written and reasoning out of the totals',
      'openai-chat',
      'answer.json',
      { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 128, reasoning: 192 },
    ],
    [
      'chat usage before the choices is read, that inside tool arguments is not',
      'openai-chat',
      'mistral-usage-first.json',
      { input: 30, output: 12 },
    ],
    [
      'messages keep input apart from the cache and its two lifetimes',
      'anthropic-messages',
      'answer.json',
      {
        input: 10,
        cacheRead: 40,
        cacheWrite5m: 100,
        cacheWrite1h: 200,
        output: 30,
        reasoning: 20,
        webSearches: 3,
      },
    ],
    [
      'responses count their web searches by the output items',
      'openai-responses',
      'answer.json',
      { input: 400, cacheRead: 1500, cacheWrite5m: 100, output: 150, reasoning: 250, webSearches: 1 },
    ],
    ['completions', 'openai-completions', 'answer.json', { input: 18, output: 7 }],
    ['embeddings have input alone', 'openai-embeddings', 'answer.json', { input: 9 }],
  ];
  for (const [name, format, file, expected] of cases) {
    it(name, () =>
      assert.deepEqual(codecOf(format).readUsage(fixture(format, file)), { ...noUsage, ...expected }),
    );
  }

  it('has no count that an answer cannot have, whatever an upstream reports, in any format', () => {
    const odd = fc.constantFrom<unknown>(
      1e308,
      1e300,
      9e15,
      2 ** 53,
      1e9 + 1,
      -1,
      -1e308,
      0.5,
      7,
      '7',
      null,
      {},
      true,
    );
    const names = [
      'prompt_tokens',
      'completion_tokens',
      'total_tokens',
      'input_tokens',
      'output_tokens',
      'search_units',
      'cached_tokens',
      'reasoning_tokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
      'promptTokenCount',
      'candidatesTokenCount',
      'totalTokenCount',
      'thoughtsTokenCount',
      'cachedContentTokenCount',
      'toolUsePromptTokenCount',
      'prompt_eval_count',
      'eval_count',
      'seconds',
    ];
    const counts = fc.record(Object.fromEntries(names.map((name) => [name, odd])));
    fc.assert(
      fc.property(fc.constantFrom(...codecs), counts, counts, ({ readUsage }, usage, details) => {
        const parts = { input_tokens_details: details, prompt_tokens_details: details };
        const reported = {
          ...usage,
          ...parts,
          output_tokens_details: details,
          completion_tokens_details: details,
        };
        const body = {
          id: 'x',
          ...usage,
          usage: reported,
          usageMetadata: reported,
          meta: { billed_units: usage },
        };
        for (const count of Object.values(readUsage(bodyOf(body)) ?? noUsage)) {
          assert.ok(Number.isFinite(count) && count >= 0 && count <= 10 * MAX_COUNT, `${count}`);
        }
      }),
    );
  });

  it('has the cached tokens that other vendors report', () => {
    assert.deepEqual(
      usageOf('openai-chat', {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
      }),
      { ...noUsage, input: 36, cacheRead: 64, output: 5 },
    );
    assert.deepEqual(
      usageOf('openai-chat', { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 30 }),
      { ...noUsage, input: 70, cacheRead: 30, output: 5 },
    );
    assert.deepEqual(
      usageOf('openai-chat', { prompt_tokens: 100, completion_tokens: 5, cost: 0.001, is_byok: false }),
      { ...noUsage, input: 100, output: 5 },
    );
  });

  it('includes reasoning in the output or not, depending on the reported total', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      completion_tokens_details: { reasoning_tokens: 300 },
    };
    assert.deepEqual(usageOf('openai-chat', { ...usage, total_tokens: 315 }), {
      ...noUsage,
      input: 10,
      output: 5,
      reasoning: 300,
    });
    const small = {
      prompt_tokens: 10,
      completion_tokens: 50,
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    assert.deepEqual(usageOf('openai-chat', { ...small, total_tokens: 60 }), {
      ...noUsage,
      input: 10,
      output: 20,
      reasoning: 30,
    });
    assert.deepEqual(usageOf('openai-chat', { ...small, total_tokens: 90 }), {
      ...noUsage,
      input: 10,
      output: 50,
      reasoning: 30,
    });
    assert.deepEqual(
      usageOf('openai-chat', { prompt_tokens: 8, completion_tokens: 9, total_tokens: 1_150 }),
      { ...noUsage, input: 8, output: 9, reasoning: 1_133 },
    );
  });

  it('excludes audio from both totals', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { audio_tokens: 40, cached_tokens: 10 },
      completion_tokens_details: { audio_tokens: 20, reasoning_tokens: 5 },
    };
    assert.deepEqual(usageOf('openai-chat', usage), {
      ...noUsage,
      input: 50,
      cacheRead: 10,
      audioInput: 40,
      output: 25,
      reasoning: 5,
      audioOutput: 20,
    });
  });

  it('includes compaction iterations, which the totals of a message leave out', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 4,
      iterations: [
        { type: 'message', input_tokens: 10, output_tokens: 4 },
        { type: 'compaction', input_tokens: 900, output_tokens: 70, cache_read_input_tokens: 5 },
      ],
    };
    assert.deepEqual(usageOf('anthropic-messages', usage), {
      ...noUsage,
      input: 910,
      cacheRead: 5,
      output: 74,
    });
  });

  it('is the same for no report and an empty report', () => {
    for (const { format, readUsage } of codecs) {
      for (const usage of [
        null,
        {},
        'many',
        [1],
        { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, input_tokens: 0, output_tokens: 0 },
        { prompt_tokens: -5 },
        { prompt_tokens: 'x' },
      ]) {
        assert.equal(readUsage(bodyOf({ id: 'x', usage })), null, format);
      }
      for (const body of ['', '{', 'null', '<html>', '{"usage":{"prompt_tokens":1,"input_tokens":1']) {
        assert.equal(readUsage(Buffer.from(body)), null, format);
      }
    }
  });

  it('is not read from a property of a tool called usage, however it is written', () => {
    const tools = [
      {
        type: 'function',
        parameters: { properties: { usage: { input_tokens: 1, prompt_tokens: 1, output_tokens: 1 } } },
      },
    ];
    const response = { object: 'response', usage: { input_tokens: 7, output_tokens: 3 }, tools };
    assert.deepEqual(codecOf('openai-responses').readUsage(Buffer.from(JSON.stringify(response, null, 2))), {
      ...noUsage,
      input: 7,
      output: 3,
    });
    assert.equal(codecOf('openai-responses').readUsage(bodyOf({ object: 'response', tools })), null);
  });

  it('has no negative count, and its input counts add up to the prompt', () => {
    const count = fc.oneof(fc.nat(5_000), fc.constantFrom(-1, 1.5, Number.NaN, '7', null, undefined));
    const counts = fc.record({
      prompt_tokens: fc.nat(5_000),
      completion_tokens: count,
      total_tokens: count,
      prompt_cache_hit_tokens: count,
      prompt_tokens_details: fc.record({
        cached_tokens: count,
        cache_write_tokens: count,
        audio_tokens: count,
      }),
      completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count }),
    });
    fc.assert(
      fc.property(counts, (usage) => {
        const read = usageOf('openai-chat', usage);
        if (read === null) return;
        assert.ok(Object.values(read).every((value: number) => Number.isInteger(value) && value >= 0));
        assert.equal(read.input + read.cacheRead + read.cacheWrite5m + read.audioInput, usage.prompt_tokens);
      }),
    );
    const message = fc.record({
      input_tokens: fc.nat(100),
      output_tokens: fc.nat(100),
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
      cache_creation: fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
      output_tokens_details: fc.record({ thinking_tokens: count }),
    });
    fc.assert(
      fc.property(message, (usage) => {
        const read = usageOf('anthropic-messages', usage);
        assert.ok(
          read === null ||
            Object.values(read).every((value: number) => Number.isInteger(value) && value >= 0),
        );
        if (read !== null) assert.equal(read.output + read.reasoning, usage.output_tokens);
      }),
    );
  });

  it('is read from nothing else in a large body', () => {
    const text = 'x'.repeat(3_000_000);
    const usage = usageOf('openai-chat', { prompt_tokens: 3, completion_tokens: 4 });
    assert.deepEqual(
      codecOf('openai-chat').readUsage(
        bodyOf({
          choices: [{ message: { content: text } }],
          usage: { prompt_tokens: 3, completion_tokens: 4 },
        }),
      ),
      usage,
    );
    const hostile = Buffer.from(`{"a":[${'{"usage":{"prompt_tokens":1}},'.repeat(50_000)}1]}`);
    assert.equal(codecOf('openai-embeddings').readUsage(hostile), null);
  });
});

describe('text bytes for estimates', () => {
  it('include the generated text of complete answers in UTF-8', () => {
    assert.equal(
      codecOf('openai-chat').responseTextBytes(
        bodyOf({
          choices: [
            {
              message: {
                content: 'é',
                reasoning_content: 'ab',
                tool_calls: [{ function: { name: 'f', arguments: '{}' } }],
              },
            },
          ],
        }),
      ),
      7,
    );
    assert.equal(
      codecOf('anthropic-messages').responseTextBytes(
        bodyOf({
          content: [
            { type: 'text', text: 'é' },
            { type: 'thinking', thinking: 'ab', signature: 'zzz' },
            { type: 'tool_use', name: 'f', input: {} },
          ],
        }),
      ),
      7,
    );
    assert.equal(
      codecOf('openai-responses').responseTextBytes(
        bodyOf({
          output: [
            { type: 'message', content: [{ text: 'é' }] },
            { type: 'function_call', name: 'f', arguments: '{}' },
            { type: 'reasoning', summary: [{ text: 'ab' }], encrypted_content: 'zzz' },
          ],
        }),
      ),
      7,
    );
    assert.equal(
      codecOf('openai-completions').responseTextBytes(bodyOf({ choices: [{ text: 'é' }, { text: 'b' }] })),
      3,
    );
    assert.equal(
      codecOf('openai-embeddings').responseTextBytes(fixture('openai-embeddings', 'answer.json')),
      0,
    );
    for (const { responseTextBytes } of codecs) assert.equal(responseTextBytes(Buffer.from('<html>')), 0);
  });

  const streams: [WireFormat, string, number][] = [
    ['openai-chat', 'text.sse', Buffer.byteLength('Grüße aus 東京 🚀')],
    [
      'openai-chat',
      'tools.sse',
      Buffer.byteLength('read_file{"path":"src/a \\"b\\".ts"}list_dir{"path":"."}'),
    ],
    ['openai-chat', 'reasoning-deepseek.sse', Buffer.byteLength('Let me think.Four.')],
    ['openai-completions', 'text.sse', Buffer.byteLength('return a + b;\n')],
    ['anthropic-messages', 'server-tool.sse', Buffer.byteLength('web_search{"query":"weather"}Sun.')],
    ['openai-responses', 'incomplete.sse', Buffer.byteLength('Once upon')],
  ];
  for (const [format, name, count] of streams) {
    it(`are the same for the stream ${format}/${name} and for its assembled answer`, () => {
      const { stream, responseTextBytes } = codecOf(format);
      const bytes = fixture(format, name);
      assert.equal(stream?.textBytes(bytes), count);
      assert.equal(responseTextBytes(bodyOf(stream?.assemble(splitFrames(bytes).frames))), count);
    });
  }

  it('include text that is only in .done events or in the terminal event', () => {
    const stream = codecOf('openai-responses').stream;
    const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
    const done = frame({
      type: 'response.function_call_arguments.done',
      output_index: 0,
      arguments: '{"a":1}',
    });
    const delta = frame({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      delta: '{"a":1}',
    });
    const end = frame({
      type: 'response.completed',
      response: { output: [{ type: 'message', content: [{ type: 'output_text', text: 'hello' }] }] },
    });
    assert.equal(stream?.textBytes(Buffer.from(done)), 7);
    assert.equal(stream?.textBytes(Buffer.from(delta + done + end)), 7);
    assert.equal(stream?.textBytes(Buffer.from(end)), 5);
  });
});
