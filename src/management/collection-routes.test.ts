import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { type Permission, roleHas } from '../access/permissions.ts';
import type { Caller, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { type Answer, type Change, type CollectionRequest, serveResource } from './collection-routes.ts';

const now = Date.parse('2026-11-21T10:00:00Z');

function callerOf(role: 'viewer' | 'operator' | 'admin', passwordAt: number | null = now): Caller {
  return {
    ...{ userId: role, name: role, role, via: 'token', tokenId: 't', passwordAt },
    ...{ address: '127.0.0.1', requestId: 'r' },
    can: (permission) => roleHas(role, permission),
  };
}

const input = z.object({
  name: z.string().min(1),
  size: z.number().nullable().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  api_key: z.string().optional(),
  credentials: z.object({ parts: z.array(z.string()) }).optional(),
});

const record = z.object({
  id: z.string(),
  guid: z.string(),
  name: z.string(),
  size: z.number().nullable(),
  labels: z.record(z.string(), z.string()),
  process: z.object({ pid: z.number() }),
  created_at: z.string(),
});

const permission = (name: Permission): Permission => name;

/** Services in memory, with what a careless resource could have in its rows. */
function things(rows: Map<string, Row>): Resource {
  const find = async (id: string) =>
    [...rows.values()].find((row) => row.id === id || row['guid'] === id) ?? null;
  return {
    ...{ name: 'things', title: 'Things', summary: 'For this test', record },
    read: permission('services:read'),
    guarded: { process: permission('services:operate') },
    list: async () => [...rows.values()],
    find,
    create: {
      permission: permission('keys:create'),
      input,
      async run(given) {
        const { api_key: _, ...members } = given;
        if (members['name'] === 'taken')
          throw new GatewayError('conflict', 'This name is taken', { param: 'name' });
        const made = { ...thing(`new-${rows.size}`), ...members };
        rows.set(made.id, made);
        return { row: made, secret: { key: 'shown-once' } };
      },
    },
    update: {
      permission: permission('services:update'),
      input: input.partial().extend({ process: z.object({ pid: z.number() }).optional() }),
      async run(row, { api_key: _, ...members }) {
        const after = { ...row, ...members };
        rows.set(row.id, after);
        return after;
      },
    },
    remove: {
      permission: permission('users:delete'),
      async run(row) {
        if (row.id === 'built-in') throw new GatewayError('conflict', 'This one stays');
        rows.delete(row.id);
      },
    },
    actions: {
      start: {
        summary: 'Starts it',
        permission: permission('services:operate'),
        input: z.object({ force: z.boolean().optional(), password: z.string().optional() }),
        possible: (row) => row['size'] !== 0,
        preview: async () => ({ success: true, message: 'would start' }),
        async run(row, given) {
          if (row.id === 'broken') throw new TypeError('a fault of our own');
          if (row.id === 'stuck') return { success: false, message: 'It does not start' };
          const result = { forced: given['force'] === true };
          return { success: true, message: 'Starting', taskId: 'task 1', result };
        },
      },
    },
  };
}

function thing(id: string): Row {
  const row = { id, guid: `guid-${id}`, name: id, size: 1, labels: {}, process: { pid: 7 } };
  return { ...row, created_at: '2026-11-21T10:00:00Z', hash: 'never shown', href: 'nowhere' };
}

function setUp(...ids: string[]) {
  const rows = new Map(ids.map((id) => [id, thing(id)]));
  const resource = things(rows);
  const changes: Change[] = [];
  const intents: Change[] = [];
  const reports: unknown[] = [];
  const failing = { audit: false };
  const context = {
    async record(change: Change) {
      if (failing.audit) throw new Error('the disk is full');
      (change.outcome === 'intended' ? intents : changes).push(change);
    },
    report: (error: unknown) => void reports.push(error),
    now: () => now,
  };
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    more: Partial<CollectionRequest> = {},
  ): Promise<Answer> => {
    const [rest = '', query = ''] = path.split('?');
    return serveResource(context, {
      ...{ resource, method, body, headers: {}, prefix: '/api', dryRun: false, caller: callerOf('admin') },
      rest: rest === '' ? [] : rest.split('/'),
      params: new URLSearchParams(query),
      ...more,
    });
  };
  return { ask, changes, failing, intents, reports, resource, rows };
}

