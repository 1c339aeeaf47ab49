import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { program } from '../../support/gateway/program.ts';
import { type OidcOptions, type OidcServer, oidcClient, startOidc } from '../../support/servers/oidc.ts';
import { type ResourceServer, startResourceServer } from '../../support/servers/resource-server.ts';

const spareKey = 'the-key-of-another-account';
const question = { model: 'ai/m-1', messages: [{ role: 'user', content: 'hi' }] };

interface World {
  oidc: OidcServer;
  upstream: ResourceServer;
  gateway: RunningGateway;
  ask(): ReturnType<RunningGateway['ask']>;
}

async function world(test: TestContext, options: OidcOptions = {}): Promise<World> {
  const oidc = await startOidc(options);
  test.after(() => oidc.close());
  const upstream = await startResourceServer(async (token) => token === spareKey || oidc.accepts(token));
  test.after(() => upstream.close());
  const gateway = await startGateway({ env: { TEST_SECRET: oidcClient.secret } });
  test.after(() => gateway.kill());
  await gateway.cliJson(
    ...[
      'provider',
      'add',
      'openai-compatible',
      '--name',
      'ai',
      '--base-url',
      upstream.url,
      '--default-model',
      'm-1',
    ],
    ...['--auth', 'oauth', '--issuer', oidc.issuer, '--client-id', oidcClient.id],
    ...['--client-secret-env', 'TEST_SECRET', '--scopes', 'openid offline_access'],
  );
  return { oidc, upstream, gateway, ask: () => gateway.ask('/v1/chat/completions', question) };
}

interface Login {
  child: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
}

/** `gateway provider login`, waiting for the person. */
function beginLogin(gateway: RunningGateway, ...args: string[]): Login {
  const env = { PATH: process.env['PATH'] ?? '', HOME: gateway.home, DATA_DIR: gateway.dataDir };
  const child = spawn(process.execPath, [program, 'provider', 'login', 'ai', ...args], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, output: () => output, ended };
}

async function printed(login: Login, pattern: RegExp): Promise<string> {
  await waitFor(String(pattern), () => pattern.test(login.output()));
  return pattern.exec(login.output())?.[1] ?? '';
}

async function logIn({ gateway, oidc }: World): Promise<void> {
  const login = beginLogin(gateway);
  const url = await printed(login, /^(http:\S+\/auth\?\S+)$/m);
  const page = await oidc.visit(url);
  assert.equal(page.status, 200, page.text);
  assert.equal(await login.ended, 0, login.output());
}

async function connection(gateway: RunningGateway): Promise<Record<string, unknown>> {
  const { providers } = (await gateway.cliJson('providers', 'list')) as {
    providers: Record<string, unknown>[];
  };
  const [only] = providers;
  assert.ok(only);
  return only;
}

/** Everything below the data directory, as one text. */
function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

