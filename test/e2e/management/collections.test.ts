import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { firstResult, managed, refused } from '../../support/management/management.ts';

/** AC-58 to AC-78 of the management API, over the wire, with the collection of gateway keys. */
const api = managed();
const admin = () => api.admin.token;
const names = ['a1', 'a2', 'b1', 'B2', 'c1', 'c2', 'd1'];

const get = async (path: string, token = admin(), headers: Record<string, string> = {}) =>
  api.call('GET', path, { token, headers });

async function shown(query: string): Promise<{ names: unknown[]; body: Record<string, unknown> }> {
  const reply = await get(`/api/keys?expand=resources&${query}`);
  assert.equal(reply.status, 200, reply.text);
  const body = reply.json();
  return { names: (body['resources'] as Record<string, unknown>[]).map(({ name }) => name), body };
}

describe('the collections of the management API', () => {
  before(async () => {
    // The key that every gateway of the tests begins with.
    assert.equal((await api.call('DELETE', '/api/keys/test', { token: admin() })).status, 204);
    for (const name of names) {
      const models = name.startsWith('c') ? ['gpt-*'] : null;
      const reply = await api.call('POST', '/api/keys', { token: admin(), body: { name, models } });
      assert.equal(reply.status, 200, reply.text);
      assert.match(String(firstResult(reply)['key']), /^sk-/, 'the key is shown this once');
    }
  });

  it('are listed with counts, hrefs and links', async () => {
    const reply = await get('/api/keys');
    assert.equal(reply.status, 200);
    const { count, links, name, pages, resources, subcount } = reply.json();
    assert.deepEqual([name, count, subcount, pages], ['keys', 7, 7, 1]);
    assert.deepEqual(Object.keys(links as object), ['self', 'first', 'last']);
    for (const resource of resources as Record<string, string>[]) {
      assert.deepEqual(Object.keys(resource), ['href']);
      assert.equal((await get(String(resource['href']))).status, 200);
    }
  });

  it('keep the version of the path in their hrefs, whatever Host says', async () => {
    const reply = await api.call('GET', '/api/v1.0.0/keys', {
      token: admin(),
      host: `localhost:${api.gateway.port}`,
    });
    const [first] = reply.json()['resources'] as Record<string, string>[];
    assert.match(String(first?.['href']), /^\/api\/v1\.0\.0\/keys\/key_/);
  });

  it('show chosen attributes, page by page', async () => {
    const { body } = await shown('attributes=name,disabled&sort_by=name&limit=2&offset=2');
    const { count, links, pages, resources, subcount } = body;
    assert.deepEqual([count, subcount, pages], [7, 2, 4]);
    assert.deepEqual(Object.keys(links as object).sort(), ['first', 'last', 'next', 'previous', 'self']);
    for (const resource of resources as object[])
      assert.deepEqual(Object.keys(resource).sort(), ['disabled', 'href', 'id', 'name']);
    const last = await get((links as Record<string, string>)['last'] ?? '');
    assert.equal(last.json()['subcount'], 1);
    assert.equal((await get('/api/keys?limit=100000')).status, 200);
    assert.ok(!Object.hasOwn((await get('/api/keys?hide=resources')).json(), 'resources'));
  });

  it('are filtered and sorted', async () => {
    const filter = (...filters: string[]) =>
      filters.map((one) => `filter[]=${encodeURIComponent(one)}`).join('&');
    const sorted = await shown('sort_by=name&sort_options=ignore_case&sort_order=desc');
    assert.deepEqual(sorted.names, ['d1', 'c2', 'c1', 'B2', 'b1', 'a2', 'a1']);
    const both = await shown(filter("name='*1'", 'disabled=false', "or name='B2'"));
    assert.deepEqual(both.names.toSorted(), ['B2', 'a1', 'b1', 'c1', 'd1']);
    assert.equal(both.body['subquery_count'], 5);
    assert.deepEqual((await shown(filter("models='gpt-*'"))).names.toSorted(), ['c1', 'c2']);
    assert.deepEqual((await shown(filter('name=~/^b\\d$/i'))).names.toSorted(), ['B2', 'b1']);
    assert.deepEqual((await shown(filter('created_at<2020-01-01'))).names, []);
  });

  it('refuse invalid queries, and reveal nothing by filters on secrets', async () => {
    const queries = ['limit=0', 'limit=-1', "offset=0'", 'attributes=nope', 'sort_by=nope', 'nope=1'];
    for (const query of [...queries, "filter[]=nope='x'", "filter[]=hash='x'", "filter[]=name~'x'"]) {
      refused(await get(`/api/keys?${query}`), 400, 'bad_request');
    }
  });

  it('never show a secret', async () => {
    const { text } = await get('/api/keys?expand=resources');
    assert.doesNotMatch(text, /"hash"|"key"/);
  });

  it('say only what the client may do', async () => {
    const operator = await api.person('op', 'operator');
    const body = (await get('/api/keys?expand=resources', operator.token)).json();
    assert.ok(!Object.hasOwn(body, 'actions'));
    assert.ok((body['resources'] as object[]).every((row) => !Object.hasOwn(row, 'actions')));
    const viewer = await api.person('vic', 'viewer');
    refused(await get('/api/keys', viewer.token), 403, 'forbidden');
    refused(await api.call('DELETE', '/api/keys/nope', { token: operator.token }), 403, 'forbidden');
    refused(await get('/api/keys/nope', operator.token), 404, 'not_found');
    const unknown = await api.call('POST', '/api/keys/nope', {
      token: operator.token,
      body: { action: 'x' },
    });
    refused(unknown, 400, 'bad_request');
  });

  it('are changed object by object, each only from its current version', async () => {
    const [key] = (await shown("filter[]=name='d1'")).body['resources'] as Record<string, unknown>[];
    const href = String(key?.['href']);
    const seen = (await get(href)).header('etag') ?? '';
    assert.equal((await get(href, admin(), { 'if-none-match': seen })).status, 304);
    const change = (method: string, body: unknown, headers = {}) =>
      api.call(method, href, { token: admin(), body, headers });
    const edits = [
      { action: 'edit', path: 'name', value: 'd2' },
      { action: 'add', path: 'models', value: ['gpt-5'] },
    ];
    const patched = await change('PATCH', edits, { 'if-match': seen });
    assert.partialDeepStrictEqual(patched.json(), { name: 'd2', models: ['gpt-5'] });
    refused(await change('PATCH', { name: 'd3' }, { 'if-match': seen }), 412, 'precondition_failed');
    const dry = await api.call('PATCH', `${href}?dry_run=true`, { token: admin(), body: { name: 'd3' } });
    assert.equal(dry.header('x-dry-run'), 'true');
    assert.deepEqual(dry.json()['changes'], { name: { from: 'd2', to: 'd3' } });
    const put = await change('PUT', { ...(await get(href)).json(), name: 'd4' });
    assert.equal(put.json()['name'], 'd4', put.text);
    const disabled = await change('POST', { action: 'disable' });
    assert.partialDeepStrictEqual(disabled.json(), { success: true, href });
    refused(await change('PATCH', { colour: 'red' }), 400, 'bad_request');
    const gone = await api.call('DELETE', href, { token: admin() });
    assert.deepEqual([gone.status, gone.text], [204, '']);
    refused(await get(href), 404, 'not_found');
  });

  it('accept no id from a client', async () => {
    const body = { name: 'mine', id: 'key_mine' };
    refused(await api.call('POST', '/api/keys', { token: admin(), body }), 400, 'bad_request');
  });

  it('change several members at once, each with its result', async () => {
    const { body } = await shown("filter[]=name='a*'");
    const [one, other] = body['resources'] as Record<string, string>[];
    const resources = [{ id: one?.['id'] }, { id: 'nope' }, { href: other?.['href'] }];
    const reply = await api.call('POST', '/api/keys', {
      token: admin(),
      body: { action: 'disable', resources },
    });
    assert.equal(reply.status, 200, reply.text);
    const results = reply.json()['results'] as Record<string, unknown>[];
    assert.deepEqual(
      results.map(({ success }) => success),
      [true, false, true],
    );
    assert.equal((await shown('filter[]=disabled=true')).names.length, 2);
  });
});
