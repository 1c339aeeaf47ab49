import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import type { OpenReply, RawClient, Reply } from '../../support/clients/client.ts';
import { openSocket } from '../../support/clients/socket.ts';
import { chat, connectionsTo, type Format, formats, messages } from '../../support/formats/formats.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { managed, refused } from '../../support/management/management.ts';
import { chunk, end, json, open, type Step, stall } from '../../support/upstream/steps.ts';
import { startUpstream } from '../../support/upstream/upstream.ts';

/** Services over the wire: what they show to whom, and what stopping the model endpoints does to clients. */
const upstream = await startUpstream();
const at = managed({ connections: connectionsTo(upstream.url) });
after(() => upstream.close());

let clients: RawClient[] = [];
const operate = async (action: string, more: object = {}, id = 'data-plane', query = ''): Promise<Reply> => {
  const { token } = await at.person('op', 'operator');
  return at.call('POST', `/api/services/${id}${query}`, { token, body: { action, ...more } });
};
const confirmed = { resource: { confirm: 'data-plane' } };
const service = async (id = 'data-plane'): Promise<Record<string, unknown>> => {
  const reply = await at.call('GET', `/api/services/${id}`, { token: at.admin.token });
  assert.equal(reply.status, 200, reply.text);
  return reply.json();
};
const ask = (format: Format, more: object = {}): Promise<Reply> =>
  at.gateway.ask(format.path, format.request(more));

afterEach(async () => {
  for (const client of clients) client.destroy();
  clients = [];
  await waitFor('the data plane', async () => {
    if ((await service())['state'] === 'running') return true;
    await operate('start');
    return false;
  });
});

/** A stream of which the first content has come. `gate` lets the rest come. */
async function beginStream(format: Format, gate: Promise<unknown>): Promise<OpenReply> {
  const { content, ending, preamble } = format.stream();
  const [first = '', ...rest] = content;
  const steps: Step[] = [open(), chunk(preamble + first), stall(gate), chunk(rest.join('') + ending), end()];
  upstream.script(steps);
  const client = await at.gateway.client();
  clients.push(client);
  client.socket.on('error', () => {});
  await client.send({
    path: format.path,
    headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
    body: JSON.stringify(format.request({ stream: true })),
  });
  const reply = await client.open();
  await reply.until('Hel');
  return reply;
}

describe('the collection of services', () => {
  it('is read by those who may, and says nothing to others', async () => {
    const vic = await at.person('vic', 'viewer');
    const list = await at.call('GET', '/api/services', { token: vic.token });
    const { count, resources } = list.json() as { count: number; resources: { href: string }[] };
    assert.deepEqual([list.status, resources.length], [200, count]);
    assert.ok(resources.some(({ href }) => href === '/api/services/data-plane'));
    assert.equal(list.json()['name'], 'services');
    const page = await at.call(
      'GET',
      "/api/services?expand=resources&attributes=name,state&filter[]=kind='dashboard'&sort_by=id",
      { token: vic.token },
    );
    const rows = page.json()['resources'] as Record<string, unknown>[];
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['dashboard'],
    );
    for (const row of rows) assert.deepEqual(Object.keys(row).sort(), ['href', 'id', 'name', 'state']);
    refused(await at.call('GET', '/api/services?attributes=nope', { token: vic.token }), 400);
    refused(await at.call('GET', '/api/services/nope', { token: vic.token }), 404, 'not_found');
    refused(await at.call('GET', '/api/services/nope'), 401);
    refused(await at.call('DELETE', '/api/services/nope', { token: vic.token }), 403, 'forbidden');
  });

  it('shows a viewer no actions, an operator those that are possible now, and an admin the options', async () => {
    const seen = async (name: string, role: 'viewer' | 'operator') => {
      const { token } = await at.person(name, role);
      return (await at.call('GET', '/api/services/data-plane', { token })).json();
    };
    const [viewer, operator, admin] = [
      await seen('vic', 'viewer'),
      await seen('op', 'operator'),
      await service(),
    ];
    const names = (row: Record<string, unknown>) =>
      ((row['actions'] as { name: string }[] | undefined) ?? []).map(({ name }) => name);
    assert.deepEqual(names(viewer), []);
    assert.deepEqual(names(operator), ['stop', 'restart', 'reload', 'test']);
    assert.deepEqual(['version' in viewer, 'options' in viewer], [false, false]);
    assert.deepEqual(['version' in operator, 'options' in operator], [true, false]);
    assert.deepEqual(['version' in admin, 'options' in admin], [true, true]);
    const { token } = await at.person('vic', 'viewer');
    const stop = { action: 'stop', ...confirmed };
    refused(await at.call('POST', '/api/services/data-plane', { token, body: stop }), 403, 'forbidden');
    assert.equal((await service())['state'], 'running');
  });

  it('shows each role exactly its members', async () => {
    const everybody = [
      'href',
      'id',
      'guid',
      'name',
      'description',
      'kind',
      'desired_state',
      'state',
      'power_state',
      'state_reason',
      'state_changed_at',
      'health',
      'started_at',
      'created_at',
      'updated_at',
      'uptime_seconds',
      'restarts',
      'endpoints',
      'depends_on',
      'dependents',
      'critical',
      'config_revision',
      'labels',
      'last_error',
    ];
    const more = { viewer: [], operator: ['version', 'actions'], admin: ['version', 'options', 'actions'] };
    for (const [role, members] of Object.entries(more)) {
      const { token } = role === 'admin' ? at.admin : await at.person(`one-${role}`, role as 'viewer');
      const row = (await at.call('GET', '/api/services/scheduler', { token })).json();
      assert.deepEqual(Object.keys(row).sort(), [...everybody, ...members].sort(), role);
    }
  });

  it('has the jobs that there are', async () => {
    const { checks } = (await service('scheduler'))['health'] as { checks: { name: string }[] };
    const names = checks.map(({ name }) => name);
    for (const name of [
      'changed settings',
      'failed logins',
      'old responses',
      'old tasks',
      'used and expired tokens',
    ])
      assert.ok(names.includes(name), name);
  });

  it('carries no key, and is found by its guid', async () => {
    const connection = await service('connection-up');
    assert.doesNotMatch(JSON.stringify(connection), /upstream-secret|apiKey|api_key/i);
    assert.equal((await service(String(connection['guid'])))['id'], 'connection-up');
  });
});

