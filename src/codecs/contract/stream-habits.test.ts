import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  choice,
  factsOf,
  named,
  record,
  streaming,
  streamOf,
} from '../../../test/support/formats/stream-records.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import type { StreamFacts } from '../codec.ts';
import { noUsage } from '../wire-format.ts';

describe('the facts of an unusual stream', () => {
  const chat = (finish: string, ...after: unknown[]) =>
    record(choice({ content: 'a' })) + finish + after.map(record).join('');
  const usageChunk = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } };
  const chatCases: [string, string, StreamFacts['end'], boolean][] = [
    ['no [DONE] but a finish reason', chat(record(choice({}, 'stop'))), 'complete', false],
    ['two [DONE]', chat(record(usageChunk), '[DONE]', '[DONE]'), 'complete', true],
    [
      'text after [DONE]',
      chat(record(usageChunk), '[DONE]', choice({ content: 'late' }), 'noise'),
      'complete',
      true,
    ],
    [
      'an error after [DONE]',
      chat(record(usageChunk), '[DONE]', { error: { message: 'late' } }),
      'complete',
      true,
    ],
    ['usage after [DONE]', chat(record(choice({}, 'stop')), '[DONE]', usageChunk), 'complete', true],
    [
      'usage on the finish chunk',
      chat(record({ ...choice({}, 'stop'), usage: usageChunk.usage }), '[DONE]'),
      'complete',
      true,
    ],
    ['usage before the last chunk', chat(record(usageChunk), choice({}, 'stop'), '[DONE]'), 'complete', true],
    [
      'cumulative usage on every chunk',
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
      'usage in a vendor field',
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
      'broken JSON among good frames',
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
    it(`have the end ${end} after ${name}`, () => {
      const facts = factsOf('openai-chat', text);
      assert.equal(facts.end, end);
      assert.deepEqual(facts.usage, hasUsage ? { ...noUsage, input: 3, output: 4 } : null);
    });
  }

  it('have the later values of message_start and message_delta, and no sums', () => {
    const start = named({
      type: 'message_start',
      message: { usage: { input_tokens: 25, cache_read_input_tokens: 7, output_tokens: 1 } },
    } as { type: string });
    const delta = (usage: object) =>
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string });
    const stop = named({ type: 'message_stop' });
    const facts = factsOf(
      'anthropic-messages',
      start + delta({ input_tokens: null, output_tokens: 9 }) + delta({ output_tokens: 15 }) + stop,
    );
    assert.deepEqual(facts.usage, { ...noUsage, input: 25, cacheRead: 7, output: 15 });
    const restated = factsOf(
      'anthropic-messages',
      start + delta({ input_tokens: 30, cache_read_input_tokens: 8, output_tokens: 15 }) + stop,
    );
    assert.deepEqual(restated.usage, { ...noUsage, input: 30, cacheRead: 8, output: 15 });
    const late = factsOf(
      'anthropic-messages',
      named({ type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } } as {
        type: string;
      }) +
        delta({ input_tokens: 30, output_tokens: 15 }) +
        stop,
    );
    assert.deepEqual(late.usage, { ...noUsage, input: 30, output: 15 });
    const nothing = factsOf(
      'anthropic-messages',
      named({ type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } } as {
        type: string;
      }) + stop,
    );
    assert.equal(nothing.usage, null);
  });
  it('do not have a [DONE] as the end of a response that was cut', () => {
    const text = named({ type: 'response.created', response: {} } as { type: string });
    assert.equal(factsOf('openai-responses', `${text}data: [DONE]\n\n`).end, 'cut');
  });

  it('exist for any bytes, without an exception', () => {
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
