import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { json } from '../../../test/support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../../test/support/upstream/upstream.ts';
import type { OAuthClient } from '../accounts/schema.ts';
import { finishDeviceLogin } from './device.ts';
import { checkedUrl, endpointsOf } from './endpoint.ts';
import { browserLogin, deviceLogin } from './logins.ts';

async function started(test: TestContext): Promise<Upstream> {
  const server = await startUpstream();
  test.after(() => server.close());
  return server;
}

const nobody: OAuthClient = {
  issuer: null,
  authorizationUrl: null,
  tokenUrl: null,
  deviceUrl: null,
  clientId: 'me',
  clientSecret: null,
  scopes: ['a', 'b'],
  audience: null,
  redirectUri: null,
};
const target = (client: OAuthClient) => ({ id: 'con_1', name: 'ai', provider: 'vertex', client });

describe('the endpoints of a login', () => {
  it('are found by OpenID Connect, else by RFC 8414, where the path comes last', async (test) => {
    const server = await started(test);
    const issuer = `${server.url}/tenant`;
    const document = { issuer, token_endpoint: `${server.url}/t`, authorization_endpoint: `${server.url}/a` };
    server.script([json(404, {})], [json(200, document)]);
    const endpoints = await endpointsOf({ ...nobody, issuer }, 5000);
    assert.deepEqual(
      [endpoints.token, endpoints.authorization, endpoints.device, endpoints.clientAuth],
      [`${server.url}/t`, `${server.url}/a`, null, 'none'],
    );
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ['/tenant/.well-known/openid-configuration', '/.well-known/oauth-authorization-server/tenant'],
    );
  });

  it('are not taken from a document that names another issuer, nor from one over plain http elsewhere', async (test) => {
    const server = await started(test);
    const token_endpoint = `${server.url}/t`;
    server.always(json(200, { issuer: 'https://other.example', token_endpoint }));
    await assert.rejects(endpointsOf({ ...nobody, issuer: server.url }, 5000), /names another issuer/);
    server.always(json(200, { issuer: server.url, token_endpoint: 'http://other.example/t' }));
    await assert.rejects(endpointsOf({ ...nobody, issuer: server.url }, 5000), /must be an https address/);
    for (const url of [
      'http://a.example',
      'https://169.254.169.254',
      'https://u:p@a.example',
      'ftp://a',
      'x',
    ])
      assert.throws(() => checkedUrl(url, 'issuer'), { param: 'oauth.issuer' }, url);
  });

  it('say how a client names itself', async (test) => {
    const server = await started(test);
    const base = { issuer: server.url, token_endpoint: `${server.url}/t` };
    const client = { ...nobody, issuer: server.url, clientSecret: 's' };
    for (const [listed, expected] of [
      [undefined, 'basic'],
      [['client_secret_post'], 'post'],
      [['client_secret_post', 'client_secret_basic'], 'basic'],
      [['private_key_jwt'], 'basic'],
    ] as const) {
      server.always(json(200, { ...base, token_endpoint_auth_methods_supported: listed }));
      assert.equal((await endpointsOf(client, 5000)).clientAuth, expected);
    }
  });

  it('that are configured are not discovered', async (test) => {
    const server = await started(test);
    const urls = { ...nobody, tokenUrl: `${server.url}/t`, authorizationUrl: `${server.url}/a?tenant=1` };
    const login = await browserLogin(target(urls), 'http://127.0.0.1:1/callback');
    const url = new URL(login.url);
    assert.deepEqual(
      ['tenant', 'scope', 'access_type', 'response_type', 'state'].map((name) => url.searchParams.get(name)),
      ['1', 'a b', 'offline', 'code', login.state],
      'the provider’s own parameters go along, and what was in the address stays',
    );
    assert.equal(server.requests.length, 0);
  });
});

describe('a login with a code', () => {
  async function begun(test: TestContext, more: object = {}) {
    const server = await started(test);
    const client = { ...nobody, tokenUrl: `${server.url}/t`, deviceUrl: `${server.url}/d` };
    const code = { device_code: 'dev', user_code: 'ABCD', verification_uri: 'https://a.example/activate' };
    server.always(json(200, { ...code, expires_in: 60, ...more }));
    let time = 0;
    const waits: number[] = [];
    const clock = {
      now: () => time,
      wait: async (ms: number) => {
        waits.push(ms);
        time += ms;
      },
    };
    const login = await deviceLogin(target(client), clock.now);
    return { server, client, clock, login, waits };
  }

  it('polls no faster than the server allows, and slows down when asked to', async (test) => {
    const { client, clock, login, server, waits } = await begun(test, { interval: 2 });
    server.script(
      [json(400, { error: 'authorization_pending' })],
      [json(400, { error: 'slow_down' })],
      [json(400, { error: 'authorization_pending' })],
      [json(503, 'busy')],
      [json(200, { access_token: 'given', expires_in: 10 })],
    );
    const grant = await finishDeviceLogin(login, client, clock);
    assert.equal(grant.accessToken, 'given');
    assert.deepEqual(waits, [2000, 2000, 7000, 7000, 14_000]);
    const form = Object.fromEntries(new URLSearchParams(server.requests[0]?.body.toString()));
    assert.deepEqual(form, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'dev',
      client_id: 'me',
    });
  });

  it('waits five seconds where the server does not say, and ends with the code', async (test) => {
    const { client, clock, login, server, waits } = await begun(test, { expires_in: 12 });
    server.always(json(400, { error: 'authorization_pending' }));
    await assert.rejects(finishDeviceLogin(login, client, clock), { code: 'login_failed' });
    assert.deepEqual(waits, [5000, 5000, 5000]);
    assert.equal(server.requests.length, 2);
  });

  it('ends with the error of the server', async (test) => {
    const { client, clock, login, server } = await begun(test);
    for (const [error, says] of [
      ['expired_token', /code has expired/],
      ['access_denied', /refused at the provider/],
      ['invalid_client', /invalid_client/],
    ] as const) {
      server.always(json(400, { error }));
      await assert.rejects(finishDeviceLogin(login, client, clock), says);
    }
  });

  it('is refused where the server gives no codes', async (test) => {
    const server = await started(test);
    const client = { ...nobody, tokenUrl: `${server.url}/t`, authorizationUrl: `${server.url}/a` };
    await assert.rejects(deviceLogin(target(client), Date.now), { param: 'oauth.device_url' });
    const other = { ...client, deviceUrl: `${server.url}/d` };
    server.always(json(400, { error: 'unauthorized_client' }));
    await assert.rejects(deviceLogin(target(other), Date.now), /unauthorized_client/);
  });
});