async function refused(asked: Promise<Answer>, status: number, param?: string): Promise<GatewayError> {
  const error = await asked.then(
    ({ body }) => assert.fail(`was answered ${JSON.stringify(body)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.status, status, error.message);
  if (param !== undefined) assert.equal(error.param, param);
  return error;
}

const bodyOf = ({ body }: Answer) => body as Record<string, unknown>;
const resultsOf = ({ body }: Answer) => (body as { results: Record<string, unknown>[] }).results;
const namesOf = (actions: unknown) => (actions as { name: string }[]).map(({ name }) => name);

describe('reading a collection', () => {
  it('gives hrefs and what can be done to it', async () => {
    const { ask } = setUp('mcp', 'a b');
    const answer = await ask('GET', '', undefined, { prefix: '/api/v1.0.0' });
    assert.equal(answer.status, 200);
    assert.deepEqual(bodyOf(answer)['resources'], [
      { href: '/api/v1.0.0/things/mcp' },
      { href: '/api/v1.0.0/things/a%20b' },
    ]);
    assert.deepEqual(namesOf(bodyOf(answer)['actions']), ['create', 'edit', 'delete', 'start']);
  });

  it('gives chosen attributes only, and whole members with all they declare', async () => {
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

  it('hides guarded members, and takes no filter, order or choice by them', async () => {
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

  it('asks the resource for a page where it has pages', async () => {
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

  it('gives one by its id or another name, with what the caller may do now', async () => {
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

  it('sends nothing again that the caller has', async () => {
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

  it('says what there is and what can be asked', async () => {
    const { ask } = setUp('mcp');
    const caller = callerOf('viewer');
    const answer = await ask('OPTIONS', 'mcp', undefined, { caller });
    assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE');
    assert.deepEqual(bodyOf(answer)['attributes'], ['created_at', 'guid', 'id', 'labels', 'name', 'size']);
  });
});

describe('the order of refusal', () => {
  it('is 400 for an unknown method or action, then 403, 415 and 404', async () => {
    const { ask } = setUp('mcp');
    const caller = callerOf('viewer');
    const checkAccept = () => {
      throw new GatewayError('not_acceptable', 'no JSON');
    };
    await refused(ask('POST', 'nope', { action: 'explode' }, { caller, checkAccept }), 400, 'action');
    await refused(ask('PATCH', '', {}, { caller, checkAccept }), 400);
    await refused(ask('POST', 'nope', { action: 'start' }, { caller, checkAccept }), 403);
    await refused(ask('GET', 'nope', undefined, { caller, checkAccept }), 415);
    await refused(ask('GET', 'nope', undefined, { caller }), 404);
    await refused(ask('DELETE', 'nope', undefined, { caller }), 403);
    await refused(ask('DELETE', 'nope', undefined, { checkAccept }), 404);
    await refused(ask('GET', 'mcp/sub', undefined, { caller }), 404);
  });

  it('lets nobody do what is not the resource’s to do', async () => {
    const { ask, resource } = setUp('mcp');
    const { create: _c, update: _u, remove: _r, actions: _a, ...only } = resource;
    const asked = (method: string, path: string, body?: unknown) =>
      ask(method, path, body, { resource: only });
    await refused(asked('POST', '', { name: 'x' }), 400, 'action');
    await refused(asked('PUT', 'mcp', { name: 'x' }), 400);
    await refused(asked('DELETE', 'mcp'), 400);
    for (const action of ['edit', 'delete', 'start', 'toString', '__proto__'])
      await refused(asked('POST', 'mcp', { action }), 400, 'action');
    assert.equal((await asked('GET', 'mcp')).status, 200);
  });

  it('asks for a password proven now where the permission does', async () => {
    const { ask, changes } = setUp('mcp');
    const stale = await refused(
      ask('DELETE', 'mcp', undefined, { caller: callerOf('admin', now - 301_000) }),
      403,
    );
    assert.equal(stale.code, 'reauthentication_required');
    assert.equal(changes[0]?.reason, 'reauthentication_required');
    assert.equal((await ask('DELETE', 'mcp')).status, 204);
  });

  it('is noted, for nothing is denied unseen', async () => {
    const { ask, changes } = setUp('mcp');
    await refused(ask('POST', 'mcp', { action: 'start' }, { caller: callerOf('viewer') }), 403);
    const { caller, ...change } = changes[0] as Change;
    assert.equal(caller.name, 'viewer');
    assert.deepEqual(change, {
      ...{ action: 'start', collection: 'things', target: 'mcp' },
      ...{ before: null, after: null, input: null, outcome: 'denied', reason: 'forbidden' },
    });
  });
});

describe('making members', () => {
  it('takes them bare, in "resource" and in a list, and shows a secret once', async () => {
    const { ask, rows } = setUp();
    const bodies = [
      { name: 'one' },
      { action: 'create', name: 'two' },
      { action: 'add', resource: { name: 'three' } },
      { action: 'create', resources: [{ name: 'four' }, { name: 'five' }] },
    ];
    for (const body of bodies) {
      const answer = await ask('POST', '', body);
      assert.equal(answer.status, 200);
      for (const result of resultsOf(answer)) assert.equal(result['key'], 'shown-once');
    }
    assert.deepEqual(
      [...rows.values()].map(({ name }) => name),
      ['one', 'two', 'three', 'four', 'five'],
    );
  });

  it('refuses an id, unknown members and what is no input, naming it', async () => {
    const { ask, rows } = setUp();
    const bodies: readonly [body: unknown, param: string][] = [
      [{ name: 'x', id: 'mine' }, 'id'],
      [{ name: 'x', href: '/api/things/x' }, 'href'],
      [{ name: 'x', colour: 'red' }, 'colour'],
      [{ name: '' }, 'name'],
      [{}, 'name'],
      [[], 'body'],
      [undefined, 'body'],
      ['text', 'body'],
      [{ action: 5 }, 'action'],
      [{ action: 'create', resource: { name: 'x' }, name: 'y' }, 'name'],
      [{ action: 'create', resources: [{ name: 'x' }, { name: 'y', id: '1' }] }, 'resources[1].id'],
      [{ action: 'create', resources: [{ name: 'x' }, { size: 1 }] }, 'resources[1].name'],
      [{ action: 'create', resources: Array(201).fill({ name: 'x' }) }, 'resources'],
      [JSON.parse(`{"name":${'['.repeat(5_000)}${']'.repeat(5_000)}}`), 'body'],
    ];
    for (const [body, param] of bodies) await refused(ask('POST', '', body), 400, param);
    assert.equal(rows.size, 0, 'nothing was made');
  });

  it('says of each of several what came of it', async () => {
    const { ask, changes } = setUp();
    const body = { action: 'create', resources: [{ name: 'a' }, { name: 'taken' }, { name: 'b' }] };
    const results = resultsOf(await ask('POST', '', body));
    assert.deepEqual(
      results.map(({ success }) => success),
      [true, false, true],
    );
    assert.deepEqual(
      changes.map(({ outcome, reason }) => [outcome, reason]),
      [
        ['success', null],
        ['failure', 'conflict'],
        ['success', null],
      ],
    );
    await refused(ask('POST', '', { name: 'taken' }), 409, 'name');
  });

  it('is recorded, without secrets', async () => {
    const { ask, changes } = setUp();
    const credentials = { parts: ['hush'] };
    await ask('POST', '', { name: 'a', api_key: 'hush', labels: { token: 'hush' } });
    await ask('POST', '', { name: 'taken', api_key: 'hush', credentials }).catch(() => undefined);
    const [change] = changes;
    assert.deepEqual([change?.action, change?.target, change?.outcome], ['create', 'new-0', 'success']);
    assert.equal(change?.after?.['name'], 'a');
    assert.deepEqual(changes[1]?.input, { name: 'taken', api_key: '***', credentials: { parts: ['***'] } });
    assert.doesNotMatch(JSON.stringify(changes), /hush|shown-once|never shown/);
  });

  it('is refused where it cannot be recorded', async () => {
    const { ask, failing, rows } = setUp();
    failing.audit = true;
    await assert.rejects(ask('POST', '', { name: 'a' }), /disk is full/);
    assert.equal(rows.size, 0, 'nothing is done where rights are decided over');
  });

  it('is recorded before it is done, too, where rights are decided over', async () => {
    const { ask, changes, intents } = setUp();
    await ask('POST', '', { name: 'a' });
    assert.deepEqual([intents[0]?.action, changes[0]?.action], ['create', 'create']);
  });

  it('shows who may not read only where it is', async () => {
    const { ask } = setUp();
    const caller = { ...callerOf('admin'), can: (name: string) => name === 'keys:create' };
    const [result] = resultsOf(await ask('POST', '', { name: 'a' }, { caller }));
    assert.deepEqual(result, { href: '/api/things/new-0', id: 'new-0', key: 'shown-once' });
  });
});

describe('changing a member', () => {
  it('takes PUT, PATCH and POST, objects and lists of edits', async () => {
    const { ask, changes, rows } = setUp('mcp');
    const edits = [
      { action: 'edit', path: 'name', value: 'c' },
      { action: 'remove', path: 'size' },
      { action: 'add', path: 'labels/team', value: 'x' },
    ];
    const asked: readonly [method: string, body: unknown, after: object][] = [
      ['PUT', { name: 'a' }, { name: 'a' }],
      ['PATCH', { name: 'b', size: 2 }, { name: 'b', size: 2 }],
      ['PATCH', edits, { name: 'c', size: null, labels: { team: 'x' } }],
      ['POST', { action: 'edit', resource: { size: 9 } }, { size: 9 }],
      ['POST', { action: 'edit', name: 'd' }, { name: 'd' }],
    ];
    for (const [method, body, after] of asked) {
      const answer = await ask(method, 'mcp', body);
      assert.equal(answer.status, 200);
      assert.partialDeepStrictEqual(answer.body, after);
      assert.partialDeepStrictEqual(rows.get('mcp'), after);
    }
    assert.partialDeepStrictEqual(changes[0], { before: { name: 'mcp' }, after: { name: 'a' } });
    assert.deepEqual(Object.keys(changes[0]?.after ?? {}), ['name'], 'only what differs is recorded');
  });

  it('takes back what was read, and changes nothing that is not to be changed', async () => {
    const { ask } = setUp('mcp');
    const read = bodyOf(await ask('GET', 'mcp'));
    assert.equal(bodyOf(await ask('PUT', 'mcp', { ...read, name: 'new' }))['name'], 'new');
    await refused(ask('PUT', 'mcp', { ...read, id: 'other' }), 400, 'id');
    await refused(ask('PUT', 'mcp', { created_at: 'now' }), 400, 'created_at');
    await refused(ask('PATCH', 'mcp', { hash: 'never shown' }), 400, 'hash');
    await refused(ask('PATCH', 'mcp', [{ action: 'edit', path: 'guid', value: 'x' }]), 400, 'guid');
    await refused(ask('PATCH', 'mcp', 'text'), 400, 'body');
    await refused(ask('PATCH', 'mcp', undefined), 400, 'body');
  });

  it('is refused when somebody else was faster', async () => {
    const { ask, rows } = setUp('mcp');
    const { headers } = await ask('GET', 'mcp');
    const seen = { headers: { 'if-match': String(headers['etag']) } };
    const first = await ask('PATCH', 'mcp', { name: 'a' }, seen);
    await refused(ask('PATCH', 'mcp', { name: 'b' }, seen), 412);
    await refused(ask('DELETE', 'mcp', undefined, seen), 412);
    await refused(ask('POST', 'mcp', { action: 'edit', name: 'b' }, seen), 412);
    assert.equal(rows.get('mcp')?.['name'], 'a');
    const then = { headers: { 'if-match': String(first.headers['etag']) } };
    assert.equal((await ask('DELETE', 'mcp', undefined, then)).status, 204);
  });

  it('is gone after DELETE, which has no body, and after POST, which has', async () => {
    const { ask, changes, rows } = setUp('mcp', 'store', 'built-in');
    assert.deepEqual(await ask('DELETE', 'mcp'), { status: 204, body: null, headers: {} });
    const posted = await ask('POST', 'store', { action: 'delete' });
    assert.deepEqual([posted.status, bodyOf(posted)['success']], [200, true]);
    await refused(ask('DELETE', 'built-in'), 409);
    assert.deepEqual([...rows.keys()], ['built-in']);
    assert.equal(changes[0]?.before?.['name'], 'mcp');
    assert.deepEqual(
      changes.map(({ outcome }) => outcome),
      ['success', 'success', 'failure'],
    );
  });
});

describe('actions', () => {
  it('answer with what came of them', async () => {
    const { ask } = setUp('mcp', 'stuck');
    const answer = await ask('POST', 'mcp', { action: 'start' });
    const expected = { success: true, message: 'Starting', href: '/api/things/mcp', task_id: 'task 1' };
    const more = { task_href: '/api/tasks/task%201', result: { forced: false } };
    assert.deepEqual([answer.status, answer.body], [200, { ...expected, ...more }]);
    for (const body of [{ force: true }, { resource: { force: true } }])
      assert.deepEqual(bodyOf(await ask('POST', 'mcp', { action: 'start', ...body }))['result'], {
        forced: true,
      });
    const failed = await ask('POST', 'stuck', { action: 'start' });
    const href = '/api/things/stuck';
    assert.deepEqual(
      [failed.status, failed.body],
      [400, { success: false, message: 'It does not start', href }],
    );
  });

  it('are refused with what they do not take', async () => {
    const { ask } = setUp('mcp');
    await refused(ask('POST', 'mcp', { action: 'start', force: 'yes' }), 400, 'force');
    await refused(ask('POST', 'mcp', { action: 'start', hard: true }), 400, 'hard');
    await refused(ask('POST', 'mcp', { force: true }), 400, 'action');
    await refused(ask('POST', 'mcp', { action: 'delete', now: true }), 400, 'now');
    await refused(ask('POST', 'mcp', undefined), 400, 'body');
  });

  it('are recorded with their input, whose secrets are masked', async () => {
    const { ask, changes } = setUp('mcp', 'stuck');
    await ask('POST', 'mcp', { action: 'start', password: 'hush', force: true });
    assert.deepEqual(changes[0]?.input, { password: '***', force: true });
    await ask('POST', 'stuck', { action: 'start' });
    assert.deepEqual([changes[1]?.outcome, changes[1]?.reason], ['failure', 'It does not start']);
  });

  it('done to several have a result each', async () => {
    const { ask, changes, reports } = setUp('mcp', 'stuck', 'broken');
    const resources = [{ id: 'mcp', force: true }, { id: 'nope' }, { id: 'stuck' }, { id: 'broken' }];
    const answer = await ask('POST', '', { action: 'start', resources });
    assert.equal(answer.status, 200);
    assert.deepEqual(
      resultsOf(answer).map(({ code, href, success }) => [success, code, href]),
      [
        [true, undefined, '/api/things/mcp'],
        [false, 'not_found', '/api/things/nope'],
        [false, undefined, '/api/things/stuck'],
        [false, 'internal_error', '/api/things/broken'],
      ],
    );
    assert.equal(reports.length, 1);
    assert.doesNotMatch(JSON.stringify(answer.body), /fault of our own/);
    assert.deepEqual(
      changes.map(({ outcome }) => outcome),
      ['success', 'failure', 'failure'],
    );
  });

  it('change and remove several, too', async () => {
    const { ask, rows } = setUp('mcp', 'store', 'built-in');
    const edits = [
      { id: 'mcp', name: 'new' },
      { href: '/api/things/store', colour: 'red' },
    ];
    const edited = resultsOf(await ask('POST', '', { action: 'edit', resources: edits }));
    assert.deepEqual(
      edited.map(({ name, param, success }) => [success, name, param]),
      [
        [true, 'new', undefined],
        [false, undefined, 'resources[1].colour'],
      ],
    );
    const gone = { action: 'delete', resources: [{ id: 'mcp' }, { id: 'built-in' }] };
    assert.deepEqual(
      resultsOf(await ask('POST', '', gone)).map(({ success }) => success),
      [true, false],
    );
    assert.deepEqual([...rows.keys()], ['store', 'built-in']);
    const conditional = { headers: { 'if-match': '*' } };
    await refused(ask('POST', '', gone, conditional), 400, 'if-match');
  });
});

describe('a dry run', () => {
  it('says what would be done, and does nothing', async () => {
    const { ask, changes, rows } = setUp('mcp');
    const dry = { dryRun: true };
    const before = JSON.stringify([...rows]);
    const patch = await ask('PATCH', 'mcp', { name: 'a', api_key: 'hush' }, dry);
    assert.deepEqual(bodyOf(patch)['changes'], {
      name: { from: 'mcp', to: 'a' },
      api_key: { from: null, to: '***' },
    });
    const asked = [
      patch,
      await ask('POST', '', { name: 'a' }, dry),
      await ask('DELETE', 'mcp', undefined, dry),
      await ask('POST', 'mcp', { action: 'delete' }, dry),
      await ask('POST', 'mcp', { action: 'start' }, dry),
      await ask('POST', '', { action: 'start', resources: [{ id: 'mcp' }] }, dry),
      await ask('POST', '', { action: 'edit', resources: [{ id: 'mcp', name: 'a' }] }, dry),
      await ask('POST', '', { action: 'delete', resources: [{ id: 'mcp' }] }, dry),
    ];
    for (const { headers, status } of asked)
      assert.deepEqual([status, headers], [200, { 'x-dry-run': 'true' }]);
    assert.equal(JSON.stringify([...rows]), before);
    assert.deepEqual(changes, []);
  });

  it('tells nobody what they may not see', async () => {
    const { ask } = setUp('mcp');
    const can = (name: string) => name === 'services:update' || name === 'services:read';
    const body = { process: { pid: 8 } };
    const answer = await ask('PATCH', 'mcp', body, { dryRun: true, caller: { ...callerOf('admin'), can } });
    assert.deepEqual(bodyOf(answer)['changes'], { process: { from: null, to: { pid: 8 } } });
  });

  it('is refused like the real thing', async () => {
    const { ask } = setUp('mcp');
    const dry = { dryRun: true };
    await refused(ask('PATCH', 'mcp', { colour: 'red' }, dry), 400, 'colour');
    await refused(ask('DELETE', 'nope', undefined, dry), 404);
    await refused(ask('DELETE', 'mcp?dryrun=true'), 400, 'dryrun');
    await refused(ask('DELETE', 'mcp?dry_run=yes'), 400, 'dry_run');
    await refused(ask('DELETE', 'mcp?dry_run=false&dry_run=true'), 400, 'dry_run');
    await refused(ask('GET', 'mcp?limit=1'), 400, 'limit');
    await refused(ask('DELETE', 'mcp', undefined, { ...dry, caller: callerOf('viewer') }), 403);
  });
});

describe('whatever is sent', () => {
  it('is answered or refused, and never fails in another way', async () => {
    const reference = fc.oneof(fc.constantFrom('mcp', 'built-in', 'nope', ''), fc.string({ maxLength: 5 }));
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('mcp', 1, null, true));
    const member = fc.dictionary(
      fc.constantFrom(
        'id',
        'href',
        'name',
        'size',
        'labels',
        'force',
        'path',
        'value',
        'action',
        '__proto__',
      ),
      value,
    );
    const edit = fc.record({
      action: fc.constantFrom('add', 'edit', 'remove', 'x'),
      path: fc.constantFrom('name', 'labels/a', 'labels/a/b', 'process/pid', '__proto__/x', 'id', '/'),
      value,
    });
    const body = fc.oneof(
      value,
      fc.array(edit, { maxLength: 3 }),
      fc.record(
        {
          action: fc.oneof(fc.constantFrom('create', 'query', 'edit', 'delete', 'start', 'toString'), value),
          resource: fc.oneof(member, value),
          resources: fc.oneof(fc.array(fc.oneof(member, value), { maxLength: 3 }), value),
          name: value,
        },
        { requiredKeys: [] },
      ),
    );
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE');
    const header = fc.option(fc.string(), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.record({ method, reference, body, header, dryRun: fc.boolean() }),
        async ({ body: sent, dryRun, header: tag, method: verb, reference: id }) => {
          const { ask, resource } = setUp('mcp', 'built-in');
          const headers = tag === undefined ? {} : { 'if-match': tag, 'if-none-match': tag };
          const rest = id === '' ? [] : [id];
          try {
            const answer = await ask(verb, '', structuredClone(sent), { rest, headers, dryRun, resource });
            assert.ok(answer.status < 500);
            assert.doesNotMatch(JSON.stringify(answer.body), /never shown/);
          } catch (error) {
            assert.ok(error instanceof GatewayError && error.status < 500, String(error));
          }
        },
      ),
      { numRuns: 2_000 },
    );
    assert.ok(!Object.hasOwn(Object.prototype, 'x'));
  });
});
