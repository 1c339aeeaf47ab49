import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { json, type Step } from '../../../test/support/upstream/steps.ts';
import { startUpstream } from '../../../test/support/upstream/upstream.ts';
import { openStore } from '../../store/database.ts';
import { takeLease } from '../../store/lease.ts';
import { accountText } from '../accounts/account.ts';
import type { Grant } from '../accounts/schema.ts';
import { connectionStore } from '../store.ts';
import { createAccessTokens } from './access-tokens.ts';
import { grantStore } from './grants.ts';

const key = Buffer.alloc(32, 1);
const start = 1_000_000_000;

/** A token endpoint that gives a new pair each time, and the clock of the test. */
async function world(test: TestContext, grant: Partial<Grant> = {}) {
  const server = await startUpstream();
  test.after(() => server.close());
  let issued = 0;
  const pair = (): Step => {
    issued += 1;
    return json(200, {
      access_token: `access-${issued}`,
      refresh_token: `refresh-${issued}`,
      expires_in: 3600,
    });
  };
  server.respond(() => [pair()]);
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  let time = start;
  const now = () => time;
  const connections = connectionStore(store, key, now);
  const client = {
    issuer: null,
    authorizationUrl: null,
    tokenUrl: `${server.url}/token`,
    deviceUrl: null,
    clientId: 'me',
    clientSecret: 's3cret',
    scopes: [],
    audience: null,
    redirectUri: null,
  };
  const whole: Grant = {
    accessToken: 'access-0',
    refreshToken: 'refresh-0',
    issuedAt: start,
    expiresAt: start + 3_600_000,
    scope: null,
    tokenUrl: `${server.url}/token`,
    clientAuth: 'basic',
    ...grant,
  };
  const text = accountText({ kind: 'oauth', client, grant: whole });
  const { id } = await connections.add({
    provider: 'openai-compatible',
    name: 'ai',
    baseUrl: 'http://h/v1',
    defaultModel: null,
    apiKey: text,
    authType: 'oauth',
  });
  const errors: unknown[] = [];
  const create = () =>
    createAccessTokens({
      now,
      steady: now,
      grants: grantStore(store, key),
      onError: (_, error) => errors.push(error),
      lease: (name, forMs) => takeLease(store, name, forMs, now),
    });
  return {
    server,
    store,
    connections,
    id,
    create,
    errors,
    pair,
    advance(ms: number) {
      time += ms;
    },
    async open() {
      const connection = await connections.findOpen(id);
      assert.ok(connection);
      return connection;
    },
    stored: async () => (await grantStore(store, key).find(id))?.account.grant ?? null,
  };
}

