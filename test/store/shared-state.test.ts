import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { childEnv } from '../support/gateway/child-env.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { program } from '../support/gateway/program.ts';
import { oidcClient, startOidc } from '../support/servers/oidc.ts';
import { hasRedis, privateRedis } from '../support/servers/redis.ts';
import { startResourceServer } from '../support/servers/resource-server.ts';
import { postgresServer } from '../support/store/engines.ts';
import { chatAnswer } from '../support/upstream/answers.ts';
import { json } from '../support/upstream/steps.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';

/** What a client begins at one gateway and goes on with at another, as behind a load balancer. */
describe('shared state of two gateways on one PostgreSQL database', { skip: !hasPostgres }, () => {
  let env: Record<string, string> = {};
  let one: RunningGateway;
  let other: RunningGateway;
  // Before the server ends.
  after(() => Promise.all([one?.stop(), other?.stop()]));
  const postgres = postgresServer();
  const redis = privateRedis();
  before(async () => {
    env = {
      DATABASE_URL: await postgres.database(),
      STORAGE_ENCRYPTION_KEY: SECRET,
      TEST_SECRET: oidcClient.secret,
      ...(hasRedis ? { REDIS_URL: redis.url } : {}),
    };
    one = await startGateway({ env, keyName: 'first' });
    other = await startGateway({ env, keyName: 'second' });
  });
  /** With the key of the first, wherever it goes. */
  const ask = (gateway: RunningGateway, path: string, body: object) =>
    gateway.ask(path, body, bearer(one.key));

  it('a response that one made is continued at the other', async (t) => {
    const upstream = await startUpstream();
    t.after(() => upstream.close());
    await one.connect({ provider: 'openai-compatible', name: 'up', baseUrl: upstream.url });
    upstream.script(
      [json(200, chatAnswer({ text: ['Two.'] }))],
      [json(200, chatAnswer({ text: ['Four.'] }))],
    );
    const first = await ask(one, '/v1/responses', { model: 'up/m-1', input: 'One?' });
    assert.equal(first.status, 200, first.text);
    const { id } = first.json() as { id: string };
    const again = { model: 'up/m-1', input: 'Three?', previous_response_id: id };
    await waitFor('the response at the other gateway', async () => {
      const reply = await ask(other, '/v1/responses', again);
      assert.ok(reply.status === 200 || reply.status === 404 || reply.status === 400, reply.text);
      return reply.status === 200;
    });
    const sent = JSON.parse((await (await upstream.request(1)).whole).toString()) as { messages: unknown };
    assert.match(JSON.stringify(sent.messages), /One\?.*Two\..*Three\?/);
  });

  it('a request at one is seen by who watches at the other', { skip: !hasRedis }, async (t) => {
    const { key } = JSON.parse(await readFile(join(other.dataDir, 'run.json'), 'utf8')) as { key: string };
    const client = await other.client();
    t.after(() => client.destroy());
    const headers = { host: `127.0.0.1:${other.port}`, 'x-auth-token': key };
    await client.send({ method: 'GET', path: '/api/live?topics=requests', headers });
    const watched = await client.open();
    const question = { model: 'demo/echo', messages: [{ role: 'user', content: 'a secret of mine' }] };
    // An event comes some time after its answer, and none before the other gateway has heard that somebody watches.
    const asked: string[] = [];
    await waitFor('a request of the other gateway', async () => {
      const reply = await ask(one, '/v1/chat/completions', question);
      asked.push(reply.header('x-request-id') ?? 'none');
      return asked.some((id) => watched.soFar().includes(id));
    });
    const node = (await readFile(join(one.dataDir, 'node.id'), 'utf8')).trim();
    assert.ok(watched.soFar().includes(`"node":"${node}"`));
    assert.equal(watched.soFar().includes('a secret of mine'), false);
  });

  it('an account that one found limited is not asked by the other', { skip: !hasRedis }, async (t) => {
    const upstream = await startUpstream();
    t.after(() => upstream.close());
    await one.connect({ provider: 'openai-compatible', name: 'limited', baseUrl: upstream.url });
    const question = { model: 'limited/m-1', messages: [{ role: 'user', content: 'hi' }] };
    const refusal = json(429, { error: { message: 'slow down', type: 'x' } }, { 'retry-after': '600' });
    const conditionAt = async (gateway: RunningGateway) => {
      const reply = await gateway.manage('GET', '/api/connections/limited');
      if (reply.status === 404) return 'unknown';
      return (reply.json() as { condition: { state: string } }).condition.state;
    };
    upstream.always(json(200, chatAnswer({ text: ['yes'] })));
    // What one finds out about a connection is told once: the other has to know it before.
    await waitFor('the connection at the other', async () => {
      const { status } = await ask(other, '/v1/chat/completions', question);
      return status === 200 && (await conditionAt(other)) === 'ready';
    });
    upstream.always(refusal);
    assert.equal((await ask(one, '/v1/chat/completions', question)).status, 429);
    await waitFor('the other to hear of it', async () => (await conditionAt(other)) !== 'ready');
    const asked = upstream.requests.length;
    assert.equal((await ask(other, '/v1/chat/completions', question)).status, 429);
    assert.equal(upstream.requests.length, asked);
  });

  it('a change with an Idempotency-Key is made once, whichever gateway receives it', async () => {
    const makeKey = async (gateway: RunningGateway) => {
      const { key } = JSON.parse(await readFile(join(gateway.dataDir, 'run.json'), 'utf8')) as {
        key: string;
      };
      const host = `127.0.0.1:${gateway.port}`;
      const headers = { host, 'x-auth-token': key, 'content-type': 'application/json' };
      return gateway.send({
        method: 'POST',
        path: '/api/keys',
        headers: { ...headers, 'idempotency-key': '"made-once"' },
        body: JSON.stringify({ name: 'once' }),
      });
    };
    const [first, second] = [await makeKey(one), await makeKey(other)];
    assert.deepEqual([first.status, second.status], [200, 200], second.text);
    assert.equal(second.text, first.text);
    assert.equal(second.header('idempotency-replayed'), 'true');
  });

  it('a login is renewed once, and its refresh token is sent once', async (t) => {
    const oidc = await startOidc({});
    t.after(() => oidc.close());
    const upstream = await startResourceServer(async (token) => oidc.accepts(token));
    t.after(() => upstream.close());
    await one.cliJson(
      ...['provider', 'add', 'openai-compatible', '--name', 'ai', '--base-url', upstream.url],
      ...['--default-model', 'm-1', '--auth', 'oauth', '--issuer', oidc.issuer],
      ...['--client-id', oidcClient.id, '--client-secret-env', 'TEST_SECRET'],
      ...['--scopes', 'openid offline_access'],
    );
    const login = spawn(process.execPath, [program, 'provider', 'login', 'ai'], {
      env: childEnv({ HOME: one.home, DATA_DIR: one.dataDir, ...env }),
    });
    let printed = '';
    for (const stream of [login.stdout, login.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        printed += part;
      });
    const ended = once(login, 'close');
    await waitFor('the address to log in at', () => /^http:\S+\/auth\?\S+$/m.test(printed));
    await oidc.visit(/^(http:\S+\/auth\?\S+)$/m.exec(printed)?.[1] ?? '');
    assert.deepEqual(await ended, [0, null]);
    const question = { model: 'ai/m-1', messages: [{ role: 'user', content: 'hi' }] };
    const asked = async (gateway: RunningGateway) =>
      (await ask(gateway, '/v1/chat/completions', question)).status;
    for (const gateway of [one, other])
      await waitFor('the login', async () => (await asked(gateway)) === 200);
    const before = oidc.refreshed;
    upstream.refuse(upstream.presented[0] ?? '');
    // Until all have found the token refused, so that both gateways want another one at the same time.
    const refused = upstream.presented.length;
    oidc.beforeToken = () => waitFor('both', () => upstream.presented.length >= refused + 6);
    const answers = await Promise.all([one, other, one, other, one, other].map(asked));
    assert.deepEqual([...new Set(answers)], [200]);
    assert.deepEqual([oidc.refreshed - before, oidc.reused], [1, 0]);
  });
});