describe('a connection that people log in for', () => {
  it('needs a login, takes one by browser, and shows no secret of it', async (test) => {
    const all = await world(test);
    const { ask, gateway, upstream } = all;
    const before = await ask();
    assert.equal(before.status, 503);
    assert.match(before.text, /login_required/);
    assert.match(before.text, /gateway provider login ai/);
    assert.equal((await connection(gateway))['needs_reentry'], true);
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    const shown = await connection(gateway);
    assert.equal(shown['auth_type'], 'oauth');
    assert.equal(shown['needs_reentry'], false);
    const [token = ''] = upstream.presented;
    assert.notEqual(token, '');
    const { stderr, stdout } = gateway.output();
    const seen = [stderr, stdout, JSON.stringify(shown), filesOf(gateway.dataDir)].join('\n');
    for (const secret of [token, oidcClient.secret]) assert.equal(seen.includes(secret), false);
  });

  it('takes a login with a code on another device', async (test) => {
    const { ask, gateway, oidc } = await world(test);
    const login = beginLogin(gateway, '--device');
    const url = await printed(login, /^Open (\S+) on any device/m);
    await oidc.enterCode(url, await printed(login, /type the code (\S+)/));
    assert.equal(await login.ended, 0, login.output());
    await waitFor('the login', async () => (await ask()).status === 200);
  });

  it('says that a login was refused', async (test) => {
    const { gateway, oidc } = await world(test);
    const login = beginLogin(gateway, '--device');
    const url = await printed(login, /^Open (\S+) on any device/m);
    await oidc.enterCode(url, await printed(login, /type the code (\S+)/), true);
    assert.equal(await login.ended, 1);
    assert.match(login.output(), /refused at the provider/);
    assert.equal((await connection(gateway))['needs_reentry'], true);
  });

  it('is renewed before its token expires, and by the request that finds it expired', async (test) => {
    const all = await world(test, { accessSeconds: 12 });
    const { ask, gateway, oidc } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    const first = oidc.refreshed;
    // Of twelve seconds the last ten do not count: they might end on the way.
    await waitFor('the token to end', async () => (await ask()).status === 200 && oidc.refreshed > first);
    await gateway.kill();
    const before = oidc.refreshed;
    await new Promise((done) => setTimeout(done, 3000));
    await gateway.restart();
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, async () => (await ask()).status),
      ...Array.from({ length: 3 }, async () =>
        (await gateway.cli('providers', 'test', 'ai')).code === 0 ? 200 : 0,
      ),
    ]);
    assert.deepEqual([...new Set(answers)], [200]);
    assert.ok(oidc.refreshed - before >= 1);
    assert.equal(oidc.reused, 0, 'no refresh token was sent twice');
  });

  it('is renewed once when the upstream refuses its token, and the requests are sent again', async (test) => {
    const all = await world(test);
    const { ask, gateway, oidc, upstream } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    assert.equal(oidc.refreshed, 0);
    upstream.refuse(upstream.presented[0] ?? '');
    // So slow that all of them want it at the same time.
    oidc.beforeToken = () => new Promise((done) => setTimeout(done, 4000));
    const [answers, tests] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, ask)),
      Promise.all(Array.from({ length: 2 }, () => gateway.cli('providers', 'test', 'ai'))),
    ]);
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.deepEqual(
      tests.map(({ code }) => code),
      [0, 0],
    );
    assert.equal(oidc.refreshed, 1, 'the gateway and two commands share one renewal');
    assert.equal(oidc.reused, 0);
    assert.equal((await gateway.entry(answers[0]?.header('x-request-id'))).attempts, 1);
  });

  it('passes on a refusal that a new token does not cure, without fetching more tokens', async (test) => {
    const all = await world(test);
    const { ask, oidc, upstream } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    upstream.refuse('*');
    for (const _ of [1, 2, 3]) {
      const answer = await ask();
      assert.equal(answer.status, 401);
      assert.match(answer.text, /not good/);
    }
    assert.equal(oidc.refreshed, 1);
  });

  it('waits for a token endpoint that fails for a moment', async (test) => {
    const all = await world(test);
    const { ask, oidc, upstream } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    oidc.failing = 2;
    upstream.refuse(upstream.presented.at(-1) ?? '');
    assert.equal((await ask()).status, 200);
    assert.equal(oidc.refreshed, 1);
  });

  it('keeps a renewed login over a crash, because it is stored before it is used', async (test) => {
    const all = await world(test);
    const { ask, gateway, oidc, upstream } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    const old = upstream.presented.at(-1) ?? '';
    upstream.refuse(old);
    let killed: Promise<void> | null = null;
    upstream.before = async (token) => {
      if (token === old || killed !== null) return;
      killed = gateway.kill();
      await killed;
    };
    await assert.rejects(ask());
    assert.notEqual(killed, null);
    await killed;
    await gateway.restart();
    assert.equal((await ask()).status, 200);
    assert.equal(oidc.refreshed, 1);
    assert.equal(oidc.reused, 0);
  });

  it('says that a new login is needed when the server has ended the login', async (test) => {
    const all = await world(test);
    const { ask, gateway, oidc, upstream } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    upstream.refuse(upstream.presented.at(-1) ?? '');
    await oidc.endLogins();
    const answer = await ask();
    assert.equal(answer.status, 503);
    assert.match(answer.text, /invalid_grant.*gateway provider login ai/);
    const shown = await connection(gateway);
    assert.deepEqual([shown['status'], shown['needs_reentry']], ['needs-re-entry', true]);
    assert.match(String(shown['last_error']), /ended by 127\.0\.0\.1:\d+ \(invalid_grant\)/);
    const asked = oidc.tokenRequests.length;
    assert.equal((await ask()).status, 503);
    assert.equal(oidc.tokenRequests.length, asked, 'nobody asks with what is worth nothing');
    await logIn(all);
    await waitFor('the new login', async () => (await ask()).status === 200);
  });

  it('lets another account answer while nobody has logged in, or no token is to be had', async (test) => {
    const all = await world(test);
    const { ask, gateway, oidc, upstream } = all;
    await gateway.cliJson(
      ...['provider', 'add', 'openai-compatible', '--name', 'spare', '--base-url', upstream.url],
      ...['--api-key', spareKey, '--default-model', 'm-1'],
    );
    const either = () => gateway.ask('/v1/chat/completions', { ...question, model: 'openai-compatible/m-1' });
    await waitFor('the other account', async () => (await either()).status === 200);
    assert.deepEqual([...new Set(upstream.presented)], [spareKey]);
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    const token = upstream.presented.at(-1) ?? '';
    upstream.refuse(token);
    oidc.failing = 100;
    const reply = await either();
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-connection'), 'spare');
  });
});

describe('a login that is ended', () => {
  it('by a command is ended at its server too, and the connection waits for another login', async (test) => {
    const all = await world(test);
    const { ask, gateway, oidc, upstream } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    const token = upstream.presented.at(-1) ?? '';
    assert.equal(await oidc.accepts(token), true);
    const row = (await gateway.cliJson('provider', 'logout', 'ai')) as Record<string, unknown>;
    assert.deepEqual([row['revoked'], row['has_credential'], row['needs_reentry']], [true, false, true]);
    assert.equal(await oidc.accepts(token), false);
    assert.equal(oidc.revoked.length, 2);
    await waitFor('the gateway', async () => (await ask()).status === 503);
    const answer = await ask();
    assert.match(answer.text, /gateway provider login ai/);
    assert.match(answer.text, /login_required/);
    const again = await gateway.cli('provider', 'logout', 'ai', '--json');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /There is no login for/);
    await logIn(all);
    await waitFor('the new login', async () => (await ask()).status === 200);
  });

  it('ends locally even if its server does not support that, and says so', async (test) => {
    const all = await world(test, { revocation: false });
    const { ask, gateway, oidc } = all;
    await logIn(all);
    await waitFor('the login', async () => (await ask()).status === 200);
    const silent = await gateway.cli('provider', 'logout', 'ai');
    assert.equal(silent.code, 0);
    assert.match(silent.stderr, /not at its server: .*revocation_endpoint.*by hand/);
    await logIn(all);
    await oidc.close();
    const { code, stderr, stdout } = await gateway.cli('provider', 'logout', 'ai', '--json');
    assert.deepEqual([code, JSON.parse(stdout).revoked], [0, false]);
    assert.match(stderr, /cannot be asked: ECONNREFUSED/);
    await waitFor('the gateway', async () => (await ask()).status === 503);
  });
});
