import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { chat, formats, messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { body, json, stream } from '../../support/upstream/steps.ts';

const betas = 'claude-code-20250219,interleaved-thinking-2025-05-14, unknown-beta-2031-01-01';

describe('headers and parameters that switch features on', () => {
  const at = setting();

  it('reach a server of the format byte for byte, however they are split; the query reaches only its vendor', async () => {
    await at.gateway.connect({ provider: 'anthropic', name: 'vendor', baseUrl: at.upstream.url });
    for (const [model, path] of [
      [messages.model, '/v1/messages'],
      ['vendor/m-1', '/v1/messages?beta=true'],
    ] as const) {
      at.upstream.always(json(200, messages.answer()));
      const reply = await at.gateway.send({
        path: `${messages.path}?beta=true&key=sk-not-ours`,
        headers: [
          ['authorization', `Bearer ${at.gateway.key}`],
          ['content-type', 'application/json'],
          ['anthropic-version', '2023-06-01'],
          ['anthropic-beta', betas],
          ['Anthropic-Beta', 'second-2026-01-01'],
        ],
        body: JSON.stringify(messages.request({ model })),
      });
      assert.equal(reply.status, 200, reply.text);
      const seen = await at.upstream.request();
      const sent = seen.headers.filter(([name]) => name.toLowerCase().startsWith('anthropic-'));
      assert.deepEqual(sent, [
        ['anthropic-version', '2023-06-01'],
        ['anthropic-beta', betas],
        ['anthropic-beta', 'second-2026-01-01'],
      ]);
      assert.equal(seen.path, path);
    }
  });

  it('are dropped when the request is translated, because they name features of another vendor', async () => {
    const theirs = { 'anthropic-beta': betas, 'anthropic-version': '2023-06-01', 'openai-beta': 'a=1' };
    for (const [from, to] of [
      [messages, chat],
      [messages, responses],
      [chat, messages],
      [responses, chat],
    ] as const) {
      at.upstream.always(json(200, to.answer()));
      const reply = await at.gateway.ask(`${from.path}?beta=true`, from.request({ model: to.model }), theirs);
      assert.equal(reply.status, 200, reply.text);
      const seen = await at.upstream.request();
      const names = seen.headers.map(([name]) => name.toLowerCase());
      assert.deepEqual(
        names.filter((name) => /beta|^anthropic-/.test(name)),
        // What the provider itself needs in every request is no feature of the client's.
        to === messages ? ['anthropic-version'] : [],
      );
      assert.doesNotMatch(seen.path, /beta/);
    }
  });

  it('of Google’s clients are dropped, with the key that may be in them', async () => {
    at.upstream.always(json(200, chat.answer()));
    const path = `/v1beta/models/${chat.model}:generateContent?alt=json&%24alt=sse&key=${at.gateway.key}`;
    const reply = await at.gateway.send({
      path,
      headers: {
        'content-type': 'application/json',
        'x-goog-api-client': 'genai-js/3',
        'x-goog-user-project': 'p',
      },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
    });
    assert.equal(reply.status, 200, reply.text);
    const seen = await at.upstream.request();
    assert.doesNotMatch(seen.rawHead.toString('latin1'), /x-goog|alt=|key=/i);
  });
});

describe('the id of a request', () => {
  const at = setting();

  it('of the vendor is passed on, the gateway’s own stands beside it, and the log has both', async () => {
    at.upstream.always(json(200, messages.answer(), { 'request-id': 'req_vendor' }));
    const relayed = await at.gateway.ask(messages.path, messages.request());
    assert.equal(relayed.header('request-id'), 'req_vendor');
    at.upstream.always(json(200, responses.answer(), { 'x-request-id': 'req_openai' }));
    const other = await at.gateway.ask(responses.path, responses.request());
    assert.equal(other.header('x-upstream-request-id'), 'req_openai');
    for (const [reply, vendor] of [
      [relayed, 'req_vendor'],
      [other, 'req_openai'],
    ] as const) {
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.equal(row.upstream_request_id, vendor);
      assert.match(row.id, /^req_0/);
    }
  });

  it('is where Anthropic’s SDK looks for it, whatever answered', async () => {
    const client = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    const ask = (model: string) =>
      client.messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
    at.upstream.always(json(200, chat.answer(), { 'x-request-id': 'req_openai' }));
    const { _request_id } = await ask(chat.model);
    assert.match(_request_id ?? '', /^req_0/);
    assert.equal((await at.gateway.entry(_request_id ?? undefined)).upstream_request_id, 'req_openai');
    at.upstream.always(stream(chat.stream().text));
    const streamed = client.messages.stream({
      model: chat.model,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    });
    await streamed.finalMessage();
    assert.match(streamed.request_id ?? '', /^req_0/);
    at.upstream.always(json(200, messages.answer()));
    assert.match((await ask(messages.model))._request_id ?? '', /^req_0/, 'a server that sends none');
    for (const model of ['nobody/has-it', chat.model, messages.model]) {
      at.upstream.always(body(500, 'broken'));
      await assert.rejects(ask(model), (error) => {
        assert.ok(error instanceof Anthropic.APIError);
        assert.match(error.requestID ?? '', /^req_0/, model);
        return true;
      });
    }
    at.upstream.always(json(404, {}));
    const count = await at.gateway.ask('/v1/messages/count_tokens', messages.request());
    assert.equal(count.header('request-id'), count.header('x-request-id'));
  });

  it('is where OpenAI’s SDK looks for it', async () => {
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
    at.upstream.always(json(200, messages.answer(), { 'request-id': 'req_vendor' }));
    const answer = await client.chat.completions.create({
      model: messages.model,
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.match(answer._request_id ?? '', /^req_0/);
  });
});

describe('what SDKs do after a failure', () => {
  const at = setting();
  const openai = () => new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key });
  const anthropic = () => new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key });
  const said = [{ role: 'user' as const, content: 'hi' }];
  const clients = {
    chat: (model: string) => openai().chat.completions.create({ model, messages: said }),
    responses: (model: string) => openai().responses.create({ model, input: 'hi' }),
    messages: (model: string) => anthropic().messages.create({ model, max_tokens: 9, messages: said }),
  };
  const soon = { 'retry-after-ms': '20' };

  for (const caller of formats) {
    const target = caller === messages ? chat : messages;
    for (const upstream of [caller, target])
      it(`is to retry: ${caller.name} through a server of ${upstream.name}`, async () => {
        at.upstream.script(
          [json(429, upstream.error('slow down', 'rate_limit_error'), soon)],
          [json(503, upstream.error('busy', 'overloaded_error'), soon)],
          [json(200, upstream.answer())],
        );
        const answer = await clients[caller.name](upstream.model);
        assert.ok(answer.id);
        assert.equal(at.upstream.requests.length, 3);
      });
  }

  it('is to stop when the vendor or the gateway says that a retry is useless', async () => {
    for (const caller of formats) {
      at.upstream.always(
        json(500, caller.error('never', 'api_error'), { 'x-should-retry': 'false', ...soon }),
      );
      await assert.rejects(clients[caller.name](caller.model));
      assert.equal(at.upstream.requests.length, 1, `${caller.name}: the vendor`);
      at.upstream.always(body(302, '', { location: '/elsewhere' }));
      await assert.rejects(clients[caller.name](caller.model));
      assert.equal(at.upstream.requests.length, 1, `${caller.name}: a redirect`);
      for (const status of [400, 401, 403, 404, 413, 422]) {
        at.upstream.always(json(status, caller.error('no', 'invalid_request_error'), soon));
        await assert.rejects(clients[caller.name](caller.model));
        assert.equal(at.upstream.requests.length, 1, `${caller.name}: ${status}`);
      }
    }
  });
});
