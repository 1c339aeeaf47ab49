import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type JsonObject, objectOf } from '../../../src/codecs/json/values.ts';
import { clients, fleet, healthy, traceOf } from '../../support/gateway/fleet.ts';
import { json } from '../../support/upstream/steps.ts';

const completions = (model: string) => ({ path: '/v1/completions', body: { model, prompt: 'hi' } });
const dialects = Object.entries<(typeof clients)[string]>({ ...clients, completions });
const limited = (seconds: number) =>
  json(429, { error: { message: 'slow down, upstream-secret', type: 'x' } }, { 'retry-after': `${seconds}` });

/** What an error is called, wherever the dialect has that. */
function namesOf(body: JsonObject): unknown[] {
  const { error } = body;
  return typeof error === 'string'
    ? [error]
    : ['code', 'type', 'status'].map((name) => objectOf(error)[name]);
}
const named: Readonly<Record<string, unknown>> = {
  chat: 'server_error',
  responses: 'server_error',
  completions: 'server_error',
  messages: 'overloaded_error',
  gemini: 'UNAVAILABLE',
};

describe('a request when all accounts said when to come back', () => {
  // The others hear of a pause a moment after the answer.
  const at = fleet(2, { oneWorker: true });
  before(() => at.connectAll('openai-compatible'));
  const ask = (dialect: string, model: string) => {
    const asking = dialects.find(([name]) => name === dialect)?.[1];
    assert.ok(asking);
    const { body, path } = asking(model, at.gateway.key);
    return at.gateway.ask(path, body);
  };
  const reset = async () => {
    for (const index of [0, 1]) await at.reset(`openai-compatible-${index}`);
  };

  for (const [dialect] of dialects) {
    it(`gets a client of ${dialect} 503 with the shortest time and what was tried, without secrets`, async () => {
      const [first, second] = at.upstreams;
      assert.ok(first && second);
      first.always(limited(90));
      second.always(limited(40));
      for (const asked of [1, 0]) {
        const reply = await ask(dialect, 'openai-compatible/m-1');
        assert.equal(reply.status, 503, reply.text);
        const seconds = Number(reply.header('retry-after'));
        assert.ok(seconds > 30 && seconds <= 40, String(seconds));
        assert.equal(reply.header('x-should-retry'), undefined);
        assert.match(
          reply.text,
          /openai-compatible-1 rate limit until [0-9:]+ UTC, openai-compatible-0 rate limit until/,
        );
        const tried = /\(tried openai-compatible-0: 429 rate limit, openai-compatible-1: 429 rate limit\)/;
        assert.equal(tried.test(reply.text), asked === 1, reply.text);
        assert.doesNotMatch(reply.text, /upstream-secret|http:/);
        if (named[dialect] !== undefined)
          assert.ok(namesOf(reply.json()).includes(named[dialect]), reply.text);
        const { attempts, skipped } = await traceOf(at, reply);
        assert.deepEqual([attempts.length, skipped.length], asked === 1 ? [2, 0] : [0, 2]);
      }
      assert.deepEqual([first.requests.length, second.requests.length], [1, 1], 'nobody is asked again');
      await reset();
    });
  }

  it('gets 429 if there is only one account', async () => {
    const [first] = at.upstreams;
    assert.ok(first);
    first.always(limited(40));
    for (const [dialect] of dialects) {
      for (let count = 0; count < 2; count += 1) {
        const reply = await ask(dialect, 'openai-compatible-0/m-1');
        assert.equal(reply.status, 429, reply.text);
        assert.ok(Number(reply.header('retry-after')) > 30);
      }
      assert.equal(first.requests.length, 1);
      first.always(limited(40));
      await reset();
    }
  });

  it('gets the failure of one account if another is only estimated to be exhausted', async () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    first.always(limited(40));
    second.always(json(429, { error: { message: 'slow down', type: 'x' } }));
    const reply = await ask('chat', 'openai-compatible/m-1');
    assert.equal(reply.status, 429, reply.text);
    second.respond(healthy);
    assert.equal((await ask('chat', 'openai-compatible/m-1')).status, 200, 'a guess refuses no request');
    await reset();
  });

  it('is retried by OpenAI’s SDK after that time', async () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    first.always(limited(1));
    second.always(limited(60));
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key });
    const asked = client.chat.completions.create({
      model: 'openai-compatible/m-1',
      messages: [{ role: 'user', content: 'hi' }],
    });
    await second.request();
    first.respond(() => [
      json(200, {
        id: 'c',
        object: 'chat.completion',
        model: 'm-1',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'again' } }],
      }),
    ]);
    assert.equal((await asked).choices[0]?.message.content, 'again');
    await reset();
  });
});