describe('stopping the model endpoints', () => {
  it('lets a stream finish, answers others in their dialect, and keeps the management API going', async () => {
    const gate = Promise.withResolvers<void>();
    const stream = await beginStream(chat, gate.promise);
    refused(await operate('stop'), 400);
    const dry = await operate('stop', {}, 'data-plane', '?dry_run=true');
    const foreseen = dry.json()['result'] as { dependents: string[]; open_requests: number };
    assert.deepEqual([foreseen.open_requests, foreseen.dependents.includes('connection-up')], [1, true]);
    assert.equal((await service())['state'], 'running');

    const stop = await operate('stop', confirmed);
    assert.deepEqual([stop.status, stop.json()['success']], [200, true], stop.text);
    assert.equal((await service())['state'], 'draining');
    const { token: operator } = await at.person('op', 'operator');
    const task = await at.call('GET', String(stop.json()['task_href']), { token: operator });
    assert.deepEqual(
      [task.json()['state'], task.json()['message']],
      ['Active', 'Open requests may finish: 1'],
    );
    for (const format of formats) {
      const reply = await ask(format);
      assert.equal(reply.status, 503, reply.text);
      assert.equal(reply.header('retry-after'), '30');
      assert.match(reply.text, /stopped by an operator/);
    }
    assert.equal((await ask(messages)).json()['type'], 'error', 'in the dialect of the path');
    const gemini = await at.gateway.ask('/v1beta/models/m-1:generateContent', { contents: [] });
    assert.equal((gemini.json()['error'] as { code: number }).code, 503);
    const models = await at.gateway.send({
      method: 'GET',
      path: '/v1/models',
      headers: bearer(at.gateway.key),
    });
    assert.equal(models.status, 503);
    refused(await operate('start'), 409, 'conflict');

    gate.resolve();
    const whole = await stream.whole;
    assert.equal(whole.end, 'complete');
    assert.ok(whole.text.endsWith('data: [DONE]\n\n'), whole.text.slice(-100));
    await waitFor('the end of the task', async () => {
      const { token } = await at.person('op', 'operator');
      const task = await at.call('GET', String(stop.json()['task_href']), { token });
      assert.equal(task.status, 200, task.text);
      return task.json()['state'] === 'Finished' && task.json()['status'] === 'Ok';
    });
    const { power_state, state } = await service();
    assert.deepEqual([state, power_state], ['stopped', 'off']);
    await waitFor('not to be ready', async () => {
      const ready = await at.gateway.send({ method: 'GET', path: '/readyz' });
      return ready.status === 503 && ready.text.includes('"failing":["data-plane"]');
    });
    assert.equal((await at.gateway.send({ method: 'GET', path: '/healthz' })).status, 200);

    const start = await operate('start');
    assert.deepEqual([start.status, start.json()['success']], [200, true], start.text);
    upstream.script([open(), chunk(chat.stream().text), end()]);
    assert.equal((await ask(chat, { stream: true })).status, 200);
    const again = await operate('start');
    assert.deepEqual(again.json()['result'], { changed: false });
  });

  it('can end open requests by force, with the error of their dialect', async () => {
    const stream = await beginStream(messages, new Promise(() => {}));
    const restart = await operate('restart', { resource: { confirm: 'data-plane', force: true } });
    assert.equal(restart.status, 200, restart.text);
    const whole = await stream.whole;
    assert.match(whole.text, /event: error\n/);
    assert.match(whole.text, /being restarted/);
    await waitFor('the data plane', async () => (await service())['state'] === 'running');
    assert.equal(((await service())['restarts'] as { count: number }).count, 1);
  });

  it('refuses what comes over a WebSocket, and serves it again afterwards', async () => {
    const client = await openSocket(at.gateway);
    try {
      await operate('stop', confirmed);
      client.create({ model: 'up/m-1', input: 'hi' });
      assert.match(JSON.stringify(await client.answer()), /data_plane_stopped|stopped by an operator/);
      await operate('start');
      upstream.always(open(), chunk(chat.stream().text), end());
      client.create({ model: 'up/m-1', input: 'hi' });
      assert.equal((await client.answer()).at(-1)?.type, 'response.completed');
    } finally {
      client.ws.terminate();
    }
  });

  it('survives a restart, and an interrupted task says so', async () => {
    await beginStream(chat, new Promise(() => {}));
    const stop = await operate('stop', confirmed);
    await at.gateway.kill();
    await at.gateway.restart();
    const row = await service();
    assert.deepEqual([row['state'], row['desired_state']], ['stopped', 'stopped']);
    assert.equal((await ask(chat)).status, 503);
    const task = await at.call('GET', String(stop.json()['task_href']), { token: at.admin.token });
    assert.deepEqual([task.json()['state'], task.json()['status']], ['Finished', 'Error'], task.text);
  });
});

