import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../support/gateway/gateway.ts';
import { challenged, firstResult, managed, refused } from '../support/management/management.ts';

/** The cases name the service `mcp`; where it has to run, `management`, `data-plane` and `store` stand in for it. */
describe('services', () => {
  const at = managed();
  const see = (id: string, token: string, more = {}) =>
    at.call('GET', `/api/services/${id}`, { token, ...more });
  const act = (id: string, token: string, action: string, resource?: object) =>
    at.call('POST', `/api/services/${id}`, { token, body: { action, resource } });
  const [alice, op, vic] = [
    () => at.person('alice', 'admin'),
    () => at.person('op', 'operator'),
    () => at.person('vic', 'viewer'),
  ];
  const stateOf = async (id: string) => (await see(id, (await op()).token)).json()['state'];

  it('AC-04 and AC-05 are shown for a password and for a token alike', async () => {
    const { name, password, token } = await alice();
    for (const id of ['management', 'store', 'data-plane', 'mcp']) {
      const byPassword = await at.call('GET', `/api/services/${id}`, {
        basic: [name, password],
        headers: { accept: 'application/json' },
      });
      assert.equal(byPassword.status, 200, byPassword.text);
      assert.equal(byPassword.json()['id'], id);
      const byToken = await see(id, token);
      const steady = (row: Record<string, unknown>) => ({ ...row, uptime_seconds: 0, health: null });
      assert.deepEqual(steady(byToken.json()), steady(byPassword.json()));
    }
  });

  it('AC-06 can be listed with one token many times', async () => {
    const { token } = await alice();
    for (let count = 0; count < 20; count += 1) assert.equal((await see('management', token)).status, 200);
  });

  it('AC-07 and AC-13 are shown to nobody else', async () => {
    challenged(await see('management', 'badtoken'));
    challenged(await at.call('GET', '/api/services/management'));
    challenged(await see('management', at.gateway.key));
  });

  it('AC-11 and AC-12 are shown to a viewer, who may stop none', async () => {
    const { token } = await vic();
    assert.equal((await see('data-plane', token)).status, 200);
    for (const action of ['start', 'stop', 'restart', 'reload', 'test'])
      refused(await act('data-plane', token, action, { confirm: 'data-plane' }), 403, 'forbidden');
    assert.equal(await stateOf('data-plane'), 'running');
  });

  it('AC-47, AC-48 and AC-49 report a missing service only to callers who may see it', async () => {
    refused(await see('nope', (await alice()).token), 404, 'not_found');
    challenged(await at.call('GET', '/api/services/nope'));
    const remove = await at.call('DELETE', '/api/services/nope', { token: (await vic()).token });
    // No service can be removed: that is said before anything of rights (CONTRACT 3).
    assert.ok([400, 403].includes(remove.status), remove.text);
    refused(await act('nope', (await vic()).token, 'stop'), 403, 'forbidden');
    refused(await act('nope', (await op()).token, 'start'), 404, 'not_found');
  });

  it('AC-71 are stopped and started by an operator, with a task', async () => {
    const { token } = await op();
    const stopped = await act('data-plane', token, 'stop', { confirm: 'data-plane' });
    assert.equal(stopped.status, 200, stopped.text);
    const started = await act('data-plane', token, 'start');
    const outcome = started.json();
    assert.equal(outcome['success'], true);
    assert.equal(typeof outcome['message'], 'string');
    assert.equal(outcome['href'], '/api/services/data-plane');
    assert.equal(typeof outcome['task_id'], 'string');
    assert.equal(outcome['task_href'], `/api/tasks/${outcome['task_id']}`);
    const task = await at.call('GET', String(outcome['task_href']), { token });
    assert.equal(task.status, 200, task.text);
    assert.equal(await stateOf('data-plane'), 'running');
  });

  it('AC-71 stopping ends model requests but not the management API', async () => {
    const { token } = await op();
    refused(await act('data-plane', token, 'stop'), 400, 'bad_request');
    assert.equal((await act('data-plane', token, 'stop', { confirm: 'data-plane' })).status, 200);
    const ask = () =>
      at.call('GET', '/v1/models', { headers: { authorization: `Bearer ${at.gateway.key}` } });
    const down = await ask();
    assert.ok([200, 503].includes(down.status));
    assert.equal(await stateOf('data-plane'), 'stopped');
    assert.equal((await act('data-plane', token, 'start')).status, 200);
    assert.equal((await ask()).status, 200);
  });

  it('AC-72 are acted on together, each with its result', async () => {
    const { token } = await op();
    const resources = [{ id: 'store' }, { id: 'nope' }];
    const reply = await at.call('POST', '/api/services', { token, body: { action: 'test', resources } });
    assert.equal(reply.status, 200, reply.text);
    const results = reply.json()['results'] as { success: boolean }[];
    assert.equal(results[0]?.success, true, reply.text);
    assert.equal(results[1]?.success, false, reply.text);
  });

  it('AC-73 refuse unknown actions', async () => {
    refused(await act('data-plane', (await op()).token, 'explode'), 400, 'bad_request');
  });

  it('AC-74 and SC-34 show each caller only permitted actions and fields', async () => {
    const actions = async (token: string) =>
      (((await see('data-plane', token)).json()['actions'] ?? []) as { name: string }[]).map(
        ({ name }) => name,
      );
    assert.deepEqual(await actions((await vic()).token), []);
    const operators = await actions((await op()).token);
    for (const name of ['stop', 'restart', 'reload', 'test']) assert.ok(operators.includes(name), name);
    assert.equal(operators.includes('start'), false, 'it runs');
    assert.equal(operators.includes('edit'), false);
    const names = async (token: string) => Object.keys((await see('data-plane', token)).json());
    const [viewer, operator, admin] = [
      await names((await vic()).token),
      await names((await op()).token),
      await names((await alice()).token),
    ];
    assert.deepEqual(
      operator.filter((name) => !viewer.includes(name) && name !== 'actions'),
      ['version'],
    );
    assert.deepEqual(
      admin.filter((name) => !operator.includes(name)),
      ['options'],
    );
  });

  it('AC-77 that are built in cannot be deleted', async () => {
    const { token } = await alice();
    for (const id of ['management', 'store', 'data-plane', 'mcp']) {
      const reply = await at.call('DELETE', `/api/services/${id}`, { token });
      assert.ok([400, 403, 409].includes(reply.status), `${id}: ${reply.status}`);
    }
    for (const id of ['management', 'store'])
      refused(await act(id, token, 'stop', { confirm: id }), 409, 'conflict');
    refused(await act('dashboard', token, 'reload'), 409, 'conflict');
  });

  it('AC-83 may be read by a token that has that scope alone', async () => {
    const owner = await alice();
    const body = { name: 'watcher', scopes: ['services:read'] };
    const token = String(
      firstResult(await at.call('POST', '/api/tokens', { token: owner.token, body }))['token'],
    );
    assert.equal((await see('store', token)).status, 200);
    refused(await act('data-plane', token, 'stop', { confirm: 'data-plane' }), 403, 'forbidden');
    const [href] = (await at.call('GET', '/api/services?expand=resources', { token })).json()[
      'resources'
    ] as object[];
    assert.equal('version' in (href ?? {}), false);
  });

  it('AC-42 and SC-11 refuse an operator right after the role was taken away', async () => {
    const former = await at.person('former', 'operator');
    assert.equal((await act('store', former.token, 'test')).status, 200);
    const admin = await at.login('alice');
    assert.equal(
      (await at.call('PATCH', `/api/users/${former.id}`, { token: admin, body: { role: 'viewer' } })).status,
      200,
    );
    for (const token of [former.token, await at.login('former')])
      refused(await act('data-plane', token, 'stop', { confirm: 'data-plane' }), 403, 'forbidden');
    challenged(await see('data-plane', former.token));
    assert.equal(await stateOf('data-plane'), 'running');
  });

  it('SC-33 accept changes of labels and options only', async () => {
    const { token } = await alice();
    const edit = (body: unknown, who = token) =>
      at.call('PATCH', '/api/services/store', { token: who, body });
    for (const body of [
      { state: 'stopped' },
      { desired_state: 'stopped' },
      { id: 'x' },
      { guid: 'x' },
      { kind: 'x' },
      { critical: false },
      { endpoints: [{}] },
      { health: {} },
      { version: '9' },
      { config_revision: 99 },
      { options: { nothing: 1 } },
      '{"labels":{"__proto__":"x"}}',
      { labels: { '__proto__ ': 'x' } },
      { labels: { a: 1 } },
    ])
      refused(await edit(body), 400, 'bad_request');
    refused(await edit({ labels: { a: 'b' } }, (await op()).token), 403, 'forbidden');
    const done = await edit({ labels: { team: 'core' } });
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(done.json()['labels'], { team: 'core' });
    assert.equal((await edit({ labels: { team: 'core', 'app.kubernetes.io/part-of': 'x' } })).status, 200);
    const chosen = async (...filters: string[]) => {
      const query = filters.map((filter) => `filter[]=${encodeURIComponent(filter)}`).join('&');
      const reply = await at.call('GET', `/api/services?attributes=labels&${query}`, { token });
      assert.equal(reply.status, 200, reply.text);
      return (reply.json()['resources'] as { id: string }[]).map(({ id }) => id);
    };
    assert.deepEqual(await chosen("labels.team='core'"), ['store'], 'SC-64 chosen by their labels');
    assert.deepEqual(await chosen("labels.team='c*'", "labels.app.kubernetes.io/part-of='x'"), ['store']);
    assert.deepEqual(await chosen("labels.team='other'"), []);
    assert.equal((await chosen('labels.team=NULL')).includes('store'), false);
    for (const filter of ["labels='x'", "labels.='x'", "labels.__proto__='x'"]) {
      const reply = await at.call('GET', `/api/services?filter[]=${encodeURIComponent(filter)}`, { token });
      assert.ok(reply.status === 400 || reply.json()['subcount'] === 0, filter);
    }
  });

  it('SC-50 fifty concurrent stops and starts leave a consistent state', async () => {
    const { token } = await op();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? act('data-plane', token, 'stop', { confirm: 'data-plane' })
          : act('data-plane', token, 'start'),
      ),
    );
    for (const reply of replies) assert.ok([200, 409].includes(reply.status), reply.text);
    await waitFor(
      'the last to be done',
      async () => (await act('data-plane', token, 'start')).status === 200,
    );
    assert.equal(await stateOf('data-plane'), 'running');
    const ready = await at.call('GET', '/readyz');
    assert.equal(ready.status, 200, ready.text);
  });

  it('SC-04 show tasks to their creator', async () => {
    const mine = await op();
    const other = await at.person('other', 'operator');
    const begun = (await act('data-plane', mine.token, 'restart', { confirm: 'data-plane' })).json();
    const path = String(begun['task_href']);
    assert.equal((await at.call('GET', path, { token: mine.token })).status, 200);
    refused(await at.call('GET', path, { token: other.token }), 404, 'not_found');
    const list = await at.call('GET', '/api/tasks?expand=resources', { token: other.token });
    assert.equal(list.text.includes(String(begun['task_id'])), false);
  });
});
