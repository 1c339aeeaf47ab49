import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codecOf } from '../index.ts';
import { table } from '../json/values.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { encodeFrame } from '../stream/frames.ts';
import type { Codec } from '../wire-codec.ts';
import type { WireFormat } from '../wire-format.ts';

/** What fuzzing found once (`scripts/fuzz.ts`), by name. */
function streamOf(format: WireFormat): NonNullable<Codec['stream']> {
  return codecOf(format).stream ?? assert.fail(format);
}

function read(format: WireFormat, events: readonly object[]): StreamPart[] {
  const source = codecOf(format).conversation?.reader() ?? assert.fail(format);
  const parts = events.flatMap((event) => source.push({ event: '', data: JSON.stringify(event) }));
  return [...parts, ...source.end()];
}

const types = (parts: readonly StreamPart[]) => parts.map(({ type }) => type);
/** What has no text form: conversions of it throw. */
const formless = { toString: 1, constructor: null };

describe('a word from upstream that is a property of every object', () => {
  it('is in no table', () => {
    const { constructor: made, __proto__: parent } = table({ a: 1 }) as Record<string, unknown>;
    assert.deepEqual([made, parent], [undefined, undefined]);
  });

  it('is not a finish reason', () => {
    const choices = [{ index: 0, delta: { content: 'a' }, text: 'a', finish_reason: 'constructor' }];
    for (const format of ['openai-chat', 'openai-completions'] as const) {
      const end = read(format, [{ choices }]).at(-1);
      assert.ok(end?.type === 'message-end');
      assert.equal(end.reason, 'other');
    }
  });

  it('is not the status of an error', () => {
    const data = JSON.stringify({ error: { message: 'm', code: 'constructor', type: 'toString' } });
    for (const format of ['openai-chat', 'openai-completions', 'openai-responses'] as const) {
      assert.equal(streamOf(format).readError({ event: 'error', data }).status, 502);
    }
  });
});

describe('a value without a text form', () => {
  it('is not the status of an error', () => {
    const data = JSON.stringify({ error: { message: 'm', code: formless, status: formless } });
    for (const format of ['openai-chat', 'openai-completions', 'openai-responses'] as const) {
      assert.deepEqual(streamOf(format).readError({ event: 'error', data }), { status: 502, message: 'm' });
    }
  });

  it('is not the index of a text', () => {
    const event = { type: 'response.output_text.delta', content_index: formless, delta: 'four' };
    assert.equal(streamOf('openai-responses').textBytes(Buffer.from(encodeFrame(event.type, event))), 4);
  });
});

describe('an event out of order', () => {
  it('does not change a block of a response that has ended', () => {
    const text = (more: object) => ({ output_index: 0, content_index: 0, ...more });
    const item = { type: 'message', content: [{ type: 'output_text', text: 'a' }] };
    const parts = read('openai-responses', [
      text({ type: 'response.output_text.delta', delta: 'a' }),
      { type: 'response.output_item.done', output_index: 0, item },
      text({ type: 'response.output_text.delta', delta: 'late' }),
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    ]);
    assert.deepEqual(types(parts), ['message-start', 'text-start', 'text-delta', 'text-end', 'message-end']);
  });

  it('does not add text to a call of a response', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
    const parts = read('openai-responses', [
      { type: 'response.output_item.added', output_index: 0, item: call },
      { type: 'response.output_text.delta', output_index: 0, content_index: -1, delta: 'a' },
      { type: 'response.completed', response: { status: 'completed', output: [call] } },
    ]);
    assert.equal(types(parts).includes('text-delta'), false);
  });

  it('does not add a source at an invalid place of a response', () => {
    const annotation = { type: 'url_citation', url: 'https://a.test' };
    const parts = read('openai-responses', [
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' },
      {
        type: 'response.output_text.annotation.added',
        output_index: 0,
        annotation,
        content_index: [{ toString: 1 }],
      },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ]);
    assert.ok(types(parts).includes('citation'));
  });

  it('does not add text to an invalid block of a message', () => {
    const parts = read('anthropic-messages', [
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', name: 's' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'a' } },
      { type: 'message_stop' },
    ]);
    assert.deepEqual(types(parts), ['message-start', 'native', 'message-end']);
  });
});
