import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting();
const question = {
  model: 'anth/m-1',
  system: 'Be brief.',
  tools: [
    { name: 'read', description: 'Reads a file', input_schema: { type: 'object' as const, properties: {} } },
  ],
  messages: [{ role: 'user' as const, content: 'How many tokens are these nine words of a question?' }],
};
const contents = [{ role: 'user', parts: [{ text: 'How many?' }] }];

describe('counting tokens', () => {
  it('asks a provider that counts, in its own format, and makes no ledger entry', async () => {
    at.upstream.always(json(200, { input_tokens: 321 }));
    const before = (await at.gateway.cli('logs', '--json')).stdout;
    const client = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    const counted = await client.messages.countTokens(question);
    assert.equal(counted.input_tokens, 321);
    const seen = at.upstream.requests[0];
    assert.equal(seen?.path, '/v1/messages/count_tokens');
    assert.deepEqual(JSON.parse(seen?.body.toString() ?? ''), { ...question, model: 'm-1' });
    assert.equal((await at.gateway.cli('logs', '--json')).stdout, before);
  });

  it('estimates if the provider turns out not to count, and says so', async () => {
    at.upstream.always(json(404, { error: { message: 'no such path' } }));
    const reply = await at.gateway.ask('/v1/messages/count_tokens?beta=true', question);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-estimated'), 'true');
    const tokens = Number(reply.json()['input_tokens']);
    assert.ok(tokens > 20 && tokens < 80, `${tokens}`);
  });

  it('estimates for a provider of a format without counting, without asking it', async () => {
    at.upstream.always(json(500, {}));
    const reply = await at.gateway.ask('/v1/messages/count_tokens', { ...question, model: 'up/m-1' });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-estimated'), 'true');
    assert.equal(at.upstream.requests.length, 0);
    const demo = await at.gateway.ask('/v1/messages/count_tokens', { ...question, model: 'demo/echo' });
    assert.equal(demo.json()['input_tokens'], reply.json()['input_tokens']);
  });

  it('asks in the format of a provider that counts in another one', async () => {
    at.upstream.always(json(200, { object: 'response.input_tokens', input_tokens: 45 }));
    const reply = await at.gateway.ask('/v1/responses/input_tokens', {
      model: 'resp/m-1',
      input: 'How many?',
    });
    assert.deepEqual(reply.json(), { object: 'response.input_tokens', input_tokens: 45 });
    assert.equal(at.upstream.requests[0]?.path, '/v1/responses/input_tokens');
    at.upstream.always(json(200, { input_tokens: 54 }));
    const translated = await at.gateway.ask('/v1beta/models/anth%2Fm-1:countTokens', { contents });
    assert.equal(translated.json()['totalTokens'], 54, translated.text);
    assert.equal(at.upstream.requests[0]?.path, '/v1/messages/count_tokens');
    const asked = JSON.parse(at.upstream.requests[0]?.body.toString() ?? '');
    assert.deepEqual(Object.keys(asked).sort(), ['messages', 'model']);
  });

  it('takes Google’s request bare or wrapped', async () => {
    for (const body of [{ contents }, { generateContentRequest: { model: 'models/x', contents } }]) {
      const reply = await at.gateway.ask('/v1beta/models/demo/echo:countTokens', body);
      assert.ok(Number(reply.json()['totalTokens']) > 2, reply.text);
    }
  });

  it('passes on what the provider refuses, in the dialect of the client', async () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'tools.0: bad' } };
    at.upstream.always(json(400, error));
    const reply = await at.gateway.ask('/v1/messages/count_tokens', question);
    assert.equal(reply.status, 400);
    assert.match(reply.text, /tools\.0: bad/);
    const unknown = await at.gateway.ask('/v1/messages/count_tokens', { ...question, model: 'nowhere/x' });
    assert.equal(unknown.status, 404);
    assert.equal(unknown.json()['type'], 'error');
    const denied = await at.gateway.send({
      method: 'POST',
      path: '/v1/messages/count_tokens',
      headers: { ...bearer('sk-wrong'), 'content-type': 'application/json' },
      body: JSON.stringify(question),
    });
    assert.equal(denied.status, 401);
  });
});
