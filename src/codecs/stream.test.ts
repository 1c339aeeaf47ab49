import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/properties.ts';
import { type Frame, splitFrames } from '../lib/sse.ts';
import type { FrameMeaning, StreamCodec, StreamFacts } from './codec.ts';
import { codecOf, codecs } from './index.ts';
import { noUsage, type Usage, type WireFormat } from './model.ts';

function streamOf(format: WireFormat): StreamCodec {
  const { stream } = codecOf(format);
  assert.ok(stream !== null);
  return stream;
}

const streaming = codecs.filter((codec) => codec.stream !== null).map((codec) => codec.format);
const fixtures = streaming.flatMap((format) => {
  const folder = new URL(`${format}/fixtures/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.sse'));
  return names.map((name) => ({ format, name, bytes: readFileSync(new URL(name, folder)) }));
});
const fixture = (format: WireFormat, name: string) => {
  const found = fixtures.find((entry) => entry.format === format && entry.name === name);
  assert.ok(found !== undefined, `${format}/${name}`);
  return found.bytes;
};
const frame = (data: unknown, event = ''): Frame => ({
  event,
  data: typeof data === 'string' ? data : JSON.stringify(data),
});
const whole = (format: WireFormat, text: string | Buffer) =>
  streamOf(format).readStream(Buffer.from(text), Buffer.from(text));
const record = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const named = (data: { type: string }) => `event: ${data.type}\n${record(data)}`;
const choice = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

describe('X-03 frames', () => {
  for (const { format, name, bytes } of fixtures) {
    it(`are the same for every split of ${format}/${name}`, () => {
      const expected = splitFrames(bytes);
      assert.equal(expected.rest.length, 0);
      for (let at = 0; at <= bytes.length; at += 1) {
        const left = splitFrames(bytes.subarray(0, at));
        const right = splitFrames(Buffer.concat([left.rest, bytes.subarray(at)]));
        assert.deepEqual([...left.frames, ...right.frames], expected.frames);
      }
    });
  }
});

describe('classify', () => {
  const preamble: [WireFormat, unknown][] = [
    ['openai-chat', choice({ role: 'assistant', content: '' })],
    ['openai-chat', choice({ role: 'assistant', content: null, refusal: null, tool_calls: [] })],
    ['openai-chat', { ...choice({ role: 'assistant' }), usage: { prompt_tokens: 5, completion_tokens: 0 } }],
    ['openai-chat', { choices: [], prompt_filter_results: [{ prompt_index: 0 }] }],
    ['openai-chat', { choices: [], usage: null }],
    ['openai-chat', { ...choice({}), error: null }],
    ['openai-chat', ''],
    ['openai-completions', { choices: [{ index: 0, text: '', finish_reason: null }] }],
    ['anthropic-messages', { type: 'message_start', message: {} }],
    ['anthropic-messages', { type: 'ping' }],
    [
      'anthropic-messages',
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    [
      'anthropic-messages',
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
    ],
    ...[
      'created',
      'in_progress',
      'queued',
      'output_item.added',
      'content_part.added',
      'reasoning_summary_part.added',
    ].map((type): [WireFormat, unknown] => ['openai-responses', { type: `response.${type}`, response: {} }]),
  ];
  const content: [WireFormat, unknown][] = [
    ['openai-chat', choice({ content: ' ' })],
    ['openai-chat', choice({ reasoning_content: 'x' })],
    ['openai-chat', choice({ reasoning: 'x' })],
    ['openai-chat', choice({ refusal: 'no' })],
    ['openai-chat', choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] })],
    ['openai-chat', choice({}, 'stop')],
    ['openai-chat', { choices: [{ index: 0, message: { role: 'assistant', content: 'whole' } }] }],
    ['openai-chat', { choices: [], usage: { prompt_tokens: 1 } }],
    ['openai-chat', { object: 'something.new' }],
    ['openai-chat', '{"choices":[{"delta":{"cont'],
    ['openai-chat', '[1]'],
    ['openai-completions', { choices: [{ index: 0, text: 'x' }] }],
    [
      'anthropic-messages',
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
      },
    ],
    [
      'anthropic-messages',
      { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'x' } },
    ],
    [
      'anthropic-messages',
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
    ],
    ['anthropic-messages', { type: 'message_delta', delta: { stop_reason: 'end_turn' } }],
    ['anthropic-messages', { type: 'a_new_event' }],
    ['anthropic-messages', 'garbage'],
    ['openai-responses', { type: 'response.output_text.delta', delta: 'x' }],
    ['openai-responses', { type: 'acme:thing', sequence_number: 4 }],
    ['openai-responses', 'garbage'],
  ];
  const end: [WireFormat, unknown][] = [
    ['openai-chat', '[DONE]'],
    ['openai-completions', ' [DONE] '],
    ['anthropic-messages', { type: 'message_stop' }],
    ['openai-responses', { type: 'response.completed', response: {} }],
    ['openai-responses', { type: 'response.incomplete', response: {} }],
    ['openai-responses', '[DONE]'],
  ];
  const groups: [FrameMeaning, [WireFormat, unknown][]][] = [
    ['preamble', preamble],
    ['content', content],
    ['end', end],
  ];
  for (const [meaning, entries] of groups) {
    for (const [format, data] of entries) {
      const shown = typeof data === 'string' ? data : JSON.stringify(data);
      it(`calls ${shown.slice(0, 90) || 'an empty record'} of ${format} ${meaning}`, () => {
        assert.equal(streamOf(format).classify(frame(data)), meaning);
      });
    }
  }

  it('knows an event of the responses format by its name when the data does not say its type', () => {
    assert.equal(
      streamOf('openai-responses').classify({ event: 'response.created', data: '{"response":{}}' }),
      'preamble',
    );
    assert.equal(
      streamOf('openai-responses').classify({ event: '', data: '{"response":{},"type":"response.created"}' }),
      'preamble',
    );
  });
});

describe('errors inside HTTP 200', () => {
  const errors: [WireFormat, Frame, number, RegExp][] = [
    [
      'openai-chat',
      frame({ error: { message: 'slow down', type: 'requests', code: 'rate_limit_exceeded' } }),
      429,
      /slow down/,
    ],
    ['openai-chat', frame({ error: { message: 'busy', code: 503 } }), 503, /busy/],
    ['openai-chat', frame({ error: { message: 'busy', code: '529' } }), 529, /busy/],
    ['openai-chat', frame({ error: 'it broke' }), 502, /it broke/],
    [
      'openai-chat',
      frame({
        error: { message: 'prompt too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
      }),
      400,
      /too long/,
    ],
    ['openai-chat', frame({ object: 'error', message: 'vllm says no', code: 400 }), 400, /vllm/],
    [
      'openai-chat',
      frame({ id: 'x', error: { code: 502, message: 'Provider lost' }, ...choice({ content: '' }, 'error') }),
      502,
      /Provider lost/,
    ],
    ['openai-chat', frame('plain text', 'error'), 502, /plain text/],
    ['openai-chat', frame({ error: {} }), 502, /without a message/],
    ['openai-completions', frame({ error: { message: 'm', type: 'server_error' } }), 500, /m/],
    [
      'anthropic-messages',
      frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
      529,
      /Overloaded/,
    ],
    [
      'anthropic-messages',
      frame({ type: 'error', error: { type: 'rate_limit_error', message: 'm' } }, 'error'),
      429,
      /m/,
    ],
    ['anthropic-messages', frame({ type: 'error', error: { type: 'api_error', message: 'm' } }), 500, /m/],
    [
      'anthropic-messages',
      frame({ type: 'error', error: { type: 'timeout_error', message: 'm' } }),
      504,
      /m/,
    ],
    ['anthropic-messages', frame('not json', 'error'), 502, /not json/],
    [
      'openai-responses',
      frame({
        type: 'response.failed',
        response: { error: { code: 'rate_limit_exceeded', message: 'later' } },
      }),
      429,
      /later/,
    ],
    [
      'openai-responses',
      frame({ type: 'response.failed', response: { error: { code: 'server_error', message: 'm' } } }),
      500,
      /m/,
    ],
    [
      'openai-responses',
      frame({ type: 'response.failed', response: { error: null } }),
      502,
      /without a reason/,
    ],
    [
      'openai-responses',
      frame({ type: 'error', code: 'server_is_overloaded', message: 'busy', param: null }),
      503,
      /busy/,
    ],
    [
      'openai-responses',
      frame({ type: 'error', error: { type: 'invalid_request_error', message: 'bad', code: null } }, 'error'),
      400,
      /bad/,
    ],
  ];
  for (const [format, failing, status, message] of errors) {
    it(`3.3 item 3: ${format} ${failing.data.slice(0, 80)} deserves ${status}`, () => {
      const stream = streamOf(format);
      assert.equal(stream.classify(failing), 'error');
      const read = stream.readError(failing);
      assert.equal(read.status, status);
      assert.match(read.message, message);
      const facts = whole(format, `event: ${failing.event}\n${record(failing.data)}`);
      assert.equal(facts.end, 'error');
      assert.deepEqual(facts.error, read);
    });
  }

  it('clips a message without end', () => {
    const read = streamOf('openai-chat').readError(frame({ error: { message: 'x'.repeat(100_000) } }));
    assert.ok(read.message.length < 3_000);
  });
});

/** Complete streams of ten tokens in and five out. */
function plain(format: WireFormat, ...names: string[]): typeof expectations {
  return names.map((name) => [format, `${name}.sse`, 'complete', { input: 10, output: 5 }]);
}

const expectations: [WireFormat, string, StreamFacts['end'], Partial<Usage> | null][] = [
  [
    'openai-chat',
    'text.sse',
    'complete',
    { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 128, reasoning: 192 },
  ],
  [
    'openai-chat',
    'crlf.sse',
    'complete',
    { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 128, reasoning: 192 },
  ],
  ['openai-chat', 'tools.sse', 'complete', { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 320 }],
  [
    'openai-chat',
    'reasoning-deepseek.sse',
    'complete',
    { input: 36, cacheRead: 64, output: 10, reasoning: 30 },
  ],
  ['openai-chat', 'overloaded.sse', 'error', null],
  ['openai-completions', 'text.sse', 'complete', { input: 18, output: 7 }],
  [
    'anthropic-messages',
    'tools.sse',
    'complete',
    { input: 21, cacheRead: 12_000, cacheWrite5m: 1_000, cacheWrite1h: 2_000, output: 197, reasoning: 60 },
  ],
  ['anthropic-messages', 'server-tool.sse', 'complete', { input: 4_100, output: 90, webSearches: 1 }],
  [
    'anthropic-messages',
    'overloaded.sse',
    'error',
    { input: 21, cacheRead: 12_000, cacheWrite5m: 1_000, cacheWrite1h: 2_000, output: 2 },
  ],
  [
    'openai-responses',
    'tools.sse',
    'complete',
    { input: 400, cacheRead: 1_500, cacheWrite5m: 100, output: 150, reasoning: 250 },
  ],
  [
    'openai-responses',
    'incomplete.sse',
    'complete',
    { input: 400, cacheRead: 1_500, cacheWrite5m: 100, output: 16 },
  ],
  ['openai-responses', 'failed.sse', 'error', null],
  ['gemini', 'text.sse', 'complete', { input: 256, cacheRead: 768, output: 15 }],
  ['gemini', 'tools.sse', 'complete', { input: 310, output: 64, reasoning: 52 }],
  ['gemini', 'thinking.sse', 'complete', { input: 40, output: 5, reasoning: 220 }],
  ['gemini', 'grounding.sse', 'complete', { input: 240, output: 12, reasoning: 33, webSearches: 2 }],
  ['gemini', 'image.sse', 'complete', { input: 12, imageOutput: 1_290 }],
  ['gemini', 'blocked.sse', 'complete', { input: 19 }],
  ['gemini', 'overloaded.sse', 'error', { input: 12, output: 2 }],
  [
    'openai-chat',
    'usage-all.sse',
    'complete',
    {
      input: 110,
      cacheRead: 1_000,
      cacheWrite5m: 30,
      audioInput: 20,
      output: 42,
      reasoning: 20,
      audioOutput: 8,
    },
  ],
  [
    'anthropic-messages',
    'usage-all.sse',
    'complete',
    {
      input: 100,
      cacheRead: 1_000,
      cacheWrite5m: 10,
      cacheWrite1h: 20,
      output: 30,
      reasoning: 20,
      webSearches: 2,
    },
  ],
  [
    'openai-responses',
    'usage-all.sse',
    'complete',
    { input: 100, cacheRead: 1_000, cacheWrite5m: 30, output: 50, reasoning: 20 },
  ],
  [
    'gemini',
    'usage-all.sse',
    'complete',
    { input: 77, cacheRead: 1_000, audioInput: 20, imageInput: 10, output: 50, reasoning: 20 },
  ],
  ...plain('openai-chat', 'citations', 'custom', 'encrypted', 'interleaved', 'refusal', 'stops-context-full'),
  ...plain('openai-chat', 'stops-error', 'stops-length-in-call', 'stops-policy', 'stops-unknown'),
  ...plain('openai-completions', 'stops-length', 'stops-policy'),
  ...plain('anthropic-messages', 'citations', 'encrypted', 'refusal', 'stops-context-full', 'stops-paused'),
  ...plain('anthropic-messages', 'stops-length-in-call', 'stops-sequence', 'stops-unknown'),
  ['openai-responses', 'citations.sse', 'complete', { input: 10, output: 5, webSearches: 1 }],
  ...plain('openai-responses', 'custom', 'encrypted', 'refusal', 'stops-length-in-call', 'stops-policy'),
  ...plain('openai-responses', 'stops-unknown'),
  ...plain('gemini', 'custom', 'stops-length', 'stops-malformed', 'stops-other', 'stops-policy'),
];

describe('readStream', () => {
  it('has an expectation for every fixture', () => {
    assert.equal(expectations.length, fixtures.length);
  });

  for (const [format, name, end, usage] of expectations) {
    it(`X-03 U-11 gives the facts of ${format}/${name} wherever head and tail were cut`, () => {
      const bytes = fixture(format, name);
      const expected = usage === null ? null : { ...noUsage, ...usage };
      const stream = streamOf(format);
      // Where the last usage object begins; a tail that begins later does not have it.
      const places = [
        '"usage":{"prompt',
        '"usage":{"input',
        end === 'error' ? '"usageMetadata"' : '"finishReason"',
      ];
      // This format has no count of searches but the items themselves, in the last event.
      const counted = format === 'openai-responses' && (usage?.webSearches ?? 0) > 0;
      const last = counted
        ? bytes.lastIndexOf('event: ')
        : Math.max(...places.map((place) => bytes.lastIndexOf(place)));
      const first = bytes.indexOf('"usage":{"input');
      const frameEnd = first === -1 ? 0 : bytes.indexOf('\n\n', first) + 2;
      for (let from = 0; from <= (last === -1 ? bytes.length - 400 : last); from += 1) {
        const facts = stream.readStream(bytes.subarray(0, Math.max(from, frameEnd)), bytes.subarray(from));
        assert.deepEqual([from, facts.usage], [from, expected]);
        if (end !== 'error') assert.equal(facts.end, end, `tail from ${from}`);
      }
      assert.equal(stream.readStream(bytes, bytes).end, end);
      assert.equal(stream.readStream(bytes, Buffer.alloc(0)).end, end);
    });
  }

  for (const [format, name, end] of expectations.filter(([, , kind]) => kind === 'complete')) {
    it(`3.3 item 1: ${format}/${name} is ${end} only with its terminal event`, () => {
      const bytes = fixture(format, name);
      const terminals: Partial<Record<WireFormat, string>> = {
        'openai-chat': '"finish_reason":"',
        'openai-completions': '"finish_reason":"',
        'anthropic-messages': 'event: message_stop',
        'openai-responses': bytes.includes('event: response.incomplete')
          ? 'event: response.incomplete'
          : 'event: response.completed',
        gemini: name === 'blocked.sse' ? '"blockReason"' : '"finishReason"',
      };
      const at = bytes.indexOf(terminals[format] ?? '');
      assert.ok(at > 0);
      for (const cut of [at, Math.floor(at / 2), 10]) {
        const facts = streamOf(format).readStream(bytes.subarray(0, cut), bytes.subarray(0, cut));
        assert.equal(facts.end, 'cut');
        assert.equal(facts.error, null);
      }
    });
  }

  const chat = (finish: string, ...after: unknown[]) =>
    record(choice({ content: 'a' })) + finish + after.map(record).join('');
  const usageChunk = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } };
  const chatCases: [string, string, StreamFacts['end'], boolean][] = [
    ['item 7: no [DONE] but a finish reason', chat(record(choice({}, 'stop'))), 'complete', false],
    ['item 7: two [DONE]', chat(record(usageChunk), '[DONE]', '[DONE]'), 'complete', true],
    [
      'item 7: text after [DONE]',
      chat(record(usageChunk), '[DONE]', choice({ content: 'late' }), 'noise'),
      'complete',
      true,
    ],
    [
      'item 7: an error after [DONE]',
      chat(record(usageChunk), '[DONE]', { error: { message: 'late' } }),
      'complete',
      true,
    ],
    ['U-11 usage after [DONE]', chat(record(choice({}, 'stop')), '[DONE]', usageChunk), 'complete', true],
    [
      'U-11 usage on the finish chunk',
      chat(record({ ...choice({}, 'stop'), usage: usageChunk.usage }), '[DONE]'),
      'complete',
      true,
    ],
    [
      'item 6: usage before the last chunk',
      chat(record(usageChunk), choice({}, 'stop'), '[DONE]'),
      'complete',
      true,
    ],
    [
      'item 6: cumulative usage on every chunk',
      record({ ...choice({ content: 'a' }), usage: { prompt_tokens: 3, completion_tokens: 1 } }) +
        record({ ...choice({}, 'stop'), usage: usageChunk.usage }),
      'complete',
      true,
    ],
    [
      'usage in the choice',
      chat(record({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: usageChunk.usage }] })),
      'complete',
      true,
    ],
    [
      'usage in a vendor member',
      chat(record({ ...choice({}, 'stop'), x_groq: { id: 'r', usage: usageChunk.usage } })),
      'complete',
      true,
    ],
    [
      'usage spread over data lines',
      `${chat(record(choice({}, 'stop')))}data: {"choices":[],\ndata: "usage":{"prompt_tokens":3,\ndata: "completion_tokens":4}}\n\n`,
      'complete',
      true,
    ],
    [
      'item 4: broken JSON among good frames',
      chat(`${record('{"choices":[{"del')}${record(choice({}, 'stop'))}`, usageChunk, '[DONE]'),
      'complete',
      true,
    ],
    ['a last record without its blank line', `${chat(record(usageChunk))}data: [DONE]`, 'complete', true],
    ['CR line ends', chat(record(usageChunk), '[DONE]').replaceAll('\n', '\r'), 'complete', true],
    [
      'no space after data:',
      chat(record(usageChunk), '[DONE]').replaceAll('data: ', 'data:'),
      'complete',
      true,
    ],
    [
      'an error before [DONE]',
      chat(record({ error: { message: 'x', code: 500 } }), '[DONE]'),
      'error',
      false,
    ],
    [
      'words of the format in the text',
      record(
        choice({ content: 'data: [DONE]\n\n"finish_reason":"stop" {"error":1} "usage":{"prompt_tokens":9}' }),
      ),
      'cut',
      false,
    ],
    ['nothing', '', 'cut', false],
  ];
  for (const [name, text, end, hasUsage] of chatCases) {
    it(`3.3 ${name}: ${end}`, () => {
      const facts = whole('openai-chat', text);
      assert.equal(facts.end, end);
      assert.deepEqual(facts.usage, hasUsage ? { ...noUsage, input: 3, output: 4 } : null);
    });
  }

  it('U-11 merges message_start and message_delta by the later value and never adds', () => {
    const start = named({
      type: 'message_start',
      message: { usage: { input_tokens: 25, cache_read_input_tokens: 7, output_tokens: 1 } },
    } as { type: string });
    const delta = (usage: object) =>
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string });
    const stop = named({ type: 'message_stop' });
    const facts = whole(
      'anthropic-messages',
      start + delta({ input_tokens: null, output_tokens: 9 }) + delta({ output_tokens: 15 }) + stop,
    );
    assert.deepEqual(facts.usage, { ...noUsage, input: 25, cacheRead: 7, output: 15 });
    const restated = whole(
      'anthropic-messages',
      start + delta({ input_tokens: 30, cache_read_input_tokens: 8, output_tokens: 15 }) + stop,
    );
    assert.deepEqual(restated.usage, { ...noUsage, input: 30, cacheRead: 8, output: 15 });
    const late = whole(
      'anthropic-messages',
      named({ type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } } as {
        type: string;
      }) +
        delta({ input_tokens: 30, output_tokens: 15 }) +
        stop,
    );
    assert.deepEqual(late.usage, { ...noUsage, input: 30, output: 15 });
    const nothing = whole(
      'anthropic-messages',
      named({ type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } } as {
        type: string;
      }) + stop,
    );
    assert.equal(nothing.usage, null);
  });

  it('knows a terminal event that is longer than the tail by the usage in it', () => {
    const bytes = fixture('openai-responses', 'tools.sse');
    const tail = bytes.subarray(bytes.lastIndexOf('"usage"'));
    assert.equal(streamOf('openai-responses').readStream(bytes.subarray(0, 500), tail).end, 'complete');
    const broken = bytes.subarray(bytes.length - 300, bytes.length - 1);
    assert.equal(
      streamOf('openai-responses').readStream(bytes.subarray(0, 500), broken.subarray(0, 270)).end,
      'cut',
    );
  });

  it('does not take a [DONE] for the end of a response that was cut', () => {
    const text = named({ type: 'response.created', response: {} } as { type: string });
    assert.equal(whole('openai-responses', `${text}data: [DONE]\n\n`).end, 'cut');
  });

  it('answers something for any bytes, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (raw, at) => {
        for (const format of streaming) {
          const bytes = Buffer.concat([
            raw.subarray(0, at),
            Buffer.from('data: {"usage":{"input_tokens":'),
            raw.subarray(at),
          ]);
          streamOf(format).readStream(bytes, bytes.subarray(5));
          streamOf(format).textBytes(bytes);
          for (const seen of splitFrames(bytes).frames) streamOf(format).classify(seen);
        }
      }),
    );
  });
});
