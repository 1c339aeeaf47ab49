import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { type Frame, splitFrames } from '../../lib/streams/sse.ts';
import type { StreamCodec } from '../codec.ts';
import { codecOf } from '../index.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import type { WireFormat } from '../wire-format.ts';

function streamOf(format: WireFormat): StreamCodec {
  const { stream } = codecOf(format);
  assert.ok(stream !== null);
  return stream;
}
const fixture = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url));
const formats = ['openai-chat', 'openai-completions', 'anthropic-messages', 'openai-responses'] as const;

/** Generated complete answers of each format, as the vendors' API references describe them, with fields nobody knows. */
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const filledText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const id = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '_'), minLength: 3, maxLength: 8 });
const json = fc
  .jsonValue({ maxDepth: 2, noUnicodeString: false })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const input = fc.dictionary(fc.constantFrom('path', 'usage', 'é', 'n'), json);
const count = fc.integer({ min: 1, max: 9_999 });

const chatUsage = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  },
  { requiredKeys: ['prompt_tokens', 'completion_tokens', 'total_tokens'] },
);

const toolCalls = fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).chain((ids) =>
  fc.tuple(
    ...ids.map((callId) =>
      fc.oneof(
        fc.record({
          id: fc.constant(callId),
          type: fc.constant('function'),
          function: fc.record({ name: id, arguments: input.map((value) => JSON.stringify(value)) }),
        }),
        fc.record({
          id: fc.constant(callId),
          type: fc.constant('custom'),
          custom: fc.record({ name: id, input: text }),
        }),
      ),
    ),
  ),
);

const chatMessage = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.option(text),
    refusal: fc.option(filledText),
    reasoning_content: filledText,
    annotations: fc.array(
      fc.record({ type: fc.constant('url_citation'), url_citation: fc.record({ url: id }) }),
      { maxLength: 2 },
    ),
    audio: fc.record({ id, data: filledText, transcript: filledText, expires_at: count }),
    tool_calls: toolCalls,
    vendor_extra: fc.record({ a: json }),
  },
  { requiredKeys: ['role', 'content'] },
);

const logprobs = fc.option(
  fc.record({
    content: fc.array(fc.record({ token: text, logprob: fc.integer() }), { maxLength: 2 }),
    refusal: fc.constant(null),
  }),
);

function withIndexes(choices: JsonObject[]): JsonObject[] {
  return choices.map((choice, index) => ({ ...choice, index }));
}

