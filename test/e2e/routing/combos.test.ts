import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { chat } from '../../support/formats/formats.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

const shared: { gateway?: RunningGateway; one?: Upstream; two?: Upstream } = {};

function at(): { gateway: RunningGateway; one: Upstream; two: Upstream } {
  const { gateway, one, two } = shared;
  assert.ok(gateway && one && two);
  return { gateway, one, two };
}

before(async () => {
  shared.one = await startUpstream();
  shared.two = await startUpstream();
  const connection = (name: string, baseUrl: string) => ({ provider: 'openai-compatible', name, baseUrl });
  shared.gateway = await startGateway({
    // Whose turn it is, each knows for itself.
    oneWorker: true,
    connections: [connection('one', shared.one.url), connection('two', shared.two.url)],
  });
});
after(async () => {
  await shared.gateway?.stop();
  await Promise.all([shared.one?.close(), shared.two?.close()]);
});

/** Makes a combo; the gateway knows it by the time this resolves. */
async function combo(name: string, targets: readonly string[], ...flags: string[]): Promise<void> {
  const { gateway } = at();
  await gateway.cliJson(
    'combo',
    'create',
    name,
    ...targets.flatMap((target) => ['--target', target]),
    ...flags,
  );
}

const question = (model: string, text = 'hi') => ({ model, messages: [{ role: 'user', content: text }] });

/** Which connection answered, and the model that its upstream was asked for. */
async function asked(
  model: string,
  headers: Readonly<Record<string, string>> = {},
  text = 'hi',
): Promise<string> {
  const { gateway, one, two } = at();
  for (const upstream of [one, two]) upstream.always(json(200, chat.answer()));
  const reply = await gateway.ask('/v1/chat/completions', question(model, text), headers);
  assert.equal(reply.status, 200, reply.text);
  const connection = reply.header('x-gateway-connection') ?? '';
  const seen = [...one.requests, ...two.requests];
  assert.equal(seen.length, 1, 'one upstream was asked once');
  const sent = JSON.parse(seen[0]?.body.toString() ?? '') as { model: string };
  assert.equal(reply.header('x-gateway-model'), sent.model);
  return `${connection}/${sent.model}`;
}

async function listedIds(key = at().gateway.key): Promise<string[]> {
  const reply = await at().gateway.send({ method: 'GET', path: '/v1/models', headers: bearer(key) });
  return (reply.json()['data'] as { id: string }[]).map(({ id }) => id);
}

describe('a combo', () => {
  it('goes to its first target, under its own name', async () => {
    await combo('plain', ['two/a', 'one/b']);
    assert.equal(await asked('plain'), 'two/a');
    assert.equal(await asked('plain'), 'two/a');
  });

  it('rotates round-robin, and keeps sessions where they are', async () => {
    await combo('round', ['one/a', 'two/b'], '--strategy', 'round-robin');
    const four = [];
    for (let turn = 0; turn < 4; turn += 1) four.push(await asked('round'));
    assert.deepEqual(four, ['one/a', 'two/b', 'one/a', 'two/b']);
    const session = { 'x-session-id': 'mine' };
    const first = await asked('round', session);
    for (let turn = 0; turn < 3; turn += 1)
      assert.equal(await asked('round', session, `turn ${turn}`), first);
  });

  it('is what auto means once it is activated', async () => {
    const { gateway } = at();
    const refused = await gateway.ask('/v1/chat/completions', question('auto'));
    assert.equal(refused.status, 400);
    assert.match(refused.text, /no_combo_configured/);
    assert.match(refused.text, /dashboard\/combos/);
    assert.equal((await listedIds()).includes('auto'), false);
    await combo('smart', ['two/x', 'one/bare']);
    await gateway.cliJson('combo', 'switch', 'smart');
    assert.equal(await asked('auto'), 'two/x');
    assert.equal(await asked('bare'), 'one/bare', 'its targets come before what connections list');
    assert.equal((await listedIds()).includes('auto'), true);
  });

  it('may hold others, and answers in any format', async () => {
    await combo('outer', ['plain', 'one/z']);
    assert.equal(await asked('outer'), 'two/a');
    const { gateway, two } = at();
    two.always(json(200, chat.answer()));
    const reply = await gateway.ask('/v1/messages', { ...question('outer'), max_tokens: 10 });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.json()['model'], 'outer');
  });

  it('is gone for requests as soon as it was deleted', async () => {
    const { gateway } = at();
    await combo('brief', ['one/a']);
    assert.equal(await asked('brief'), 'one/a');
    await gateway.cliJson('combo', 'delete', 'brief', '--yes');
    const reply = await gateway.ask('/v1/chat/completions', question('brief'));
    assert.equal(reply.status, 404);
    assert.match(reply.text, /model_not_found/);
  });
});

