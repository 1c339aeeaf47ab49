import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { refusedSocket } from '../../support/clients/socket.ts';
import { connectionsTo } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { stream } from '../../support/upstream/steps.ts';
import { connectionsToAll, upstreams } from '../../tools/model.ts';

const dry = { 'x-gateway-dry-run': '1' };
const at = setting();

interface DryRun {
  object: string;
  model: string;
  format: string;
  combo: string | null;
  targets: {
    connection: string;
    model: string;
    format: string;
    relayed: boolean;
    dropped: string[];
    added: string | null;
    error: { code: string; param: string | null } | null;
  }[];
  skipped: { connection: string; reason: string }[];
}

const tool = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };
const turn = [{ role: 'user', content: 'hi' }];

/** A request of each dialect that asks for much, by its path; `MODEL` stands for the model. */
const requests: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    model: 'MODEL',
    stream: true,
    seed: 7,
    logit_bias: { 5: 1 },
    user: 'ann',
    mood: 'calm',
    tools: [{ type: 'function', function: { ...tool, strict: true } }],
    messages: [...turn, { role: 'assistant', content: 'ho' }],
  },
  '/v1/responses': {
    model: 'MODEL',
    stream: true,
    input: 'hi',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'low', context: 'all_turns' },
    prompt_cache_key: 'k',
    truncation: 'auto',
    tools: [{ type: 'function', ...tool, strict: false }],
  },
  '/v1/messages': {
    model: 'MODEL',
    stream: true,
    max_tokens: 50,
    messages: turn,
    top_k: 5,
    metadata: { user_id: 'u' },
    system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tools: [{ name: 'look', description: 'Looks', input_schema: tool.parameters }],
  },
  '/v1beta/models/MODEL:streamGenerateContent?alt=sse': {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { seed: 7, topK: 5, thinkingConfig: { thinkingBudget: 512 } },
    safetySettings: [],
    tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: tool.parameters }] }],
  },
};

const ask = (path: string, model: string, body: object, headers = {}) =>
  at.gateway.ask(
    path.replace('MODEL', model),
    JSON.parse(JSON.stringify(body).replace('"MODEL"', JSON.stringify(model))),
    headers,
  );
const read = (reply: Reply) => JSON.parse(reply.text) as DryRun;

describe('a dry run', () => {
  before(async () => {
    const more = connectionsToAll(at.upstream.url).slice(connectionsTo('').length);
    for (const connection of more) await at.gateway.connect(connection);
  });

  for (const [path, body] of Object.entries(requests)) {
    for (const [name, upstream] of Object.entries(upstreams)) {
      it(`${path} to ${name}: reports what the real request reports, and sends nothing`, async () => {
        const headers = 'headers' in upstream ? upstream.headers : {};
        at.upstream.always(stream(upstream.answer({ text: ['ho'] }), 'whole', headers));
        const planned = await ask(path, upstream.model, body, dry);
        assert.equal(planned.status, 200, planned.text);
        const { object, targets } = read(planned);
        const [target] = targets;
        assert.deepEqual([object, targets.length, target?.error], ['gateway.dry_run', 1, null]);
        assert.equal(at.upstream.requests.length, 0, 'nobody was asked');

        const real = await ask(path, upstream.model, body);
        assert.equal(real.status, 200, real.text);
        assert.equal(at.upstream.requests.length, 1);
        assert.equal(target?.dropped.join(','), real.header('x-gateway-dropped') ?? '');
        assert.equal(target?.added ?? undefined, real.header('x-gateway-added'));
        assert.equal(target?.connection, real.header('x-gateway-connection'));
      });
    }
  }

  it('names what makes a target refuse the request', async () => {
    const body = { model: 'anth/m-1', n: 2, messages: turn };
    const { targets } = read(await ask('/v1/chat/completions', 'anth/m-1', body, dry));
    assert.deepEqual(targets[0]?.error?.code, 'not_translatable');
    assert.equal(targets[0]?.error?.param, 'n');
    assert.equal((await ask('/v1/chat/completions', 'anth/m-1', body)).status, 400);
  });

  it('reports every target of a combo', async () => {
    await at.gateway.cliJson(
      ...['combo', 'create', 'both', '--strategy', 'priority', '--target', 'up/m-1', '--target', 'goog/m-1'],
    );
    const body = { ...requests['/v1/chat/completions'] };
    const { combo, targets } = read(await ask('/v1/chat/completions', 'both', body, dry));
    assert.equal(combo, 'both');
    assert.deepEqual(
      targets.map(({ connection, relayed, dropped }) => [connection, relayed, dropped.includes('seed')]),
      [
        ['up', true, false],
        ['goog', false, false],
      ],
    );
    assert.ok(targets[1]?.dropped.includes('logit_bias'));
  });

  it('is refused like the real request, and leaves no entry in the ledger', async () => {
    const body = requests['/v1/messages'] ?? {};
    const unknown = await ask('/v1/messages', 'nobody/none', body, dry);
    assert.equal(unknown.status, 404);
    const wrong = { ...dry, authorization: 'Bearer sk-nobody0000000000000000000000000' };
    assert.equal((await ask('/v1/messages', 'up/m-1', body, wrong)).status, 401);
    const planned = await ask('/v1/messages', 'demo/echo', body, dry);
    assert.equal(planned.status, 200);
    const real = await ask('/v1/messages', 'demo/echo', body);
    await at.gateway.entry(real.header('x-request-id'));
    const ids = (await at.gateway.entries()).map(({ id }) => id);
    for (const reply of [unknown, planned])
      assert.equal(ids.includes(reply.header('x-request-id') ?? ''), false);
  });

  it('is never sent for real if a path has no dry run', async () => {
    at.upstream.always(stream(''));
    for (const path of ['/v1/images/generations', '/v1/messages/count_tokens', '/v1/responses/compact']) {
      const reply = await at.gateway.ask(path, { model: 'up/m-1', prompt: 'a cat' }, dry);
      assert.equal(reply.status, 400, path);
      assert.match(reply.text, /x-gateway-dry-run/);
    }
    const socket = await refusedSocket(at.gateway, '/v1/responses', {
      ...dry,
      authorization: `Bearer ${at.gateway.key}`,
    });
    assert.equal(socket.status, 400);
    assert.equal(at.upstream.requests.length, 0);
  });
});
