import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answers,
  chunk,
  outcomeOf,
  request,
  role,
  streams,
  whole,
  word,
} from '../../../test/support/routing/proxy-run.ts';

const last = chunk(
  {},
  {
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 1 },
  },
);
const done = 'data: [DONE]\n\n';
const asAnthropic = { format: 'anthropic-messages', fields: { max_tokens: 5 } } as const;

/** The events of a stream, by name. */
const eventsIn = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);

describe('an answer in another format', () => {
  it('reaches the client in its format, as the request reached the upstream in its own', async () => {
    const { entry, sent, sink } = await outcomeOf(request({ a: [whole] }, asAnthropic));
    assert.deepEqual(JSON.parse(sent[0]?.body ?? ''), {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 5,
    });
    const { content, model, stop_reason: reason, usage } = JSON.parse(sink.text);
    assert.deepEqual([content, model, reason], [[{ type: 'text', text: 'hi' }], 'all', 'end_turn']);
    assert.deepEqual([usage.input_tokens, entry.usage?.input, entry.usage?.output], [3, 3, 1]);
  });

  it('is the same stream wherever the upstream splits it', async () => {
    const text = [role, word, last, done].join('');
    const streamsOf = async (size: number) => {
      const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const { sink } = await outcomeOf(
        request({ a: [streams('ends', ...parts)] }, { ...asAnthropic, stream: true }),
      );
      return sink.text;
    };
    const whole = await streamsOf(text.length);
    assert.deepEqual(eventsIn(whole), [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    for (const size of [1, 7, 64]) assert.equal(await streamsOf(size), whole, `pieces of ${size}`);
  });

  it('ends with the error event of the client’s format if the upstream breaks off', async () => {
    const { entry, sink } = await outcomeOf(
      request({ a: [streams('cut', role, word)] }, { ...asAnthropic, stream: true }),
    );
    assert.equal(eventsIn(sink.text).at(-1), 'error');
    assert.deepEqual([entry.outcome, entry.errorCode], ['failed', 'upstream_cut']);
  });

  it('is requested from another target if the upstream breaks off before its first text', async () => {
    const running = request(
      { a: [streams('cut', role)], b: [streams('ends', role, word, last, done)] },
      { ...asAnthropic, stream: true },
    );
    const { targets, entry, sink } = await outcomeOf(running);
    assert.deepEqual([targets, entry.outcome], [['a', 'b'], 'ok']);
    assert.equal(eventsIn(sink.text).filter((name) => name === 'message_start').length, 1);
  });

  it('gives an error in the dialect of the client, with the status of the upstream', async () => {
    const error = {
      error: { message: 'max_tokens is too large', type: 'invalid_request_error', code: null },
    };
    for (const script of [answers(400, error), answers(200, error)]) {
      const { sink } = await outcomeOf(request({ a: [script] }, asAnthropic));
      const answer = JSON.parse(sink.text);
      assert.deepEqual([answer.type, answer.error.type], ['error', 'invalid_request_error'], sink.text);
      assert.match(answer.error.message, /max_tokens is too large/);
      assert.equal(sink.status, 400);
    }
  });

  it('is refused if it is not JSON, or has no end', async () => {
    const text = await outcomeOf(request({ a: [streams('ends', 'Bad gateway')] }, asAnthropic));
    assert.deepEqual([text.sink.status, text.entry.outcome], [502, 'failed']);
    const endless = await outcomeOf(
      request({ a: [streams('ends', role, word)] }, { ...asAnthropic, stream: true }),
    );
    assert.equal(endless.entry.outcome, 'failed');
    assert.equal(eventsIn(endless.sink.text).at(-1), 'error');
  });
});