const chat = fc.record(
  {
    id,
    object: fc.constant('chat.completion'),
    created: count,
    model: id,
    choices: fc
      .array(
        fc.record(
          {
            message: chatMessage,
            logprobs,
            finish_reason: fc.constantFrom('stop', 'length', 'tool_calls'),
            native_finish_reason: id,
          },
          { requiredKeys: ['message', 'logprobs', 'finish_reason'] },
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map(withIndexes),
    usage: chatUsage,
    service_tier: fc.option(id),
    system_fingerprint: fc.option(id),
    citations: fc.array(id, { maxLength: 2 }),
  },
  { requiredKeys: ['id', 'object', 'created', 'model', 'choices'] },
);

const completions = fc.record(
  {
    id,
    object: fc.constant('text_completion'),
    created: count,
    model: id,
    choices: fc
      .array(
        fc.record({
          text,
          logprobs: fc.option(
            fc.record({
              tokens: fc.array(text, { maxLength: 2 }),
              text_offset: fc.array(count, { maxLength: 2 }),
            }),
          ),
          finish_reason: fc.constantFrom('stop', 'length'),
        }),
        { minLength: 1, maxLength: 3 },
      )
      .map(withIndexes),
    usage: chatUsage,
    system_fingerprint: id,
  },
  { requiredKeys: ['id', 'object', 'created', 'model', 'choices'] },
);

const citation = fc.record({ type: fc.constant('char_location'), cited_text: text, document_index: count });
const block = fc.oneof(
  fc.record(
    { type: fc.constant('text'), text, citations: fc.option(fc.array(citation, { maxLength: 2 })) },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
  fc.record({ type: fc.constantFrom('tool_use', 'server_tool_use'), id, name: id, input }),
  fc.record({ type: fc.constant('mcp_tool_use'), id, name: id, server_name: id, input }),
  fc.record({
    type: fc.constant('web_search_tool_result'),
    tool_use_id: id,
    content: fc.array(fc.record({ type: fc.constant('web_search_result'), url: id }), { maxLength: 2 }),
  }),
  fc.record({ type: fc.constant('block_of_tomorrow'), payload: json }),
);

const messages = fc.record(
  {
    id,
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    model: id,
    content: fc.array(block, { maxLength: 4 }),
    stop_reason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'refusal'),
    stop_sequence: fc.option(text),
    stop_details: fc.option(fc.record({ category: id })),
    container: fc.option(fc.record({ id })),
    usage: fc.record(
      {
        input_tokens: count,
        cache_creation_input_tokens: fc.option(count),
        cache_read_input_tokens: fc.option(count),
        cache_creation: fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
        output_tokens: count,
        server_tool_use: fc.option(fc.record({ web_search_requests: count })),
        service_tier: fc.constant('standard'),
      },
      { requiredKeys: ['input_tokens', 'output_tokens'] },
    ),
  },
  {
    requiredKeys: ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'usage'],
    noNullPrototype: true,
  },
);

const part = fc.oneof(
  fc.record({
    type: fc.constant('output_text'),
    text,
    annotations: fc.array(fc.record({ type: fc.constant('url_citation'), url: id }), { maxLength: 2 }),
    logprobs: fc.constant([]),
  }),
  fc.record({ type: fc.constant('refusal'), refusal: text }),
);
const summary = fc.array(fc.record({ type: fc.constant('summary_text'), text }), { maxLength: 2 });
const status = fc.constantFrom('completed', 'incomplete');
const item = fc.oneof(
  fc.record({
    id,
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    status,
    content: fc.array(part, { maxLength: 2 }),
  }),
  fc.record(
    {
      id,
      type: fc.constant('reasoning'),
      summary,
      encrypted_content: fc.option(text),
      content: fc.array(fc.record({ type: fc.constant('reasoning_text'), text }), { maxLength: 2 }),
      status,
    },
    { requiredKeys: ['id', 'type', 'summary'] },
  ),
  fc.record({
    id,
    type: fc.constant('function_call'),
    status,
    name: id,
    call_id: id,
    arguments: input.map((value) => JSON.stringify(value)),
  }),
  fc.record({ id, type: fc.constant('custom_tool_call'), status, name: id, call_id: id, input: text }),
  fc.record({
    id,
    type: fc.constant('web_search_call'),
    status,
    action: fc.record({ type: fc.constant('search'), query: text }),
  }),
  fc.record({ id, type: fc.constant('acme:thing'), status, payload: json }),
);

const responses = fc.record(
  {
    id,
    object: fc.constant('response'),
    created_at: count,
    completed_at: fc.option(count),
    status,
    error: fc.constant(null),
    incomplete_details: fc.option(fc.record({ reason: fc.constant('max_output_tokens') })),
    instructions: fc.option(text),
    model: id,
    output: fc.array(item, { maxLength: 5 }),
    tools: fc.array(
      fc.record({
        type: fc.constant('function'),
        name: id,
        parameters: fc.constant({ properties: { usage: { input_tokens: 5 } } }),
      }),
      { maxLength: 2 },
    ),
    usage: fc.record({
      input_tokens: count,
      input_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
      output_tokens: count,
      output_tokens_details: fc.record({ reasoning_tokens: count }),
      total_tokens: count,
    }),
    metadata: fc.constant({}),
  },
  {
    requiredKeys: [
      'id',
      'object',
      'created_at',
      'status',
      'error',
      'incomplete_details',
      'model',
      'output',
      'usage',
    ],
    noNullPrototype: true,
  },
);

/** Made of plain JSON, as an answer that was parsed is. */
const parsed = (answer: JsonObject) => objectOf(JSON.parse(JSON.stringify(answer)));

const anyAnswer = {
  'openai-chat': chat.map(parsed),
  'openai-completions': completions.map(parsed),
  'anthropic-messages': messages.map(parsed),
  'openai-responses': responses.map(parsed),
} as const;

describe('a complete answer that is written as a stream', () => {
  for (const format of formats) {
    it(`loses nothing of any ${format} answer`, () => {
      const stream = streamOf(format);
      fc.assert(
        fc.property(anyAnswer[format], (answer) => {
          const bytes = Buffer.from(stream.encodeFramesOf(answer));
          const { frames, rest } = splitFrames(bytes);
          assert.equal(rest.length, 0);
          assert.deepEqual(stream.assemble(frames), answer);
          const facts = stream.readStream(bytes, bytes);
          assert.equal(facts.end, 'complete');
          assert.deepEqual(facts.usage, codecOf(format).readUsage(Buffer.from(JSON.stringify(answer))));
        }),
        { numRuns: 300 },
      );
    });

    it(`ends a ${format} stream once, with its last frame`, () => {
      const stream = streamOf(format);
      fc.assert(
        fc.property(anyAnswer[format], (answer) => {
          const { frames } = splitFrames(Buffer.from(stream.encodeFramesOf(answer)));
          assert.deepEqual(
            frames.flatMap((frame, index) => (stream.classify(frame) === 'end' ? [index] : [])),
            [frames.length - 1],
          );
        }),
        { numRuns: 50 },
      );
    });

    it(`gives no answer for a ${format} stream that was cut`, () => {
      const stream = streamOf(format);
      const [answer] = fc.sample(anyAnswer[format], { numRuns: 1, seed: 7 });
      assert.ok(answer !== undefined);
      const { frames } = splitFrames(Buffer.from(stream.encodeFramesOf(answer)));
      assert.equal(stream.assemble(frames.slice(0, 1)), null);
      assert.equal(stream.assemble([]), null);
      assert.equal(stream.assemble([{ event: '', data: 'garbage' }]), null);
    });
  }

  it('numbers the events of a response from 0 without gaps, and adds and completes every item', () => {
    fc.assert(
      fc.property(anyAnswer['openai-responses'], (answer) => {
        const events = splitFrames(
          Buffer.from(streamOf('openai-responses').encodeFramesOf(answer)),
        ).frames.map((frame) => {
          const event = objectOf(JSON.parse(frame.data));
          assert.equal(event['type'], frame.event);
          return event;
        });
        assert.deepEqual(
          events.map((event) => event['sequence_number']),
          events.map((_, index) => index),
        );
        const items = listOf(answer['output']).length;
        for (const type of ['response.output_item.added', 'response.output_item.done']) {
          const indexes = events
            .filter((event) => event['type'] === type)
            .map((event) => event['output_index']);
          assert.deepEqual(
            indexes,
            Array.from({ length: items }, (_, index) => index),
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('restores the items of a response whose terminal event has none', () => {
    const [answer] = fc.sample(
      anyAnswer['openai-responses'].filter((any) => listOf(any['output']).length > 2),
      { numRuns: 1, seed: 3 },
    );
    assert.ok(answer !== undefined);
    const { frames } = splitFrames(Buffer.from(streamOf('openai-responses').encodeFramesOf(answer)));
    const bare = frames.map((frame, index): Frame => {
      if (index < frames.length - 1) return frame;
      const event = objectOf(JSON.parse(frame.data));
      return {
        ...frame,
        data: JSON.stringify({ ...event, response: { ...objectOf(event['response']), output: [] } }),
      };
    });
    assert.deepEqual(streamOf('openai-responses').assemble(bare), answer);
  });

  it('restores an item from its deltas if there is no done event', () => {
    const event = (data: JsonObject): Frame => ({ event: '', data: JSON.stringify(data) });
    const assembled = streamOf('openai-responses').assemble([
      event({
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', role: 'assistant' },
      }),
      event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' }),
      event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'b' }),
      event({
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'function_call', name: 'f', arguments: '' },
      }),
      event({ type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"x":1}' }),
      event({ type: 'response.completed', response: { id: 'r', status: 'completed' } }),
    ]);
    assert.deepEqual(assembled?.['output'], [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ab' }] },
      { type: 'function_call', name: 'f', arguments: '{"x":1}' },
    ]);
  });
});

describe('assembling a vendor stream', () => {
  it('gives the message that the events describe', () => {
    const message = streamOf('anthropic-messages').assemble(
      splitFrames(fixture('anthropic-messages/fixtures/tools.sse')).frames,
    );
    assert.equal(message?.['stop_reason'], 'tool_use');
    assert.deepEqual(message?.['content'], [
      { type: 'thinking', thinking: 'The user wants a file – ✓', signature: 'EqMBCkYIBRgC' },
      { type: 'text', text: 'I will read it. {"usage": {"output_tokens": 1}}' },
      {
        type: 'tool_use',
        id: 'toolu_01A',
        name: 'Read',
        input: { file_path: '/a', usage: { input_tokens: 5 } },
      },
    ]);
    assert.deepEqual(objectOf(message?.['usage'])['cache_creation'], {
      ephemeral_5m_input_tokens: 1000,
      ephemeral_1h_input_tokens: 2000,
    });
    assert.equal(objectOf(message?.['usage'])['output_tokens'], 257);
  });

  it('gives the chat completion that the chunks describe', () => {
    const answer = streamOf('openai-chat').assemble(
      splitFrames(fixture('openai-chat/fixtures/text.sse')).frames,
    );
    assert.equal(answer?.['object'], 'chat.completion');
    assert.equal('obfuscation' in (answer ?? {}), false);
    assert.deepEqual(answer?.['choices'], [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, content: 'Grüße aus 東京 🚀' },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
  });

  it('reads nothing but usage after [DONE]', () => {
    const record = (data: unknown): Frame => ({
      event: '',
      data: typeof data === 'string' ? data : JSON.stringify(data),
    });
    const answer = streamOf('openai-chat').assemble([
      record({ id: 'c', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] }),
      record('[DONE]'),
      record({ id: 'c', choices: [{ index: 0, delta: { content: 'late' } }] }),
      record({ error: { message: 'late' } }),
      record({ id: 'c', choices: [], usage: { prompt_tokens: 1 } }),
      record('[DONE]'),
    ]);
    assert.deepEqual(objectOf(listOf(answer?.['choices'])[0])['message'], {
      role: 'assistant',
      content: 'a',
    });
    assert.deepEqual(answer?.['usage'], { prompt_tokens: 1 });
  });

  it('keeps a call whose input is not JSON, and leaves out one that was cut off', () => {
    const event = (data: JsonObject): Frame => ({ event: String(data['type']), data: JSON.stringify(data) });
    const frames = (stop_reason: string) => [
      event({
        type: 'message_start',
        message: { id: 'm', content: [], usage: { input_tokens: 1, output_tokens: 0 } },
      }),
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
      }),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"a":' },
      }),
      event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } }),
      event({ type: 'message_stop' }),
    ];
    const input = { raw_arguments: '{"a":' };
    const whole = streamOf('anthropic-messages').assemble(frames('tool_use'));
    assert.deepEqual(whole?.['content'], [{ type: 'tool_use', id: 't', name: 'f', input }]);
    const cut = streamOf('anthropic-messages').assemble(frames('max_tokens'));
    assert.deepEqual(cut?.['content'], [{ type: 'tool_use', id: 't', name: 'f', input: {} }]);
  });
});

