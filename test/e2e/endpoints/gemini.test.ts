import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { geminiStream } from '../../support/upstream/answers-native.ts';
import { json, stream } from '../../support/upstream/steps.ts';

const at = setting();
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
describe('Google’s paths', () => {
  before(async () => {
    await at.gateway.connect({ provider: 'gemini-compatible', name: 'goog', baseUrl: at.upstream.url });
  });

  it('relay bytes both ways to a provider of the format, with its own way to send the key', async () => {
    const text = geminiStream({ model: 'goog/m-1' });
    at.upstream.always(stream(text, 'byte'));
    const body = `{ "contents":[{"parts":[{"text":"H\\u0069"}],"role":"user"}],  "future": 12345678901234567890 }`;
    const reply = await at.gateway.send({
      method: 'POST',
      path: '/v1beta/models/goog/m-1:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': at.gateway.key, 'content-type': 'application/json' },
      body,
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.text, text);
    assert.match(reply.header('content-type') ?? '', /^text\/event-stream/);
    const [seen] = at.upstream.requests;
    assert.equal(seen?.path, '/v1beta/models/m-1:streamGenerateContent?alt=sse');
    assert.equal(seen?.body.toString(), body);
    assert.equal(seen?.header('x-goog-api-key'), 'upstream-secret');
    const row = await at.gateway.entry(reply.header('x-request-id'));
    assert.deepEqual(
      [row.format, row.model, row.streamed, row.usage?.['input'], row.usage?.['cache_read']],
      ['gemini', 'm-1', true, 40, 60],
    );
  });

  it('stream one JSON array where no events are asked for, relayed and translated', async () => {
    at.upstream.always(stream(geminiStream(), 'byte'));
    for (const model of ['goog/m-1', 'demo/echo']) {
      const reply = await at.gateway.ask(`/v1beta/models/${model}:streamGenerateContent`, { contents });
      assert.match(reply.header('content-type') ?? '', /^application\/json/);
      const chunks = JSON.parse(reply.text) as { candidates: { finishReason?: string }[] }[];
      assert.ok(chunks.length > 1, reply.text);
      assert.equal(chunks.at(-1)?.candidates[0]?.finishReason, 'STOP');
    }
    assert.equal(at.upstream.requests[0]?.path, '/v1beta/models/m-1:streamGenerateContent?alt=sse');
  });

  it('take the key from the query too, and there only; it stays out of the log', async () => {
    const path = `/v1beta/models/demo/echo:generateContent?key=${at.gateway.key}`;
    const headers = { 'content-type': 'application/json' };
    const ask = (where: string) =>
      at.gateway.send({ method: 'POST', path: where, headers, body: JSON.stringify({ contents }) });
    const reply = await ask(path);
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /Hello/);
    assert.equal((await ask(`/v1/chat/completions?key=${at.gateway.key}`)).status, 401);
    const { stderr, stdout } = at.gateway.output();
    assert.equal(`${stderr}${stdout}`.includes(at.gateway.key), false);
  });

  it('answer errors in Google’s shape, the provider’s and the gateway’s own', async () => {
    const unknown = await at.gateway.ask('/v1beta/models/nowhere/x:generateContent', { contents });
    assert.equal(unknown.status, 404);
    assert.equal((unknown.json()['error'] as { status: string }).status, 'NOT_FOUND');
    const denied = await at.gateway.send({ method: 'GET', path: '/v1beta/models', headers: bearer('sk-no') });
    assert.deepEqual(
      [denied.status, (denied.json()['error'] as { status: string }).status],
      [401, 'UNAUTHENTICATED'],
    );
    const error = { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' };
    at.upstream.always(json(429, { error }));
    const limited = await at.gateway.ask('/v1beta/models/goog/m-1:generateContent', { contents });
    assert.deepEqual([limited.status, limited.json()['error']], [429, error]);
    assert.equal(limited.header('retry-after'), '5');
    at.upstream.always(json(429, { error: { message: 'slow down', type: 'requests' } }));
    const translated = await at.gateway.ask('/v1beta/models/up/m-1:generateContent', { contents });
    assert.equal((translated.json()['error'] as { status: string }).status, 'RESOURCE_EXHAUSTED');
    for (const model of ['goog/../../x', 'goog/%2e%2e']) {
      const reply = await at.gateway.ask(`/v1beta/models/${model}:generateContent`, { contents });
      assert.ok(reply.status === 400 || reply.status === 404, `${model}: ${reply.status}`);
    }
  });

  it('list models in Google’s shape, page by page, and each by its name', async () => {
    const get = (path: string) => at.gateway.send({ method: 'GET', path, headers: bearer(at.gateway.key) });
    const first = (await get('/v1beta/models?pageSize=1')).json();
    const [model] = first['models'] as { name: string; supportedGenerationMethods: string[] }[];
    assert.match(model?.name ?? '', /^models\//);
    assert.ok(model?.supportedGenerationMethods.includes('streamGenerateContent'));
    const next = (await get(`/v1beta/models?pageSize=1&pageToken=${String(first['nextPageToken'])}`)).json();
    assert.notDeepEqual(next['models'], first['models']);
    const one = (await get(`/v1beta/${model?.name}`)).json();
    assert.equal(one['name'], model?.name);
  });

  for (const apiVersion of ['v1beta', 'v1'])
    it(`list models for Google’s SDK below ${apiVersion}, and describe one`, async () => {
      const httpOptions = { baseUrl: at.gateway.url, apiVersion };
      const { models } = new GoogleGenAI({ apiKey: at.gateway.key, httpOptions });
      const names: string[] = [];
      for await (const { name } of await models.list()) names.push(name ?? '');
      assert.ok(names.includes('models/demo/echo'), names.join());
      const { displayName } = await models.get({ model: 'demo/echo' });
      assert.equal(displayName, 'echo (built-in demo)');
      await assert.rejects(models.get({ model: 'nowhere/x' }), { name: 'ApiError', status: 404 });
    });

  it('understand a provider that streams a list where events were asked for', async () => {
    const chunks = geminiStream()
      .split('\r\n\r\n')
      .filter((frame) => frame !== '');
    at.upstream.always(json(200, `[${chunks.map((frame) => frame.slice('data: '.length)).join(',\n')}]`));
    const body = { model: 'goog/m-1', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
    const reply = await at.gateway.ask('/v1/chat/completions', body);
    assert.match(reply.text, /wörld 🙂/);
    assert.match(reply.text, /\[DONE\]/);
  });
});
