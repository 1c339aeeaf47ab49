import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { stub } from '../../test/support/machine/stub.ts';
import { admin } from '../../test/support/management/caller.ts';
import { noTokens } from '../../test/support/management/tokens.ts';
import { connectionStore } from '../connections/store.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { Caller, Row } from '../http/resource.ts';
import { createSchedule } from '../lib/time/schedule.ts';
import { openStore, type Store } from '../store/database.ts';
import { openServices } from './open.ts';
import { servicesResource } from './resource.ts';
import { serviceRow } from './schema.ts';

const viewer: Caller = {
  ...admin,
  role: 'viewer',
  userId: 'user_2',
  can: (permission) => permission.endsWith(':read'),
};

interface World {
  pending: number;
  fault: { message: string; at: number } | null;
  listening: { host: string; port: number } | null;
  time: number;
  reloads: number;
  calls: object[];
}

async function gateway(store: Store, dataDir: string, world: World) {
  const connections = connectionStore(store, Buffer.alloc(32, 1), () => world.time);
  const services = await openServices({
    store,
    connections,
    tokens: noTokens,
    schedule: createSchedule(),
    version: '1.2.3',
    config: { dataDir, drainMs: 30_000 },
    calls: () => [],
    reload: async () => {
      world.reloads += 1;
      return store.revision();
    },
    usable: () => 1,
    workers: null,
    sharing: null,
    ledger: { pending: () => world.pending, backlog: 10, fault: () => world.fault },
    listening: () => world.listening,
    publish: (event) => world.calls.push(event),
    a2a: {
      counts: () => ({ calls: 0, faults: 0, lastCallAt: null, lastFaultAt: null }),
      selfTest: async () => 'Its card has skills',
    },
    mcp: {
      counts: () => ({ calls: 0, faults: 0, lastCallAt: null, lastFaultAt: null }),
      selfTest: async () => 'It answers itself',
    },
    dashboardBuilt: () => true,
    tunnels: { created: () => [], start: async () => {}, stop: async () => {} },
    agents: {
      enabled: async () => [],
      status: () => {
        throw new Error('there is no agent');
      },
      test: () => Promise.reject(new Error('there is no agent')),
      start() {},
      async stop() {},
      async restart() {},
    },
    probe: async () => 200,
    conditionsOf: () => [],
    report: (error) => {
      throw error;
    },
    events: () => null,
    now: () => world.time,
  });
  const resource = servicesResource(services.resourceParts);
  const row = async (id: string, caller: Caller = admin): Promise<Row> => {
    const row = await resource.find(id, caller);
    assert.ok(row, id);
    return row;
  };
  const act = async (
    name: string,
    id: string,
    input: Record<string, unknown> = {},
    caller: Caller = admin,
  ) => {
    const action = resource.actions?.[name];
    assert.ok(action);
    return action.run(await row(id), input, caller);
  };
  const patch = async (id: string, input: Record<string, unknown>): Promise<Row> => {
    assert.ok(resource.update);
    return resource.update.run(await row(id), resource.update.input.parse(input), admin);
  };
  return { services, resource, connections, row, act, patch };
}

async function opened(test: TestContext) {
  const dataDir = temporaryFolder(test);
  const store = await openStore(dataDir);
  test.after(() => store.close());
  const world: World = {
    pending: 0,
    fault: null,
    reloads: 0,
    calls: [],
    listening: { host: '127.0.0.1', port: 20128 },
    time: Date.UTC(2026, 10, 21, 10),
  };
  const open = () => gateway(store, dataDir, world);
  return { ...(await open()), world, reopen: open };
}

function request() {
  const events = new EventEmitter();
  const response = stub<AnyExchange['response']>({
    on: (event, listener) => events.on(event, listener),
  });
  return { exchange: { response }, leave: () => void events.emit('close') };
}

const confirm = 'data-plane';

