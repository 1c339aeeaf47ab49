import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { chat, messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting({ oneWorker: true });
const refused = (message: string, status = 400) =>
  json(status, { error: { message, type: 'invalid_request_error', param: 'max_tokens' } });
const sentBodies = () => at.upstream.requests.map(({ body }) => JSON.parse(body.toString()));
const tooMany = (most: number, asked: number) =>
  refused(
    `max_tokens is too large: ${asked}. This model supports at most ${most} completion tokens, whereas you provided ${asked}.`,
  );

describe('an output limit above the model’s maximum', () => {
  before(() => at.gateway.connect({ provider: 'gemini-compatible', name: 'goog', baseUrl: at.upstream.url }));

  it('is lowered to what the provider names, in advance the next time, and reported', async () => {
    at.upstream.script(
      [tooMany(8192, 32_000)],
      [json(200, chat.answer())],
      [json(200, chat.answer())],
      [json(200, chat.answer())],
    );
    const ask = (max_tokens: number) =>
      at.gateway.ask(messages.path, messages.request({ model: 'up/small', max_tokens }));
    const first = await ask(32_000);
    assert.equal(first.status, 200, first.text);
    assert.equal(first.header('x-gateway-lowered'), 'max_tokens=8192');
    assert.equal(first.header('x-gateway-attempts'), '2');
    const second = await ask(64_000);
    assert.equal(second.header('x-gateway-lowered'), 'max_tokens=8192');
    assert.equal(second.header('x-gateway-attempts'), '1');
    const third = await ask(100);
    assert.equal(third.header('x-gateway-lowered'), undefined);
    assert.deepEqual(
      sentBodies().map((body) => body.max_tokens),
      [32_000, 8192, 8192, 100],
    );
    const [before, after] = sentBodies();
    assert.deepEqual({ ...after, max_tokens: 32_000 }, before, 'nothing else is changed');
  });

  it('is named by the client’s field, whatever the provider calls it', async () => {
    at.upstream.script(
      [
        json(400, {
          type: 'error',
          error: {
            type: 'invalid_request_error',
            message: 'max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for m-1',
          },
        }),
      ],
      [json(200, messages.answer())],
    );
    const body = responses.request({ model: 'anth/m-1', max_output_tokens: 32_000 });
    const reply = await at.gateway.ask(responses.path, body);
    assert.equal(reply.header('x-gateway-lowered'), 'max_output_tokens=4096');
    assert.equal(sentBodies()[1].max_tokens, 4096);
    // The bound that the format wants and the client did not ask for is lowered without a word.
    at.upstream.always(json(200, messages.answer()));
    const plain = await at.gateway.ask(chat.path, chat.request({ model: 'anth/m-1' }));
    assert.equal(plain.header('x-gateway-lowered'), undefined);
    assert.equal(sentBodies()[0].max_tokens, 4096);
    const google = {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message:
        'Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.',
    };
    const candidates = [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }];
    at.upstream.script([json(400, { error: google })], [json(200, { candidates })]);
    const said = await at.gateway.ask(
      chat.path,
      chat.request({ model: 'goog/m-1', max_completion_tokens: 32_000 }),
    );
    assert.equal(said.status, 200, said.text);
    assert.equal(said.header('x-gateway-lowered'), 'max_completion_tokens=8192');
    assert.equal(sentBodies()[1].generationConfig.maxOutputTokens, 8192);
  });

  it('that only exceeds the rest of the context is lowered for this conversation alone', async () => {
    const room =
      "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000).";
    at.upstream.script([refused(room)], [json(200, chat.answer())], [json(200, chat.answer())]);
    const ask = () =>
      at.gateway.ask(messages.path, messages.request({ model: 'up/window', max_tokens: 32_000 }));
    assert.equal((await ask()).header('x-gateway-lowered'), 'max_tokens=31768');
    assert.equal((await ask()).header('x-gateway-lowered'), undefined);
    assert.deepEqual(
      sentBodies().map((body) => body.max_tokens),
      [32_000, 31_768, 32_000],
    );
  });

  it('is lowered once, not in a loop', async () => {
    at.upstream.respond((request) => {
      const asked = Number(JSON.parse(request.body.toString()).max_tokens);
      return [tooMany(asked - 1, asked)];
    });
    const reply = await at.gateway.ask(
      messages.path,
      messages.request({ model: 'up/liar', max_tokens: 900 }),
    );
    assert.equal(reply.status, 400);
    assert.equal(at.upstream.requests.length, 2);
  });

  it('is left to the provider if the request is in its own format, byte for byte', async () => {
    at.upstream.script([tooMany(8192, 32_000)], [tooMany(8192, 32_000)]);
    const body = '{"model":"up/small", "max_tokens":32000,"messages":[{"role":"user","content":"hi"}]}';
    const reply = await at.gateway.ask(chat.path, body);
    assert.equal(reply.status, 400);
    assert.equal(reply.header('x-gateway-lowered'), undefined);
    assert.equal(at.upstream.requests.length, 1);
    assert.equal(at.upstream.requests[0]?.body.toString(), body.replace('up/small', 'small'));
  });
});
