import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  chunk,
  outcomeOf,
  request,
  role,
  type Script,
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

/** An answer that comes in these pieces, under this content type. */
const pieces =
  (type: string, ...parts: string[]): Script =>
  (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, { 'content-type': type });
    for (const part of parts) handler.onResponseData?.(controller, Buffer.from(part));
    handler.onResponseEnd?.(controller, {});
  };

const answered = JSON.stringify({
  id: 'c1',
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 1 },
});

describe('an answer of the format of the client', () => {
  it('is passed on with nothing changed but the name of the model', async () => {
    const { entry, sent, sink } = await outcomeOf(request({ a: [whole] }));
    assert.equal(JSON.parse(sent[0]?.body ?? '').model, 'm');
    assert.equal(JSON.parse(sink.text).model, 'all');
    assert.deepEqual([entry.usage?.input, entry.usage?.output, entry.streamed], [3, 1, false]);
  });

  it('is a stream wherever the pieces of the upstream end, byte for byte', async () => {
    const text = [role, word, last, done].join('');
    const expected = text.replaceAll('"model":"m"', '"model":"all"');
    for (const size of [1, 7, 64, text.length]) {
      const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const { entry, sink } = await outcomeOf(request({ a: [streams('ends', ...parts)] }, { stream: true }));
      assert.equal(sink.text, expected, `pieces of ${size}`);
      assert.deepEqual([entry.outcome, entry.usage?.output, entry.streamed], ['ok', 1, true]);
    }
  });

  it('is recognized by its content, whatever its headers say', async () => {
    const json = await outcomeOf(
      request({ a: [pieces('text/event-stream', ' \n', answered)] }, { stream: true }),
    );
    assert.match(json.sink.text, /^data: \{.*"id":"c1"/, 'a whole answer to who wants a stream');
    const events = await outcomeOf(
      request({ a: [pieces('application/json', role, word, last, done)] }, { stream: true }),
    );
    assert.match(events.sink.text, /^data: .*\n\n$/s);
    assert.equal(events.entry.streamed, true);
  });

  it('is assembled if the upstream streams to a client that asked for no stream', async () => {
    const { entry, sink } = await outcomeOf(request({ a: [streams('ends', role, word, last, done)] }));
    const { choices, object } = JSON.parse(sink.text);
    assert.deepEqual([object, choices[0].message.content], ['chat.completion', 'Hello']);
    assert.equal(entry.outcome, 'ok');
  });

  it('does not end like a complete one when the upstream breaks off after its first words', async () => {
    const { entry, sink } = await outcomeOf(request({ a: [streams('cut', role, word)] }, { stream: true }));
    assert.doesNotMatch(sink.text, /\[DONE\]/);
    assert.deepEqual([entry.outcome, entry.errorCode], ['failed', 'upstream_cut']);
    assert.ok((entry.usage?.output ?? 0) > 0, 'what came is counted');
  });

  it('is no redirect: the client would take its key along', async () => {
    const redirect: Script = (handler, controller) => {
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 302, { location: 'https://elsewhere.test/' });
      handler.onResponseEnd?.(controller, {});
    };
    const { entry, sink } = await outcomeOf(request({ a: [redirect] }));
    assert.deepEqual([sink.status, entry.errorCode], [502, 'upstream_redirect']);
    assert.doesNotMatch(sink.text, /elsewhere/);
  });

  it('has its usage recorded even if it is larger than the buffer, wherever the usage stands', async () => {
    const numbers = 'a picture without spaces'.replaceAll(' ', '').repeat(500_000);
    const content = { choices: [{ message: { content: numbers }, finish_reason: 'stop' }] };
    const usage = { usage: { prompt_tokens: 300, completion_tokens: 20 } };
    for (const answer of [
      { id: 'c1', model: 'm', ...content, ...usage },
      { id: 'c1', ...usage, ...content, model: 'm' },
    ]) {
      const parts = JSON.stringify(answer).match(/[\s\S]{1,60000}/g) ?? [];
      const { entry, sink } = await outcomeOf(request({ a: [pieces('application/json', ...parts)] }));
      assert.equal(JSON.parse(sink.text).model, 'all');
      assert.deepEqual([entry.usage?.input, entry.usage?.output, entry.estimated], [300, 20, false]);
      assert.deepEqual([entry.outcome, entry.finishReason], ['ok', 'stop']);
    }
  });

  it('has its outcome recorded when it breaks off or its client leaves', async () => {
    const large = 'words and '.repeat(1_000_000);
    const begun = `{"id":"c1","model":"m","choices":[{"message":{"content":"${large}`;
    const cut = await outcomeOf(
      request({
        a: [
          (handler, controller) => {
            handler.onRequestStart?.(controller, {});
            handler.onResponseStart?.(controller, 200, { 'content-type': 'application/json' });
            handler.onResponseData?.(controller, Buffer.from(begun));
            handler.onResponseError?.(
              controller,
              Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
            );
          },
        ],
      }),
    );
    assert.deepEqual([cut.entry.outcome, cut.entry.estimated], ['failed', true]);
    assert.equal(cut.entry.usage?.output, 2_500_000);
    const running = request({
      a: [
        (handler, controller) => {
          handler.onRequestStart?.(controller, {});
          handler.onResponseStart?.(controller, 200, { 'content-type': 'application/json' });
          handler.onResponseData?.(controller, Buffer.from(begun.slice(0, 4_000)));
        },
      ],
    });
    await running.begun;
    running.sink.leave();
    const left = await outcomeOf(running);
    assert.equal(left.entry.outcome, 'aborted');
    assert.ok((left.entry.usage?.output ?? 0) > 900);
  });
});
