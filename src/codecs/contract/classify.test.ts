import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choice, frame, streamOf } from '../../../test/support/formats/stream-records.ts';
import type { FrameMeaning } from '../codec.ts';
import type { WireFormat } from '../wire-format.ts';

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

  it('recognizes an event of the responses format by its name if its data has no type', () => {
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
