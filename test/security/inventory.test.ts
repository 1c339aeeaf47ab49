import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { differences } from '../support/management/conformance.ts';
import { challenged, managed } from '../support/management/management.ts';
import { type ApiOperation, operationsOf } from '../support/management/openapi.ts';

/** What answers anybody, and why. */
const open = new Set([
  // The random key in the address lets a receiver of webhooks in.
  'GET /api/events/consent',
  'POST /api/events/consent',
  'GET /api/ping',
  'POST /api/setup',
  // A browser that comes back from a provider has no token; it must know the random state of a login.
  'GET /api/oauth/callback',
]);

describe('the inventory of the management API', () => {
  const at = managed();
  let operations: ApiOperation[] = [];
  const target = (path: string) => path.replace('{id}', 'there-is-no-such-member');

  before(async () => {
    operations = await operationsOf(at);
  });

  it('SC-01 lets nobody in without credentials, except where that is documented', async () => {
    for (const { method, open: documented, path, title } of operations) {
      const name = `${method} ${path}`;
      assert.equal(documented, open.has(name), `${title}: what the document says of it`);
      if (open.has(name)) continue;
      challenged(await at.call(method, target(path), method === 'GET' ? {} : { body: {} }));
      challenged(await at.call(method, `/api/v1.0.0${target(path).slice('/api'.length)}`));
      challenged(await at.call(method, target(path).replace('/api', '//api//')));
    }
    for (const path of [
      '/api',
      '/api/nothing',
      '/api/users/1/tokens',
      '/api/v1.0.0',
      '/api/hello/',
      '/api/ping/x',
      '/api/PING',
      '/api/%70ing/x',
      '/api/setup/x',
    ])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const reply = await at.call(method, path);
        // The setup page says to everybody that it takes POST alone.
        assert.ok([400, 401, 405].includes(reply.status), `${method} ${path}: ${reply.status} ${reply.text}`);
      }
  });

  it('SC-02 serves no verb that its document lacks', async () => {
    const documented = new Set(operations.map(({ method, path }) => `${method} ${path}`));
    for (const { path, permission } of operations) {
      for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE']) {
        if (documented.has(`${method} ${path}`) || path === '/api/setup') continue;
        const bodies = method === 'POST' ? [{ action: 'query', resources: [] }, {}] : [{}];
        for (const body of bodies) {
          const reply = await at.call(method, target(path), {
            token: at.admin.token,
            ...(method === 'GET' ? {} : { body }),
          });
          // Of a path that is no collection, 404 says that nothing is done there.
          const refusals = permission === null ? [400, 404, 405] : [400, 405];
          assert.ok(
            refusals.includes(reply.status),
            `${method} ${path} is served: ${reply.status} ${reply.text}`,
          );
          assert.doesNotMatch(reply.text, /"results"|is empty/);
        }
      }
    }
  });

  it('SC-02 serves every verb that its document has', async () => {
    for (const { action, method, path, streams, title } of operations) {
      if (streams || path === '/api/setup' || (path === '/api/auth' && method === 'DELETE')) continue;
      const body = action === null ? {} : { action };
      const reply = await at.call(
        method,
        `${target(path)}${path.includes('{id}') || method === 'POST' ? '?dry_run=true' : ''}`,
        {
          token: at.admin.token,
          ...(method === 'GET' || method === 'DELETE' ? {} : { body }),
        },
      );
      assert.ok(reply.status < 500 && reply.status !== 405, `${title}: ${reply.status} ${reply.text}`);
      assert.doesNotMatch(reply.text, /is not supported|no action|There is no collection/, title);
    }
  });

  it('SC-02 lists the same paths in its document and at its entry point', async () => {
    const entry = (await at.call('GET', '/api', { token: at.admin.token })).json();
    const listed = (entry['collections'] as { name: string }[]).map(({ name }) => `/api/${name}`);
    const documented = new Set(operations.filter(({ item }) => item !== null).map(({ path }) => path));
    assert.deepEqual(listed, [...documented].sort());
  });

  it('SC-68 is checked on whole objects: a missing field or a time in another form is noticed', async () => {
    const document = (await at.call('GET', '/api/openapi.json', { token: at.admin.token })).json();
    const page = '/api/services?expand=resources';
    const whole = await at.call('GET', page, { token: at.admin.token });
    const [member] = whole.json()['resources'] as Record<string, unknown>[];
    assert.ok(member);
    const differs = (path: string, said: unknown) => {
      const text = JSON.stringify(said);
      return differences(document, [{ method: 'GET', path, reply: { ...whole, text } }]).length;
    };
    const list = (resources: unknown[], path = page) => differs(path, { ...whole.json(), resources });
    assert.equal(list([member]), 0);
    const { state: _, ...part } = member;
    assert.equal(list([part]), 1);
    assert.equal(list([part], `${page}&attributes=name`), 0);
    assert.equal(differs('/api/services/store', member), 0);
    assert.equal(differs('/api/services/store', part), 1);
    assert.equal(list([{ ...member, created_at: '2026-11-21T10:00:00Z' }]), 1);
  });

  it('SC-02 shows people the same', async () => {
    const page = await at.call('GET', '/api/docs', { token: at.admin.token });
    assert.equal(page.status, 200);
    for (const { path, title } of operations) assert.ok(page.text.includes(path), title);
  });
});
