import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bodyOf,
  callerOf,
  namesOf,
  refused,
  resultsOf,
  setUp,
  thing,
} from '../../../test/support/management/things.ts';
import type { Resource } from '../../http/resource.ts';

describe('reading a collection', () => {
  it('returns hrefs and the possible actions', async () => {
    const { ask } = setUp('mcp', 'a b');
    const answer = await ask('GET', '', undefined, { prefix: '/api/v1.0.0' });
    assert.equal(answer.status, 200);
    assert.deepEqual(bodyOf(answer)['resources'], [
      { href: '/api/v1.0.0/things/mcp' },
      { href: '/api/v1.0.0/things/a%20b' },
    ]);
    assert.deepEqual(namesOf(bodyOf(answer)['actions']), ['create', 'edit', 'delete', 'start']);
  });

  it('returns only the selected attributes, or all that the object declares', async () => {
    const { ask } = setUp('mcp');
    const chosen = await ask('GET', '?expand=resources&attributes=name,process.pid');
    const href = '/api/things/mcp';
    assert.deepEqual(bodyOf(chosen)['resources'], [{ href, id: 'mcp', name: 'mcp', process: { pid: 7 } }]);
    assert.equal(bodyOf(await ask('GET', 'mcp?attributes=href,name'))['href'], href);
    const whole = await ask('GET', '?expand=resources');
    const [first] = bodyOf(whole)['resources'] as Record<string, unknown>[];
    assert.equal(first?.['guid'], 'guid-mcp');
    assert.ok(first && !Object.hasOwn(first, 'hash'), 'what the record does not declare stays inside');
  });

  it('hides protected fields, and refuses to filter, sort or select by them', async () => {
    const { ask } = setUp('mcp');
    const caller = callerOf('viewer');
    const body = bodyOf(await ask('GET', 'mcp', undefined, { caller }));
    assert.ok(!Object.hasOwn(body, 'process') && !Object.hasOwn(body, 'actions'));
    await refused(ask('GET', '?filter[]=process.pid=7', undefined, { caller }), 400, 'filter[]');
    await refused(ask('GET', '?sort_by=process.pid', undefined, { caller }), 400, 'sort_by');
    await refused(ask('GET', '?attributes=process', undefined, { caller }), 400, 'attributes');
    await refused(ask('GET', 'mcp?attributes=process', undefined, { caller }), 400, 'attributes');
    await refused(ask('GET', '?attributes=hash'), 400, 'attributes');
  });

  it('asks the resource for a page if it supports pages', async () => {
    const { ask, resource } = setUp('mcp');
    const page: Resource['page'] = async ({ groups, limit }) => ({
      rows: [thing(`${groups.length}-${limit}`)],
      count: 100,
      filtered: 10,
    });
    const paged = { resource: { ...resource, page } };
    const body = bodyOf(await ask('GET', "?limit=5&filter[]=name='x'", undefined, paged));
    assert.deepEqual([body['count'], body['subquery_count'], body['pages']], [100, 10, 2]);
    assert.deepEqual(body['resources'], [{ href: '/api/things/1-5' }]);
  });

  it('returns one by its id or another name, with the actions of the caller', async () => {
    const { ask, rows } = setUp('mcp');
    const caller = callerOf('operator');
    const { actions, ...body } = bodyOf(await ask('GET', 'guid-mcp', undefined, { caller }));
    assert.equal(body['href'], '/api/things/mcp');
    assert.deepEqual(actions, [{ name: 'start', method: 'post', href: '/api/things/mcp' }]);
    rows.set('mcp', { ...thing('mcp'), size: 0 });
    assert.ok(!Object.hasOwn(bodyOf(await ask('GET', 'mcp', undefined, { caller })), 'actions'));
    const named = bodyOf(await ask('GET', 'mcp?attributes=actions', undefined, { caller }));
    assert.deepEqual(named, { href: '/api/things/mcp', id: 'mcp', actions: [] });
  });

  it('answers 304 when the client has the current version', async () => {
    const { ask, rows } = setUp('mcp');
    for (const path of ['', 'mcp']) {
      const { headers } = await ask('GET', path);
      const conditional = { headers: { 'if-none-match': String(headers['etag']) } };
      const again = await ask('GET', path, undefined, conditional);
      assert.deepEqual([again.status, again.body], [304, null]);
      rows.set('other', thing('other'));
      rows.set('mcp', { ...thing('mcp'), size: 5 });
      assert.equal((await ask('GET', path, undefined, conditional)).status, 200);
      rows.set('mcp', thing('mcp'));
    }
  });

  it('reads several at once, and says which are not there', async () => {
    const { ask } = setUp('mcp', 'store');
    const resources = [{ id: 'mcp' }, { href: 'http://elsewhere/api/things/store' }, { id: 'nope' }];
    const results = resultsOf(await ask('POST', '', { action: 'query', resources }));
    assert.deepEqual(
      results.map(({ id, success }) => [id, success]),
      [
        ['mcp', undefined],
        ['store', undefined],
        ['nope', false],
      ],
    );
    for (const reference of [
      {},
      { href: '/api/others/mcp' },
      { href: '/api/things/a/b' },
      { id: {} },
      'mcp',
      null,
    ])
      await refused(ask('POST', '', { action: 'query', resources: [reference] }), 400, 'resources[0]');
    await refused(ask('POST', '', { action: 'query' }), 400, 'resources');
  });

  it('describes the collection and its queries', async () => {
    const { ask } = setUp('mcp');
    const caller = callerOf('viewer');
    const answer = await ask('OPTIONS', 'mcp', undefined, { caller });
    assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE');
    assert.deepEqual(bodyOf(answer)['attributes'], ['created_at', 'guid', 'id', 'labels', 'name', 'size']);
  });
});