describe('an alias', () => {
  it('leads to a model, by its name or by a pattern', async () => {
    const { gateway } = at();
    await gateway.cliJson('alias', 'add', 'gpt-4', 'one/new');
    await gateway.cliJson('alias', 'add', 'claude-*', 'two/my-*');
    assert.equal(await asked('gpt-4'), 'one/new');
    assert.equal(await asked('claude-haiku'), 'two/my-haiku');
  });
});

describe('a key', () => {
  it('that may use a combo may use it, and nothing else', async () => {
    const { gateway } = at();
    await combo('given', ['one/a', 'two/b']);
    const { key } = await gateway.cliJson('keys', 'add', 'narrow', '--models', 'given');
    const headers = bearer(String(key));
    assert.equal(await asked('given', headers), 'one/a');
    const refused = await gateway.ask('/v1/chat/completions', question('one/a'), headers);
    assert.equal(refused.status, 403);
    assert.deepEqual(await listedIds(String(key)), ['given']);
  });
});

describe('the list of models', () => {
  it('has every combo and alias, with what is known of them, and all of it can be asked for', async () => {
    const { gateway, one, two } = at();
    await combo('tiny', ['demo/echo']);
    const reply = await gateway.send({ method: 'GET', path: '/v1/models', headers: bearer(gateway.key) });
    const { data } = reply.json() as { data: Record<string, unknown>[] };
    const ids = data.map(({ id }) => String(id));
    for (const id of ['auto', 'smart', 'outer', 'gpt-4', 'demo/echo', 'one/m-1'])
      assert.ok(ids.includes(id), id);
    assert.equal(ids.includes('claude-*'), false);
    assert.equal(new Set(ids).size, ids.length);
    const tiny = data.find(({ id }) => id === 'tiny');
    assert.deepEqual(tiny?.['pricing'], { prompt: '0', completion: '0' });
    assert.equal(tiny?.['owned_by'], 'modelgate');
    for (const upstream of [one, two]) upstream.always(json(200, chat.answer()));
    for (const id of ids) {
      const answer = await gateway.ask('/v1/chat/completions', question(id));
      assert.equal(answer.status, 200, `${id}: ${answer.text}`);
      const path = `/v1/models/${encodeURIComponent(id)}`;
      const alone = await gateway.send({ method: 'GET', path, headers: bearer(gateway.key) });
      assert.equal(alone.json()['id'], id);
    }
  });

  it('offers combos to Claude Code under a name that it shows', async () => {
    const { gateway } = at();
    const headers = { ...bearer(gateway.key), 'anthropic-version': '2023-06-01' };
    const reply = await gateway.send({ method: 'GET', path: '/v1/models?limit=1000', headers });
    assert.match(reply.text, /"claude\/smart"/);
    assert.equal(await asked('claude/smart'), 'two/x');
  });

  it('follows changes that are made through the management API at once', async () => {
    const { gateway } = at();
    const file = readFileSync(join(gateway.dataDir, 'run.json'), 'utf8');
    const { key } = JSON.parse(file) as { key: string };
    const call = (method: string, path: string, body: unknown) =>
      gateway.send({
        method,
        path,
        headers: {
          'content-type': 'application/json',
          host: `127.0.0.1:${gateway.port}`,
          'x-auth-token': key,
        },
        body: JSON.stringify(body),
      });
    const made = await call('POST', '/api/combos', { name: 'byapi', targets: ['two/q'] });
    assert.equal(made.status, 200, made.text);
    assert.equal(await asked('byapi'), 'two/q');
    const active = await call('POST', '/api/combos/byapi', { action: 'activate' });
    assert.equal(active.status, 200, active.text);
    assert.equal(await asked('auto'), 'two/q');
    const bad = await call('POST', '/api/combos', { name: 'bad', targets: ['nobody/q'] });
    assert.equal(bad.status, 400);
    assert.match(bad.text, /targets\[0\]/);
    await waitFor('the list', async () => (await listedIds()).includes('byapi'));
  });
});