describe('a connection as a service', () => {
  it('is announced to watchers', async () => {
    const client = await at.gateway.client();
    clients.push(client);
    const headers = { host: `127.0.0.1:${at.gateway.port}`, 'x-auth-token': at.admin.token };
    await client.send({ method: 'GET', path: '/api/live?topics=services', headers });
    const stream = await client.open();
    await stream.until('watching');
    await operate('stop', {}, 'connection-anth');
    await stream.until('"id":"connection-anth","action":"stop"');
    await operate('start', {}, 'connection-anth');
    await stream.until('"id":"connection-anth","action":"start"');
  });

  it('can be deleted, which the parts of every gateway cannot', async () => {
    const { token } = at.admin;
    await at.gateway.connect({ provider: 'openai-compatible', name: 'gone', baseUrl: upstream.url });
    assert.equal((await at.call('DELETE', '/api/services/connection-gone', { token })).status, 204);
    refused(await at.call('GET', '/api/services/connection-gone', { token }), 404);
    refused(await at.call('DELETE', '/api/services/store', { token }), 409, 'conflict');
    const advertised = JSON.stringify((await service('store'))['actions']);
    assert.doesNotMatch(advertised, /"delete"/);
  });

  it('takes requests or does not, at once', async () => {
    upstream.always(open(), chunk(chat.stream().text), end());
    assert.equal((await ask(chat, { stream: true })).status, 200);
    const stop = await operate('stop', {}, 'connection-up');
    assert.equal(stop.status, 200, stop.text);
    assert.notEqual((await ask(chat, { stream: true })).status, 200);
    await operate('start', {}, 'connection-up');
    assert.equal((await ask(chat, { stream: true })).status, 200);
  });

  it('is tested by asking its upstream', async () => {
    upstream.always(json(200, { data: [{ id: 'm-1' }] }));
    const reply = await operate('test', {}, 'connection-up');
    assert.equal(reply.status, 200, reply.text);
    assert.equal(upstream.requests.length, 1);
    const { checks, status } = (await service('connection-up'))['health'] as {
      status: string;
      checks: { name: string; observed_at: string }[];
    };
    assert.deepEqual([status, checks.map(({ name }) => name)], ['pass', ['last_test', 'requests']]);
    refused(await operate('test', {}, 'connection-up'), 429);
  });
});