describe('access tokens', () => {
  it('are used while valid, and renewed in the background before they expire', async (test) => {
    const { advance, create, open, server, stored } = await world(test);
    const tokens = create();
    const connection = await open();
    assert.equal(tokens.current(connection), 'access-0');
    advance(3_200_000);
    assert.equal(tokens.current(connection), 'access-0');
    assert.equal(server.requests.length, 0);
    advance(200_000);
    assert.equal(tokens.current(connection), 'access-0', 'the request does not wait');
    assert.equal(await tokens.fresh(connection), 'access-1', 'and joins the renewal that is under way');
    assert.equal(server.requests.length, 1);
    assert.equal(tokens.current(connection), 'access-1', 'although the snapshot has the old one');
    assert.equal((await stored())?.refreshToken, 'refresh-1');
    advance(3_595_000);
    assert.equal(tokens.current(connection), null, 'it might end on the way');
  });

  it('are renewed by the clock', async (test) => {
    const { advance, create, open, server } = await world(test);
    const tokens = create();
    await tokens.renewDue([await open()]);
    assert.equal(server.requests.length, 0);
    advance(3_400_000);
    await tokens.renewDue([await open()]);
    assert.equal(server.requests.length, 1);
    await tokens.renewDue([await open()]);
    assert.equal(server.requests.length, 1);
  });

  it('authenticate at the token endpoint by Basic, and keep the refresh token when no new one comes', async (test) => {
    const { create, open, server, stored } = await world(test);
    server.script([json(200, { access_token: 'next', token_type: 'Bearer' })]);
    assert.equal(await create().fresh(await open(), 'access-0'), 'next');
    const [request] = server.requests;
    const body = new URLSearchParams(request?.body.toString());
    assert.deepEqual(Object.fromEntries(body), { grant_type: 'refresh_token', refresh_token: 'refresh-0' });
    assert.equal(request?.header('authorization'), `Basic ${btoa('me:s3cret')}`);
    const grant = await stored();
    assert.deepEqual([grant?.refreshToken, grant?.expiresAt], ['refresh-0', null]);
  });

  it('are fetched once by two processes', async (test) => {
    const { create, open, server } = await world(test);
    const [one, two] = [create(), create()];
    const connection = await open();
    const got = await Promise.all([one, two, one].map((tokens) => tokens.fresh(connection, 'access-0')));
    assert.deepEqual(got, ['access-1', 'access-1', 'access-1']);
    assert.equal(server.requests.length, 1);
  });

  it('wait for a process that died while it renewed them, and no longer than its lease', async (test) => {
    const { advance, create, open, server, store } = await world(test);
    const connection = await open();
    assert.notEqual(await takeLease(store, connection.id, 20_000, () => start), null);
    const waiting = create().fresh(connection, 'access-0');
    await new Promise((done) => setTimeout(done, 200));
    assert.equal(server.requests.length, 0);
    advance(20_001);
    assert.equal(await waiting, 'access-1');
  });

  it('that cannot be fetched are not requested again by every request', async (test) => {
    const { advance, create, open, server, stored } = await world(test);
    const tokens = create();
    const connection = await open();
    server.always(json(503, 'busy'));
    const failed = { code: 'credential_refresh_failed', status: 502 };
    await assert.rejects(tokens.fresh(connection, 'access-0'), failed);
    assert.equal(server.requests.length, 3, 'twice more after a moment');
    await assert.rejects(tokens.fresh(connection), failed);
    assert.equal(server.requests.length, 3);
    assert.equal((await stored())?.refreshToken, 'refresh-0', 'the login is kept');
    server.script([json(200, { access_token: 'next' })]);
    advance(5001);
    assert.equal(await tokens.fresh(connection, 'access-0'), 'next');
  });

  it('end with the login, and leak no secrets', async (test) => {
    const { create, open, server, stored } = await world(test);
    server.always(
      json(400, { error: 'invalid_grant', error_description: 'refresh-0 of s3cret was revoked' }),
    );
    await assert.rejects(create().fresh(await open(), 'access-0'), (error: Error & { code: string }) => {
      assert.equal(error.code, 'login_required');
      assert.match(error.message, /invalid_grant.*gateway provider login ai/);
      assert.doesNotMatch(error.message, /refresh-0|s3cret|access-0/);
      return true;
    });
    assert.equal(await stored(), null);
    const after = await open();
    assert.equal(after.status, 'needs-re-entry');
    await assert.rejects(create().fresh(after), { code: 'login_required' });
    assert.equal(create().current(after), null);
    assert.equal(server.requests.length, 1);
  });

  it('keep the login when only the client credentials are wrong', async (test) => {
    const { create, open, server, stored } = await world(test);
    server.always(json(401, { error: 'invalid_client' }));
    await assert.rejects(create().fresh(await open(), 'access-0'), /client id and secret/);
    assert.equal((await stored())?.refreshToken, 'refresh-0');
    assert.equal((await open()).status, 'failed');
  });

  it('never undo what somebody else has stored meanwhile', async (test) => {
    const { connections, create, id, open, pair, server } = await world(test);
    const tokens = create();
    const connection = await open();
    server.respond(() => [
      async (turn) => {
        await connections.update(id, { apiKey: 'sk-now-a-key' });
        await pair()(turn);
      },
    ]);
    await assert.rejects(tokens.fresh(connection, 'access-0'), { code: 'login_required' });
    const now = await open();
    assert.deepEqual([now.authType, now.credential], ['api-key', 'sk-now-a-key']);
  });
});
