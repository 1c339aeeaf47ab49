import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { firstResult, managed, type Person, refused } from '../support/management/management.ts';

interface Listed {
  name: string;
  count: number;
  subcount: number;
  subquery_count?: number;
  pages: number;
  resources?: Record<string, unknown>[];
  links: Record<string, string>;
}

describe('collections', () => {
  const at = managed();
  const people: { op?: Person; vic?: Person } = {};
  const get = (query: string, token = at.admin.token) => at.call('GET', `/api/keys${query}`, { token });
  const list = async (query: string): Promise<Listed> => {
    const reply = await get(query);
    assert.equal(reply.status, 200, reply.text);
    return reply.json<Listed>();
  };
  const namesOf = ({ resources = [] }: Listed) => resources.map(({ name }) => name);
  const post = (path: string, body: unknown, token = at.admin.token) =>
    at.call('POST', path, { token, body });

  before(async () => {
    // With the gateway's own, `test`, seven.
    for (const name of ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'])
      assert.equal((await post('/api/keys', { name })).status, 200);
    people.op = await at.person('op', 'operator');
    people.vic = await at.person('vic', 'viewer');
  });

  it('AC-61 have a name, counts, members and links', async () => {
    const all = await list('');
    assert.equal(all.name, 'keys');
    assert.equal(all.count, 7);
    assert.equal(all.subcount, 7);
    assert.equal(all.pages, 1);
    assert.equal(all.resources?.length, 7);
    for (const row of all.resources ?? []) assert.deepEqual(Object.keys(row), ['href']);
    assert.ok(all.links['self'] && all.links['first'] && all.links['last']);
  });

  it('AC-62 and AC-63 show the attributes that are asked for, where there are such', async () => {
    const { resources = [] } = await list('?expand=resources&attributes=name,disabled');
    for (const row of resources)
      assert.deepEqual(Object.keys(row).sort(), ['disabled', 'href', 'id', 'name']);
    for (const name of ['nope', 'hash', 'name,nope', '__proto__', 'constructor', 'name.length', '*'])
      refused(await get(`?attributes=${name}`), 400, 'bad_request');
  });

  it('AC-64 come in pages', async () => {
    const page = await list('?limit=2&offset=2&sort_by=name&expand=resources');
    assert.equal(page.subcount, 2);
    assert.equal(page.count, 7);
    assert.equal(page.pages, 4);
    assert.deepEqual(namesOf(page), ['delta', 'epsilon']);
    for (const link of ['self', 'next', 'previous', 'first', 'last']) {
      const there = await at.call('GET', page.links[link] ?? '', { token: at.admin.token });
      assert.equal(there.status, 200, link);
    }
    const seen: unknown[] = [];
    let next: string | undefined = '/api/keys?limit=2&sort_by=name&expand=resources';
    while (next !== undefined) {
      const reply: Listed = (await at.call('GET', next, { token: at.admin.token })).json<Listed>();
      seen.push(...namesOf(reply));
      next = reply.links['next'];
    }
    assert.deepEqual(seen, ['alpha', 'beta', 'delta', 'epsilon', 'gamma', 'test', 'zeta']);
  });

  it('AC-65, AC-66 and SC-39 bound their pages', async () => {
    for (const query of [
      'limit=0',
      'limit=-1',
      "offset=0'",
      'offset=-1',
      'limit=1e3',
      'limit=',
      'limit=9'.repeat(30),
      'limit=2&limit=3',
      'limit=%00',
      'limit=0x10',
      'limit=١',
    ])
      refused(await get(`?${query}`), 400, 'bad_request');
    assert.equal((await list('?limit=100000')).subcount, 7);
    assert.equal((await list('?offset=999999999999')).subcount, 0);
  });

  it('AC-67 the last page has members', async () => {
    const { resources: [user] = [] } = await list('?limit=1');
    assert.ok(user);
    const page = await list('?limit=7');
    const last = await at.call('GET', page.links['last'] ?? '', { token: at.admin.token });
    assert.equal(last.json()['subcount'], 7);
    const narrow = await list("?limit=2&filter[]=name!='zeta'");
    const end = await at.call('GET', narrow.links['last'] ?? '', { token: at.admin.token });
    assert.equal(end.json()['subcount'], 2);
  });

  it('AC-68 are filtered', async () => {
    const some = async (...filters: string[]) => {
      const query = filters.map((filter) => `filter[]=${encodeURIComponent(filter)}`).join('&');
      const page = await list(`?expand=resources&sort_by=name&${query}`);
      assert.equal(page.subquery_count, page.subcount);
      assert.equal(page.count, 7);
      return namesOf(page);
    };
    assert.deepEqual(await some("name='alpha'"), ['alpha']);
    assert.deepEqual(await some("name='alpha'", "or name='beta'"), ['alpha', 'beta']);
    assert.deepEqual(await some("name='%eta'"), ['beta', 'zeta']);
    assert.deepEqual(await some("name='*eta'", "name!='zeta'"), ['beta']);
    assert.deepEqual(await some('name=[alpha,zeta]'), ['alpha', 'zeta']);
    assert.deepEqual(await some('expires_at=NULL', "name='nobody'"), []);
    assert.equal((await some("created_at>'2020-01-01T00:00:00Z'")).length, 7);
  });

  it('AC-69 reveal nothing that the caller may not see', async () => {
    for (const attribute of ['secret', 'hash', 'key', 'key_hash', 'password', '__proto__', 'constructor'])
      refused(await get(`?filter[]=${attribute}='x'`), 400, 'bad_request');
    const users = (query: string, token = at.admin.token) => at.call('GET', `/api/users?${query}`, { token });
    for (const name of ['password', 'credential_version', 'passwordHash'])
      for (const query of [`filter[]=${name}='x'`, `sort_by=${name}`, `attributes=${name}`])
        refused(await users(query), 400, 'bad_request');
    const words = async (name: string) => {
      const reply = await at.call('GET', `/api/services?filter[]=${name}='x'`, {
        token: people.vic?.token ?? '',
      });
      refused(reply, 400, 'bad_request');
      return reply.text.replaceAll(name, 'NAME').replaceAll(/req_[\w-]+/g, 'ID');
    };
    assert.equal(await words('version'), await words('nothing'), 'guarded is as unknown as absent');
  });

  it('AC-70 show only counts where that is asked for', async () => {
    const { resources } = await list('?hide=resources');
    assert.equal(resources, undefined);
  });

  it('AC-72 and SC-40 act on several at once, each with its result, up to a bound', async () => {
    const made = firstResult(await post('/api/keys', { name: 'bulk' }));
    const reply = await post('/api/keys', {
      action: 'disable',
      resources: [{ id: made['id'] }, { id: 'nope' }],
    });
    assert.equal(reply.status, 200, reply.text);
    const results = reply.json()['results'] as { success: boolean }[];
    assert.deepEqual(
      results.map(({ success }) => success),
      [true, false],
    );
    const many = Array.from({ length: 10_000 }, () => ({ id: made['id'] }));
    for (const action of ['query', 'disable', 'delete', 'edit']) {
      const bulk = await post('/api/keys', { action, resources: many });
      assert.ok(bulk.status === 400 || bulk.status === 413, `${action}: ${bulk.status}`);
    }
    const gone = await post('/api/keys', { action: 'delete', resources: [{ id: made['id'] }] });
    assert.equal(gone.status, 200);
    for (const resources of [
      null,
      'x',
      {},
      [null],
      [7],
      [[]],
      [{}],
      [{ id: {} }],
      [{ href: 'https://evil.example/api/keys/1' }],
      [{ href: '/api/users/1' }],
      [{ href: '/api/keys/../users/1' }],
    ]) {
      const bad = await post('/api/keys', { action: 'disable', resources });
      assert.ok(
        bad.status === 400 ||
          (bad.json()['results'] as { success: boolean }[])?.every(({ success }) => !success),
        bad.text,
      );
    }
  });

  it('AC-73 refuse unknown actions', async () => {
    const [{ id } = { id: '' }] = (await list('?expand=resources')).resources ?? [];
    for (const action of ['explode', '', '__proto__', 'constructor', 'toString', 7, null, {}, ['disable']])
      refused(await post(`/api/keys/${id}`, { action }), 400, 'bad_request');
  });

  it('AC-75 are changed by an object and by a list of edits', async () => {
    const made = firstResult(await post('/api/keys', { name: 'patched' }));
    const path = `/api/keys/${made['id']}`;
    const patch = (body: unknown) => at.call('PATCH', path, { token: at.admin.token, body });
    assert.equal((await patch({ name: 'patched once' })).json()['name'], 'patched once');
    const listed = await patch([{ action: 'edit', path: 'name', value: 'patched twice' }]);
    assert.equal(listed.json()['name'], 'patched twice');
    for (const edit of [
      { action: 'edit', path: '__proto__', value: {} },
      { action: 'edit', path: 'constructor/prototype', value: {} },
      { action: 'edit', path: 'id', value: '1' },
      { action: 'add', path: 'hash', value: 'x' },
      { action: 'move', path: 'name' },
      null,
      7,
      'x',
      {},
    ])
      refused(await patch([edit]), 400, 'bad_request');
    assert.equal((await at.call('DELETE', path, { token: at.admin.token })).status, 204);
    refused(await at.call('GET', path, { token: at.admin.token }), 404, 'not_found');
  });

  it('AC-76 and SC-33 accept no id or other read-only field', async () => {
    for (const extra of [
      { id: '7' },
      { href: '/api/keys/7' },
      { guid: 'x' },
      { hash: 'x' },
      { key: 'sk-mine' },
      { prefix: 'sk-' },
      { created_at: 'x' },
      { is_admin: true },
      { role: 'admin' },
      { owner_user_id: 'x' },
      { state: 'x' },
    ])
      refused(await post('/api/keys', { name: 'extra', ...extra }), 400, 'bad_request');
    assert.deepEqual(namesOf(await list("?expand=resources&filter[]=name='extra'")), []);
  });

  it('SC-35 show a secret once, when it is made', async () => {
    const made = firstResult(await post('/api/keys', { name: 'once' }));
    const key = String(made['key']);
    assert.match(key, /^sk-/);
    for (const path of [`/api/keys/${made['id']}`, '/api/keys?expand=resources', '/api'])
      assert.equal((await at.call('GET', path, { token: at.admin.token })).text.includes(key), false);
    const { stderr, stdout } = at.gateway.output();
    assert.equal(`${stderr}${stdout}`.includes(key), false);
  });

  it('SC-50 of many concurrent changes with If-Match, one succeeds', async () => {
    const made = firstResult(await post('/api/keys', { name: 'raced' }));
    const path = `/api/keys/${made['id']}`;
    const etag = (await at.call('GET', path, { token: at.admin.token })).header('etag');
    assert.ok(etag);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        at.call('PATCH', path, {
          token: at.admin.token,
          body: { name: `raced ${index}` },
          headers: { 'if-match': etag },
        }),
      ),
    );
    const statuses = replies.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
    assert.equal(statuses.filter((status) => status === 412).length, 19);
  });

  it('SC-50 of many concurrent deletions, one succeeds', async () => {
    const made = firstResult(await post('/api/keys', { name: 'removed' }));
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        at.call('DELETE', `/api/keys/${made['id']}`, { token: at.admin.token }),
      ),
    );
    const statuses = replies.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 204).length, 1, statuses.join());
    assert.ok(
      statuses.every((status) => status === 204 || status === 404),
      statuses.join(),
    );
  });

  it('a dry run changes nothing', async () => {
    const count = async () => (await list('')).count;
    const before = await count();
    const [{ id } = { id: '' }] = (await list("?expand=resources&filter[]=name='alpha'")).resources ?? [];
    for (const [method, path, body] of [
      ['POST', '/api/keys', { name: 'dry' }],
      ['DELETE', `/api/keys/${id}`, undefined],
      ['PATCH', `/api/keys/${id}`, { name: 'dry' }],
      ['POST', `/api/keys/${id}`, { action: 'rotate' }],
      ['POST', `/api/keys/${id}`, { action: 'delete' }],
    ] as const) {
      const reply = await at.call(method, `${path}?dry_run=true`, {
        token: at.admin.token,
        ...(body === undefined ? {} : { body }),
      });
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`);
      assert.doesNotMatch(reply.text, /"key":"sk-/);
    }
    assert.equal(await count(), before);
    assert.deepEqual(namesOf(await list("?expand=resources&filter[]=name='dry'")), []);
  });
});
