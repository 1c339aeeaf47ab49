import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { formats } from '../../support/formats/formats.ts';
import { bearer, rowsOf } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const [chat] = formats;

/** Who used what: owners, teams and labels of keys, tags of requests, and what is summed up by them. */
describe('tags of requests', () => {
  const at = setting({
    // Another one may let a request in before the owner knows what the last answer has used.
    oneWorker: true,
    config: {
      tag_rules: [{ when: { client: 'review-bot/*' }, tags: ['app=review', 'team=bots'] }],
      header_tags: { names: ['batch', 'env', 'ticket'], trusted_keys: ['portal'] },
      prices: { '*/m-1': { input: 1_000, output: 0 } },
    },
  });
  let core: string;
  let plain: string;
  let portal: string;
  before(async () => {
    core = await key({ name: 'builds', owner: 'Ann Smith', team: 'core', labels: { env: 'ci' } });
    plain = await key({ name: 'plain' });
    portal = await key({ name: 'portal' });
    const usage = { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 };
    at.upstream.always(json(200, { ...chat.answer(), usage }));
    const replies = [
      await ask(core),
      await ask(core, { 'x-gateway-tags': 'ticket=42, batch, team=other, env=prod' }),
      await ask(portal, { 'x-gateway-tags': 'team=data' }),
      await ask(plain, { 'user-agent': 'review-bot/1.0', 'x-gateway-tags': 'team=data' }),
      await ask(at.gateway.key),
    ];
    for (const { status, text } of replies) assert.equal(status, 200, text);
    rows = await rowsOf(at.gateway, replies);
  });
  let rows: Awaited<ReturnType<typeof rowsOf>> = [];
  const key = async (input: object) => {
    const reply = await at.gateway.manage('POST', '/api/keys', input);
    assert.equal(reply.status, 200, reply.text);
    return (reply.json() as { results: { key: string }[] }).results[0]?.key ?? '';
  };
  const ask = (key: string, headers: Record<string, string> = {}) =>
    at.gateway.ask(chat.path, chat.request({ max_tokens: 5 }), { ...bearer(key), ...headers });
  const logs = async (...flags: string[]) => {
    const { code, stderr, stdout } = await at.gateway.cli('logs', ...flags, '--json');
    assert.equal(code, 0, stderr);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { id: string; key_name: string });
  };
  const usage = async (...flags: string[]) =>
    (await at.gateway.cliJson('usage', ...flags))['usage'] as Record<string, unknown>[];

  it('come from the key, from rules and from the header, in that order, and are not sent upstream', () => {
    assert.deepEqual(
      rows.map(({ tags }) => tags),
      [
        ['env=ci', 'owner=Ann Smith', 'team=core'],
        ['env=ci', 'owner=Ann Smith', 'team=core', 'ticket=42', 'batch'],
        ['team=data'],
        ['app=review', 'team=bots'],
        [],
      ],
    );
    for (const { header } of at.upstream.requests) assert.equal(header('x-gateway-tags'), undefined);
  });

  it('are refused in every dialect where the header cannot be read', async () => {
    for (const format of formats) {
      const headers = { ...bearer(plain), 'x-gateway-tags': 'no blanks in names' };
      const reply = await at.gateway.ask(format.path, format.request(), headers);
      assert.equal(reply.status, 400, reply.text);
      const { error } = reply.json() as { error: { message: string } | string };
      assert.match(
        typeof error === 'string' ? error : error.message,
        /x-gateway-tags cannot be read: .*blanks/,
      );
    }
  });

  it('are refused if a header may not set them: nobody spends the budget of another team', async () => {
    for (const header of ['team=core', 'owner=Ann Smith', 'ticket=1,app=mine']) {
      const reply = await ask(plain, { 'x-gateway-tags': header });
      assert.equal(reply.status, 400, reply.text);
      assert.match(reply.text, /names the tag \\"(team|owner|app)\\", which this key may not set/);
    }
  });

  it('can be used to find and sum up requests', async () => {
    const [first, second] = rows.map(({ id }) => id);
    assert.deepEqual(
      (await logs('--tag', 'team=core', '--tag', 'batch')).map(({ id }) => id),
      [second],
    );
    const found = await logs('--search', 'builds');
    assert.deepEqual(
      found.map((row) => [row.id, row.key_name]),
      [
        [first, 'builds'],
        [second, 'builds'],
      ],
    );
    const { stdout } = await at.gateway.cli('logs', '--tag', 'batch');
    assert.match(
      stdout,
      / {2}200 {2}builds {2}up\/m-1 {2}1000 in, 0 out {2}\$1\.00 .* \[env=ci, owner=Ann Smith, team=core/,
    );
    const table = await at.gateway.cli('usage', '--by', 'tag', '--tag', 'team=core');
    assert.match(table.stdout, /^all +2 +0 +2000 +0 +\$2\.00/m, 'a request with many tags is one request');
  });

  it('are in the management API, with the same result as the command', async () => {
    const get = async (path: string) => {
      const reply = await at.gateway.manage('GET', encodeURI(path));
      assert.equal(reply.status, 200, reply.text);
      return reply.json() as { resources: Record<string, unknown>[] };
    };
    const by = 'team,label:ticket';
    const { resources } = await get(`/api/usage?expand=resources&filter[]=by='${by}'`);
    const told = (rows: Record<string, unknown>[]) => rows.map(({ href, to, actions, ...row }) => row);
    const fromCli = (await usage('--by', by)).map((row) => ({ ...row, from: null }));
    assert.deepEqual(
      told(resources).map((row) => ({ ...row, from: null })),
      told(fromCli),
    );
    const list = async (filter: string) =>
      (await get(`/api/requests?expand=resources&filter[]=${filter}`)).resources.map(({ id }) => id);
    assert.deepEqual(await list("tags='batch'"), [rows[1]?.id]);
    assert.deepEqual(await list("tags='ticket=*'"), [rows[1]?.id]);
    assert.deepEqual((await list("tags='team=core'")).length, 2);
    assert.deepEqual((await list("key_name='builds'")).length, 2);
    const keys = async (filter: string) =>
      (await get(`/api/keys?expand=resources&filter[]=${filter}`)).resources.map(({ name }) => name);
    assert.deepEqual(await keys("team='core'"), ['builds']);
    assert.deepEqual(await keys("labels.env='ci'"), ['builds']);
  });

  it('have budgets, which report their usage before and after a restart', async () => {
    const member = await key({ name: 'member', team: 'ops', labels: { env: 'prod' } });
    const other = await key({ name: 'other', labels: { env: 'prod' } });
    for (const input of [
      { scope: 'team', subject: 'ops', metric: 'requests', limit: 2, period: 'day', soft_percent: 50 },
      { scope: 'tag', subject: 'env=prod', metric: 'usd', limit: 2.01, period: 'day' },
    ]) {
      const made = await at.gateway.manage('POST', '/api/budgets', input);
      assert.equal(made.status, 200, made.text);
    }
    assert.equal((await ask(member)).status, 200);
    assert.equal((await ask(other)).status, 200);
    const unpaid = await ask(other);
    assert.equal(unpaid.status, 402);
    assert.match(
      unpaid.text,
      /does not fit in the budget of 2\.01 USD per day of the tag .*0\.01 USD remain/,
    );
    const budgets = async () => {
      const { text } = await at.gateway.manage('GET', '/api/budgets?expand=resources');
      return (JSON.parse(text) as { resources: Record<string, unknown>[] }).resources;
    };
    const shown = async () =>
      (await budgets()).map((row) => [row['scope'], row['subject_name'], row['state'], row['used_percent']]);
    assert.deepEqual(await shown(), [
      ['team', 'ops', 'soft', 50],
      ['tag', 'env=prod', 'soft', 99.5],
    ]);
    const since = (await budgets()).map((row) => row['soft_reached_at']);
    assert.ok(since.every((time) => Date.parse(String(time)) > 0));
    await at.gateway.stopServing();
    const { code, stdout } = await at.gateway.cli('status');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /Budgets +2 \(2 near or at the limit\)\n +team ops, requests per day: 50 % used since /,
    );
    const logged = await at.gateway.cli('logs');
    assert.match(
      logged.stdout,
      / {2}budget {2}50 % of the limit of 2 requests per day of the team "ops" is used/,
    );
    assert.match(logged.stdout, / {2}budget {2}A request did not fit in the budget of 2\.01 USD/);
    await at.gateway.restart();
    assert.deepEqual(
      (await budgets()).map((row) => row['soft_reached_at']),
      since,
    );
    assert.equal((await ask(at.gateway.key, { 'x-gateway-tags': 'env=prod' })).status, 402);
  });

  it('follow changes of the key, whose name outlives it', async () => {
    const edit = (...flags: string[]) => at.gateway.cliJson('keys', 'edit', 'builds', ...flags);
    const edited = await edit(
      '--label',
      'tier=1',
      '--remove-label',
      'env',
      '--clear',
      'owner',
      '--team',
      'infra',
    );
    assert.deepEqual([edited['labels'], edited['owner'], edited['team']], [{ tier: '1' }, null, 'infra']);
    const listed = await at.gateway.cliJson('keys', 'list', '--team', 'infra', '--label', 'tier=1');
    assert.equal((listed['keys'] as unknown[]).length, 1);
    const byKey = encodeURI("filter[]=by='key'");
    const [row] = await rowsOf(at.gateway, [await ask(core)]);
    assert.deepEqual(row?.tags, ['tier=1', 'team=infra']);
    await at.gateway.cliJson('keys', 'remove', 'builds', '--yes');
    const named = (await at.gateway.manage('GET', `/api/usage?expand=resources&${byKey}`)).text;
    for (const name of ['builds', 'plain', 'test']) assert.ok(named.includes(`"key_name":"${name}"`), name);
    assert.equal((await at.gateway.entry(row?.id)).key_name, 'builds');
  });
});
