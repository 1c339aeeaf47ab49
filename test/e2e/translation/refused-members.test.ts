import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chat, messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting({ oneWorker: true });
const refused = (message: string, status = 400) =>
  json(status, { error: { message, type: 'invalid_request_error' } });
const sentBodies = () => at.upstream.requests.map(({ body }) => JSON.parse(body.toString()));
const question = (model: string) =>
  messages.request({
    model,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    temperature: 0.5,
  });

describe('an optional parameter that the provider refuses', () => {
  it('is omitted from a translated request, in advance the next time, and reported', async () => {
    const message = "Unsupported parameter: 'reasoning_effort' is not supported with this model.";
    at.upstream.script([refused(message)], [json(200, chat.answer())], [json(200, chat.answer())]);
    const first = await at.gateway.ask(messages.path, question('up/plain'));
    assert.equal(first.status, 200, first.text);
    assert.equal(first.header('x-gateway-dropped'), 'thinking');
    assert.equal(first.header('x-gateway-attempts'), '2');
    const second = await at.gateway.ask(messages.path, question('up/plain'));
    assert.equal(second.header('x-gateway-attempts'), '1');
    assert.equal(second.header('x-gateway-dropped'), 'thinking');
    const [before, after, later] = sentBodies();
    assert.equal(before.reasoning_effort, 'high');
    for (const body of [after, later]) assert.equal('reasoning_effort' in body, false);
    assert.equal(after.temperature, 0.5);
  });

  it('may be one of several', async () => {
    at.upstream.script(
      [refused('reasoning_effort: Extra inputs are not permitted', 422)],
      [refused('temperature: Extra inputs are not permitted', 422)],
      [json(200, chat.answer())],
    );
    const reply = await at.gateway.ask(messages.path, question('up/plainer'));
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(reply.header('x-gateway-dropped')?.split(',').sort(), ['temperature', 'thinking']);
  });

  it('is kept if the error is about a value or something else, or comes again', async () => {
    for (const message of ['temperature must be at most 1', 'Unknown model', 'messages: not supported']) {
      at.upstream.script([refused(message)]);
      const reply = await at.gateway.ask(messages.path, question('up/strict'));
      assert.equal(reply.status, 400);
      assert.equal(at.upstream.requests.length, 1, message);
    }
    at.upstream.script([refused('top_p is not supported')]);
    assert.equal((await at.gateway.ask(messages.path, question('up/strict'))).status, 400);
  });

  it('is left alone in a request of the provider’s own format', async () => {
    at.upstream.script([refused("Unsupported parameter: 'temperature'")]);
    const reply = await at.gateway.ask(chat.path, chat.request({ temperature: 0.5 }));
    assert.equal(reply.status, 400);
    assert.equal(at.upstream.requests.length, 1);
  });
});