describe('the resource of services', () => {
  it('shows each part with its state, and no other', async (test) => {
    const { connections, resource, row, world } = await opened(test);
    await connections.add({
      provider: 'ollama',
      name: 'Home.1',
      baseUrl: null,
      apiKey: null,
      defaultModel: null,
    });
    world.time += 90_500;
    const rows = (await resource.list?.(admin)) ?? [];
    const states = Object.fromEntries(rows.map(({ id, state }) => [id, state]));
    assert.deepEqual(states, {
      management: 'running',
      'data-plane': 'running',
      store: 'running',
      scheduler: 'running',
      dashboard: 'running',
      events: 'running',
      mcp: 'running',
      a2a: 'running',
      'connection-Home.1': 'running',
    });
    for (const one of rows) {
      assert.deepEqual(serviceRow.strict().parse(one), one, 'the record is the row');
      assert.deepEqual(await row(String(one['guid'])), one, 'found by its guid');
    }
    assert.equal(await resource.find('nope', admin), null);
    const plane = await row('data-plane');
    assert.deepEqual(
      { ...plane, guid: null, health: null },
      {
        id: 'data-plane',
        guid: null,
        name: 'Data plane',
        description: plane['description'],
        kind: 'data_plane',
        desired_state: 'running',
        state: 'running',
        power_state: 'on',
        state_reason: null,
        state_changed_at: '2026-11-21T10:00:00.000Z',
        health: null,
        started_at: '2026-11-21T10:00:00.000Z',
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: '2026-11-21T10:00:00.000Z',
        uptime_seconds: 90,
        restarts: { count: 0, last_at: null },
        endpoints: [
          {
            protocol: 'http',
            host: '127.0.0.1',
            port: 20128,
            path: '/v1',
            visibility: 'loopback',
            tls: false,
          },
        ],
        depends_on: [{ id: 'store', href: '/api/services/store' }],
        dependents: [{ id: 'connection-Home.1', href: '/api/services/connection-Home.1' }],
        critical: true,
        version: '1.2.3',
        config_revision: 1,
        options: { drain_seconds: 30 },
        labels: {},
        last_error: null,
      },
    );
  });

  it('shows less to viewers', async (test) => {
    const { connections, resource, row, world } = await opened(test);
    world.listening = { host: '192.168.1.5', port: 20128 };
    const { id } = await connections.add({
      provider: 'openai',
      name: 'work',
      baseUrl: 'https://example.test/?k=hidden',
      apiKey: 'k',
      defaultModel: null,
    });
    const models = null;
    await connections.saveTest(id, {
      valid: false,
      error: 'at ?k=hidden',
      statusCode: 500,
      latencyMs: 1,
      models,
    });
    assert.match(JSON.stringify(await row('connection-work')), /hidden/);
    assert.doesNotMatch(JSON.stringify(await row('connection-work', viewer)), /hidden/);
    assert.equal((await row('connection-work', viewer))['state'], 'degraded');
    assert.deepEqual((await row('data-plane', viewer))['endpoints'], []);
    assert.equal(((await row('data-plane'))['endpoints'] as { visibility: string }[])[0]?.visibility, 'lan');
    assert.deepEqual(resource.guarded, { version: 'services:operate', options: 'services:update' });
    const stranger = { ...viewer, can: (permission: string) => permission === 'services:read' };
    assert.equal(await resource.find('connection-work', stranger), null);
    assert.deepEqual((await row('data-plane', stranger))['dependents'], []);
  });

  it('stops and starts the data plane, lets requests finish, and keeps it stopped over a restart', async (test) => {
    const { act, reopen, row, services, world } = await opened(test);
    const open = request();
    services.gate(open.exchange);
    await assert.rejects(act('stop', 'data-plane'), { code: 'invalid_request', param: 'confirm' });
    const first = await act('stop', 'data-plane', { confirm });
    assert.deepEqual([first.success, first.result], [true, { changed: true }]);
    assert.equal((await row('data-plane'))['state'], 'draining');
    const joined = await act('stop', 'data-plane', { confirm });
    assert.deepEqual([joined.taskId, joined.result], [first.taskId, { changed: false }]);
    await assert.rejects(act('start', 'data-plane'), (error: Error) => {
      assert.match(error.message, new RegExp(String(first.taskId)));
      return 'code' in error && error.code === 'conflict';
    });
    open.leave();
    await services.close();
    const task = await services.tasks.find(String(first.taskId));
    assert.deepEqual([task?.state, task?.status, task?.message], ['Finished', 'Ok', 'Data plane is stopped']);
    world.time += 2000;
    assert.deepEqual(services.readiness().failing, ['data-plane']);
    const stopped = await row('data-plane');
    assert.deepEqual(
      [
        stopped['desired_state'],
        stopped['power_state'],
        stopped['uptime_seconds'],
        stopped['config_revision'],
      ],
      ['stopped', 'off', null, 2],
    );
    const later = await reopen();
    assert.throws(() => later.services.gate(request().exchange), { code: 'data_plane_stopped' });
    assert.equal((await later.row('data-plane'))['guid'], stopped['guid']);
    const started = await later.act('start', 'data-plane');
    assert.deepEqual([started.message, started.result], ['Data plane is running', { changed: true }]);
    assert.deepEqual((await later.act('start', 'data-plane')).result, { changed: false });
    later.services.gate(request().exchange);
    world.time += 2000;
    assert.deepEqual(later.services.readiness().failing, []);
    await later.services.close();
  });

  it('restarts the data plane as one task, and ends by force what is open', async (test) => {
    const { act, row, services, world } = await opened(test);
    const open = request();
    services.gate(open.exchange);
    const first = await act('restart', 'data-plane', { confirm, force: true });
    assert.deepEqual(first.result, { changed: true, interrupted: 1 });
    const plane = await row('data-plane');
    assert.deepEqual(
      [plane['state'], plane['restarts']],
      ['running', { count: 1, last_at: '2026-11-21T10:00:00.000Z' }],
    );
    assert.ok(world.calls.some((event) => 'state' in event && event.state === 'draining'));
    open.leave();
    await services.close();
  });

  it('says in a dry run what an action would do', async (test) => {
    const { connections, resource, row, services } = await opened(test);
    await connections.add({
      provider: 'ollama',
      name: 'home',
      baseUrl: null,
      apiKey: null,
      defaultModel: null,
    });
    services.gate(request().exchange);
    const seen = await resource.actions?.['stop']?.preview?.(await row('data-plane'), {}, admin);
    assert.deepEqual(seen?.result, {
      changed: true,
      open_requests: 1,
      dependents: ['connection-home'],
      confirm: 'data-plane',
    });
    assert.equal((await row('data-plane'))['state'], 'running');
    await assert.rejects(async () => resource.actions?.['stop']?.preview?.(await row('store'), {}, admin), {
      code: 'conflict',
    });
    assert.deepEqual(await services.tasks.list(null), []);
    await services.close();
  });

  it('does not stop essential parts, nor start missing ones', async (test) => {
    const { act, resource, row, services } = await opened(test);
    const refused = [
      ...['stop', 'restart'].flatMap((action) =>
        ['management', 'store', 'scheduler'].map((id) => [action, id]),
      ),
      ['reload', 'dashboard'],
    ];
    for (const [action = '', id = ''] of refused)
      await assert.rejects(act(action, id, { confirm: id }), { code: 'conflict' }, `${action} ${id}`);
    const possible = async (id: string) => {
      const one = await row(id);
      return Object.entries(resource.actions ?? {})
        .filter(([, action]) => action.possible?.(one) ?? true)
        .map(([name]) => name);
    };
    assert.deepEqual(await possible('dashboard'), ['stop', 'restart', 'test']);
    assert.deepEqual(await possible('mcp'), ['stop', 'restart', 'test']);
    assert.deepEqual(await possible('management'), ['test']);
    assert.deepEqual(await possible('data-plane'), ['stop', 'restart', 'reload', 'test']);
    await act('stop', 'data-plane', { confirm });
    assert.deepEqual(await possible('data-plane'), ['start', 'test']);
    await services.close();
  });

  it('takes connections in and out of use, and tests them, not too often', async (test) => {
    const { act, connections, row, world } = await opened(test);
    const { id } = await connections.add({
      provider: 'ollama',
      name: 'home',
      baseUrl: 'http://127.0.0.1:9',
      apiKey: null,
      defaultModel: null,
    });
    const { guid } = await row('connection-home');
    assert.equal((await act('stop', 'connection-home')).message, 'home is stopped');
    assert.equal((await connections.find(id))?.active, false);
    assert.equal(world.reloads, 1);
    assert.equal((await row('connection-home'))['desired_state'], 'stopped');
    assert.deepEqual((await act('stop', 'connection-home')).result, { changed: false, interrupted: 0 });
    await act('start', 'connection-home');
    assert.equal((await connections.find(id))?.active, true);
    await assert.rejects(act('restart', 'connection-home'), { code: 'conflict' });
    const operator = { ...viewer, can: (permission: string) => permission !== 'connections:operate' };
    await assert.rejects(act('stop', 'connection-home', {}, operator), { code: 'forbidden' });
    const tested = await act('test', 'connection-home');
    assert.equal(tested.success, false);
    assert.equal((await row('connection-home'))['state'], 'degraded');
    await assert.rejects(act('test', 'connection-home'), { code: 'rate_limit_exceeded' });
    world.time += 5000;
    await act('test', 'connection-home');
    await connections.update(id, { name: 'away' });
    assert.equal((await row('connection-away'))['guid'], guid, 'another name, the same service');
  });

  it('changes labels and the option, and increments the version', async (test) => {
    const { act, patch, resource, row } = await opened(test);
    const before = await row('data-plane');
    const after = await patch('data-plane', { labels: { team: 'a' }, options: { drain_seconds: 0 } });
    assert.deepEqual(
      [after['labels'], after['options'], after['config_revision']],
      [{ team: 'a' }, { drain_seconds: 0 }, 2],
    );
    assert.notEqual(resource.revisionOf?.(before), resource.revisionOf?.(after));
    assert.deepEqual((await patch('data-plane', { options: { drain_seconds: null } }))['options'], {
      drain_seconds: 30,
    });
    await assert.rejects(patch('store', { options: { drain_seconds: 1 } }), {
      param: 'options.drain_seconds',
    });
    for (const input of [{ state: 'stopped' }, { labels: { '': 'x' } }, { options: { drain_seconds: -1 } }])
      assert.equal(resource.update?.input.safeParse(input).success, false, JSON.stringify(input));
    assert.match((await act('reload', 'data-plane')).message, /revision/);
  });

  it('is ready only while nothing critical fails, and looks again after a second', async (test) => {
    const { act, row, services, world } = await opened(test);
    assert.deepEqual(services.readiness().failing, []);
    world.pending = 10;
    assert.deepEqual(services.readiness().failing, [], 'seen just now');
    world.time += 1000;
    assert.deepEqual(services.readiness().failing, ['store']);
    assert.equal((await act('test', 'store')).success, false);
    world.pending = 0;
    assert.equal((await act('test', 'store')).success, true);
    world.fault = { message: 'database or disk is full', at: world.time };
    const store = await row('store');
    assert.deepEqual(
      [store['state'], store['last_error']],
      [
        'degraded',
        { code: 'write_failed', message: 'database or disk is full', at: '2026-11-21T10:00:01.000Z' },
      ],
    );
    world.listening = null;
    world.time += 61_000;
    assert.equal((await row('store'))['state'], 'running');
    assert.deepEqual(services.readiness().failing, ['management']);
    await delay(1);
  });
});