/** The tool calls that a stream of chat deltas comes to. */
function callsOf(deltas: unknown[], finish = 'tool_calls', after: unknown[] = []): unknown {
  const chunk = (delta: JsonObject, finish_reason: string | null = null): Frame => ({
    event: '',
    data: JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] }),
  });
  const call = (delta: unknown) => chunk({ tool_calls: Array.isArray(delta) ? delta : [delta] });
  const frames = [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map(call),
    chunk({}, finish),
    ...after.map(call),
  ];
  const answer = streamOf('openai-chat').assemble([...frames, { event: '', data: '[DONE]' }]);
  const message = objectOf(objectOf(listOf(answer?.['choices'])[0])['message']);
  assert.equal(message['content'], null);
  return message['tool_calls'];
}
const fn = (name: string | undefined, args?: unknown) => ({
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
const called = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('assembling tool calls of chat deltas', () => {
  const two = [called('a', 'f', '{"x":1}'), called('b', 'g', '{"y":2}')];
  const cases: [string, unknown[], unknown[]][] = [
    [
      'pieces by index',
      [
        { index: 0, id: 'a', type: 'function', ...fn('f', '') },
        { index: 0, ...fn(undefined, '{"x"') },
        { index: 0, ...fn(undefined, ':1}') },
        { index: 1, id: 'b', type: 'function', ...fn('g', '{"y":2}') },
      ],
      two,
    ],
    [
      'interleaved by index',
      [
        [
          { index: 0, id: 'a', ...fn('f', '{"x"') },
          { index: 1, id: 'b', ...fn('g', '{"y"') },
        ],
        { index: 0, ...fn(undefined, ':1}') },
        { index: 1, ...fn(undefined, ':2}') },
      ],
      two,
    ],
    [
      'index 0 for both, with ids at the start',
      [
        { index: 0, id: 'a', ...fn('f', '{"x"') },
        { index: 0, ...fn(undefined, ':1}') },
        { index: 0, id: 'b', ...fn('g', '{"y"') },
        { index: 0, ...fn(undefined, ':2}') },
      ],
      two,
    ],
    [
      'index 0 for both, interleaved with ids everywhere',
      [
        { index: 0, id: 'a', ...fn('f', '{"x"') },
        { index: 0, id: 'b', ...fn('g', '{"y"') },
        { index: 0, id: 'a', ...fn(undefined, ':1}') },
        { index: 0, id: 'b', ...fn(undefined, ':2}') },
      ],
      two,
    ],
    [
      'no index, with ids',
      [
        { id: 'a', ...fn('f', '{"x":1}') },
        { id: 'b', ...fn('g', '{"y":2}') },
      ],
      two,
    ],
    [
      'the id repeated on every delta',
      [
        { index: 0, id: 'a', ...fn('f', '{"x"') },
        { index: 0, id: 'a', ...fn('f', ':1}') },
        { index: 1, id: 'b', ...fn('g', '{"y":2}') },
      ],
      two,
    ],
    [
      'empty ids on later deltas',
      [
        { index: 0, id: 'a', ...fn('f', '{"x"') },
        { index: 0, id: '', ...fn('', ':1}') },
        { index: 1, id: 'b', ...fn('g', '{"y":2}') },
      ],
      two,
    ],
    [
      'nulls on later deltas',
      [
        { index: 0, id: 'a', ...fn('f', null) },
        { index: 0, id: null, function: { name: null, arguments: '{"x":1}' } },
        { index: 1, id: 'b', ...fn('g', '{"y":2}') },
      ],
      two,
    ],
    [
      'name and arguments in one delta',
      [
        [
          { index: 0, id: 'a', ...fn('f', '{"x":1}') },
          { index: 1, id: 'b', ...fn('g', '{"y":2}') },
        ],
      ],
      two,
    ],
    [
      'arguments as objects',
      [
        { index: 0, id: 'a', ...fn('f', { x: 1 }) },
        { index: 1, id: 'b', ...fn('g', { y: 2 }) },
      ],
      two,
    ],
    [
      'the id after the name',
      [
        { index: 0, ...fn('f', '') },
        { index: 0, id: 'a', ...fn(undefined, '{"x":1}') },
        { index: 1, id: 'b', ...fn('g', '{"y":2}') },
      ],
      two,
    ],
    [
      'empty lists in between',
      [[], { index: 0, id: 'a', ...fn('f', '{"x":1}') }, [], { index: 1, id: 'b', ...fn('g', '{"y":2}') }],
      two,
    ],
  ];
  for (const [name, deltas, expected] of cases)
    it(`accepts ${name}`, () => assert.deepEqual(callsOf(deltas), expected));

  it('accepts complete calls that share index 0 and have no ids', () => {
    assert.deepEqual(
      callsOf([
        { index: 0, ...fn('f', '{"x":1}') },
        { index: 0, ...fn('f', '{"x":2}') },
      ]),
      [
        { type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { type: 'function', function: { name: 'f', arguments: '{"x":2}' } },
      ],
    );
  });

  it('accepts arguments after the finish reason', () => {
    assert.deepEqual(
      callsOf([{ index: 0, id: 'a', ...fn('f', '{"x"') }], 'tool_calls', [
        { index: 0, ...fn(undefined, ':1}') },
      ]),
      [called('a', 'f', '{"x":1}')],
    );
  });

  it('gives a call without arguments an empty object, unless the answer was cut off there', () => {
    assert.deepEqual(callsOf([{ index: 0, id: 'a', ...fn('f', '') }]), [called('a', 'f', '{}')]);
    assert.deepEqual(callsOf([{ index: 0, id: 'a', ...fn('f', '') }], 'length'), [called('a', 'f', '')]);
  });

  it('accepts custom tools and unknown fields', () => {
    const deltas = [
      {
        index: 0,
        id: 'a',
        type: 'custom',
        custom: { name: 'patch', input: '' },
        extra_content: { google: { thought_signature: 's' } },
      },
      { index: 0, custom: { input: '*** Begin' } },
    ];
    assert.deepEqual(callsOf(deltas), [
      {
        id: 'a',
        type: 'custom',
        custom: { name: 'patch', input: '*** Begin' },
        extra_content: { google: { thought_signature: 's' } },
      },
    ]);
  });
});
