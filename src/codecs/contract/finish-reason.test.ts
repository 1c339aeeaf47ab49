import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codecOf } from '../index.ts';
import type { JsonObject } from '../json/values.ts';
import type { StreamPart } from '../model/stream-part.ts';
import type { WireFormat } from '../wire-format.ts';

function endOf(format: WireFormat, frames: readonly JsonObject[]): StreamPart | undefined {
  const reader = codecOf(format).conversation?.reader() ?? assert.fail(format);
  const parts = frames.flatMap((frame) => reader.push({ event: '', data: JSON.stringify(frame) }));
  return [...parts, ...reader.end()].at(-1);
}

const choice = (finish_reason: unknown) => ({
  choices: [{ index: 0, delta: { content: 'a' }, text: 'a', finish_reason }],
});
const messages = (stop_reason: unknown) => [
  { type: 'message_start', message: { id: 'm', model: 'c' } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason } },
  { type: 'message_stop' },
];
const response = (end: JsonObject) => [{ type: 'response.completed', response: { output: [], ...end } }];
const candidate = (finishReason: string) => [
  { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason }] },
];
const line = (end: JsonObject) => [{ message: { content: 'a' }, done: true, ...end }];

/** What an upstream says, our reason for it, and its own word. */
const cases: readonly [WireFormat, readonly JsonObject[], string, string | null][] = [
  ['openai-chat', [choice('max_tokens')], 'length', 'max_tokens'],
  ['openai-chat', [choice('insufficient_system_resource')], 'other', 'insufficient_system_resource'],
  ['openai-completions', [choice('eos')], 'stop', 'eos'],
  [
    'anthropic-messages',
    messages('model_context_window_exceeded'),
    'context-full',
    'model_context_window_exceeded',
  ],
  ['anthropic-messages', messages('new_reason'), 'other', 'new_reason'],
  ['anthropic-messages', messages(null), 'other', null],
  ['openai-responses', response({ status: 'completed' }), 'stop', 'completed'],
  [
    'openai-responses',
    response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    'length',
    'max_output_tokens',
  ],
  ['openai-responses', response({}), 'stop', null],
  ['gemini', candidate('RECITATION'), 'policy', 'RECITATION'],
  ['gemini', candidate('LANGUAGE'), 'other', 'LANGUAGE'],
  ['gemini', [{ promptFeedback: { blockReason: 'BLOCKLIST' } }], 'policy', 'BLOCKLIST'],
  ['ollama', line({ done_reason: 'load' }), 'other', 'load'],
  ['ollama', line({}), 'stop', null],
];

describe('the finish reason of an upstream', () => {
  for (const [format, frames, reason, raw] of cases) {
    it(`is kept beside the neutral one in ${format}: ${raw ?? 'none'}`, () => {
      const end = endOf(format, frames);
      assert.ok(end?.type === 'message-end', JSON.stringify(end));
      assert.deepEqual([end.reason, end.rawFinishReason], [reason, raw]);
    });
  }

  it('is the last one that was sent', () => {
    const blocked = { promptFeedback: { blockReason: 'OTHER' } };
    const end = endOf('gemini', [blocked, ...candidate('MAX_TOKENS')]);
    assert.deepEqual(end?.type === 'message-end' && end.rawFinishReason, 'MAX_TOKENS');
  });
});

describe('the finish reason in the last bytes of a relayed answer', () => {
  const read = (format: WireFormat, bytes: string, kind: 'body' | 'stream') =>
    codecOf(format).readFinishReason?.(Buffer.from(bytes), kind) ?? null;
  const wire = (format: WireFormat, frames: readonly JsonObject[]) => {
    const stream = codecOf(format).stream ?? assert.fail(format);
    return stream.encode(frames.map((frame) => ({ event: '', data: JSON.stringify(frame) })));
  };

  for (const [format, frames, reason, raw] of cases) {
    it(`is the one that the reader finds in ${format}: ${raw ?? 'none'}`, () => {
      const type = frames.at(-1)?.['type'] === 'response.completed' && raw === 'max_output_tokens';
      const sent = type ? frames.map((frame) => ({ ...frame, type: 'response.incomplete' })) : frames;
      const actual = read(format, wire(format, sent), 'stream');
      // An event that is called completed says so without a status.
      const expected = format === 'openai-responses' ? (raw ?? 'completed') : raw;
      assert.deepEqual(actual, expected === null ? null : { meaning: reason, raw: expected });
    });
  }

  const call = { name: 'f', arguments: '{"stop_reason":"x"}' };
  const bodies: readonly [WireFormat, JsonObject, string | null, string | null][] = [
    [
      'openai-chat',
      { choices: [{ index: 0, message: { content: '"finish_reason":"no"' }, finish_reason: 'tool_calls' }] },
      'tool-calls',
      'tool_calls',
    ],
    ['openai-completions', { choices: [{ text: 'a', finish_reason: 'length' }] }, 'length', 'length'],
    [
      'anthropic-messages',
      { stop_reason: 'tool_use', content: [{ type: 'tool_use', input: { stop_reason: 'end_turn' } }] },
      'tool-calls',
      'tool_use',
    ],
    ['openai-responses', { status: 'completed', output: [{ status: 'failed' }] }, 'stop', 'completed'],
    [
      'openai-responses',
      { output: [{ type: 'function_call', status: 'incomplete', ...call }], status: 'completed' },
      'tool-calls',
      'completed',
    ],
    [
      'openai-responses',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [] },
      'policy',
      'content_filter',
    ],
    ['openai-responses', { status: 'queued', output: [] }, null, null],
    [
      'gemini',
      {
        candidates: [
          {
            content: { parts: [{ functionCall: { name: 'f', args: { finishReason: 'SPII' } } }] },
            finishReason: 'STOP',
          },
        ],
      },
      'tool-calls',
      'STOP',
    ],
    [
      'gemini',
      { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] },
      'other',
      'MALFORMED_FUNCTION_CALL',
    ],
    ['ollama', { message: { tool_calls: [{}] }, done: true, done_reason: 'stop' }, 'tool-calls', 'stop'],
  ];
  for (const [format, body, meaning, raw] of bodies) {
    it(`is read from a complete answer in ${format}: ${raw ?? 'none'}, ${meaning ?? 'none'}`, () => {
      assert.deepEqual(
        read(format, JSON.stringify(body), 'body'),
        meaning === null ? null : { meaning, raw },
      );
    });
  }

  it('is missing if the stream was cut before it', () => {
    assert.equal(read('openai-chat', wire('openai-chat', [choice(null)]), 'stream'), null);
    assert.equal(
      read('anthropic-messages', wire('anthropic-messages', messages('x').slice(0, 2)), 'stream'),
      null,
    );
    assert.equal(read('openai-responses', 'data: {"type":"response.created"}\n\n', 'stream'), null);
  });
});
