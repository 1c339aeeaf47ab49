import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { openSocket } from '../../support/clients/socket.ts';
import { chat, responses } from '../../support/formats/formats.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { hang, json, type Step, stall } from '../../support/upstream/steps.ts';

/** Two processes serve the data plane of one gateway. */
const at = setting({ env: { GATEWAY_WORKERS: '2' } });

type Row = Record<string, unknown>;

interface Check {
  name: string;
  status: string;
  output: string;
}

async function service(gateway: RunningGateway = at.gateway): Promise<{ state: string; checks: Check[] }> {
  const reply = await gateway.manage('GET', '/api/services/workers');
  assert.equal(reply.status, 200, reply.text);
  const { health, state } = reply.json() as { state: string; health: { checks: Check[] } };
  return { state, checks: health.checks };
}

/** The processes of the workers that serve. */
async function pids(gateway: RunningGateway = at.gateway): Promise<number[]> {
  const { checks } = await service(gateway);
  return checks.flatMap(({ output, status }) => {
    const pid = /^serving, process (\d+),/.exec(output)?.[1];
    return status === 'pass' && pid !== undefined ? [Number(pid)] : [];
  });
}

async function bothServe(gateway: RunningGateway = at.gateway): Promise<[number, number]> {
  let found: number[] = [];
  await waitFor('both workers', async () => {
    found = await pids(gateway);
    return found.length === 2;
  });
  const [one = 0, other = 0] = found;
  return [one, other];
}

/** Does something while the other worker cannot take any connection. */
async function through<T>(other: number, run: () => Promise<T>): Promise<T> {
  process.kill(other, 'SIGSTOP');
  try {
    // Until then it may still accept a connection, which would wait for it.
    await waitFor('the worker to stand still', () => stateOf(other) === 'T');
    return await run();
  } finally {
    process.kill(other, 'SIGCONT');
  }
}

/** proc_pid_stat(5): the state follows the name in brackets. */
function stateOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
}

/** Waits until all workers know what one of them had told before: each answers behind what it tells and is told. */
async function allHeard(): Promise<void> {
  for (const way of ['to the owner', 'to the others']) {
    const reply = await at.gateway.manage('GET', '/api/running_requests');
    assert.equal(reply.status, 200, `${way}: ${reply.text}`);
  }
}

async function keyWith(limits: Row): Promise<{ id: string; key: string }> {
  const name = `key-${Math.random().toString(36).slice(2)}`;
  const reply = await at.gateway.manage('POST', '/api/keys', { name, ...limits });
  assert.equal(reply.status, 200, reply.text);
  const [made] = (reply.json() as { results: { id: string; key: string }[] }).results;
  assert.ok(made);
  return made;
}

async function budgetsOf(keyId: string): Promise<Row[]> {
  const reply = await at.gateway.manage('GET', '/api/budgets?expand=resources');
  const { resources } = reply.json() as { resources: Row[] };
  return resources.filter(({ subject }) => subject === keyId);
}

const ask = (key: string, more: object = {}) => at.gateway.ask(chat.path, chat.request(more), bearer(key));

const times = <T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

const statuses = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

/** An answer that waits until `gate` opens. */
const answerAfter = (gate: Promise<unknown>): Step[] => [stall(gate), json(200, chat.answer())];

describe('limits that two workers share', () => {
  it('let exactly 10 of 40 requests at once through a limit of 10', async () => {
    const { id, key } = await keyWith({ rpm: 10 });
    at.upstream.always(json(200, chat.answer()));
    const replies = await times(40, () => ask(key));
    assert.deepEqual([statuses(replies, 200), statuses(replies, 429)], [10, 30]);
    assert.equal(at.upstream.requests.length, 10);
    const [budget] = await budgetsOf(id);
    assert.deepEqual([budget?.['spent'], budget?.['reserved'], budget?.['remaining']], [10, 0, 0]);
    for (const reply of replies) assert.equal(reply.header('x-ratelimit-limit-requests'), '10');
  });

  it('let exactly as many through where they reserve room in advance', async () => {
    const { id, key } = await keyWith({});
    const budget = { scope: 'key', subject: id, metric: 'requests', limit: 400, period: 'week' };
    const made = await at.gateway.manage('POST', '/api/budgets', budget);
    assert.equal(made.status, 200, made.text);
    at.upstream.always(json(200, chat.answer()));
    const replies = (
      await times(20, async () => {
        const own: Reply[] = [];
        for (let sent = 0; sent < 25; sent += 1) own.push(await ask(key));
        return own;
      })
    ).flat();
    assert.deepEqual([statuses(replies, 200), statuses(replies, 402) + statuses(replies, 429)], [400, 100]);
    const [shown] = await budgetsOf(id);
    assert.deepEqual([shown?.['spent'], shown?.['reserved'], shown?.['remaining']], [400, 0, 0]);
  });

  it('hold a number of requests at the same time, and give it back as soon as one has ended', async () => {
    const { id, key } = await keyWith({});
    const made = await at.gateway.manage('POST', '/api/budgets', {
      scope: 'key',
      subject: id,
      metric: 'concurrency',
      limit: 4,
    });
    assert.equal(made.status, 200, made.text);
    const gate = Promise.withResolvers<void>();
    at.upstream.always(...answerAfter(gate.promise));
    const ended: Reply[] = [];
    const all = times(20, async () => ended.push(await ask(key)));
    await waitFor('the refusals', () => ended.length === 16);
    assert.equal(statuses(ended, 429), 16);
    gate.resolve();
    await all;
    assert.equal(statuses(ended, 200), 4);
    at.upstream.always(json(200, chat.answer()));
    for (let index = 0; index < 12; index += 1) assert.equal((await ask(key)).status, 200);
  });
});

describe('the health that one worker learns', () => {
  it('is shared with the other one: when an account may be asked again', async () => {
    const [one, other] = await bothServe();
    const connection = { provider: 'openai-compatible', name: 'paused', baseUrl: at.upstream.url };
    await at.gateway.connect(connection);
    const error = { message: 'slow down', type: 'rate_limit_error' };
    at.upstream.always(json(429, { error }, { 'retry-after': '300' }));
    const model = 'paused/m-1';
    assert.equal((await through(other, () => ask(at.gateway.key, { model }))).status, 429);
    assert.equal(at.upstream.requests.length, 1);
    await allHeard();
    const refused = await through(one, () => ask(at.gateway.key, { model }));
    assert.equal(refused.status, 429, refused.text);
    assert.equal(at.upstream.requests.length, 1, 'it was not asked again');
  });
});

describe('what two workers record', () => {
  it('is each request once, whoever served it', async () => {
    at.upstream.always(json(200, chat.answer()));
    const replies = await times(120, () => ask(at.gateway.key));
    const ids = replies.map((reply) => reply.header('x-request-id') ?? '');
    assert.equal(new Set(ids).size, 120);
    await waitFor('their rows', async () => {
      const rows = new Set((await at.gateway.entries()).map((row) => row.id));
      return ids.every((id) => rows.has(id));
    });
    const rows = (await at.gateway.entries()).filter((row) => ids.includes(row.id));
    assert.equal(rows.length, 120);
    // Other tests of the file have sent some too: counted are those of both workers, the moment that they are asked for.
    const count = async () =>
      Number(
        /^modelgate_http_requests_total\{surface="models",method="POST",status="200"\} (\d+)$/m.exec(
          (await at.gateway.manage('GET', '/metrics')).text,
        )?.[1],
      );
    const before = await count();
    await times(40, () => ask(at.gateway.key));
    assert.equal((await count()) - before, 40);
    const metrics = await at.gateway.manage('GET', '/metrics');
    assert.match(metrics.text, /^modelgate_workers\{state="serving"\} 2$/m);
  });

  it('is available to the other one: a response continues an earlier one', async () => {
    const [one, other] = await bothServe();
    at.upstream.always(json(200, chat.answer()));
    const post = (body: object) => at.gateway.ask(responses.path, { model: 'up/m-1', ...body });
    const first = await through(other, () => post({ input: 'One?' }));
    assert.equal(first.status, 200, first.text);
    await at.gateway.entry(first.header('x-request-id'));
    const { id } = first.json() as { id: string };
    const second = await through(one, () => post({ input: 'Two?', previous_response_id: id }));
    assert.equal(second.status, 200, second.text);
    const sent = (await (await at.upstream.request(1)).whole).toString();
    assert.match(sent, /One\?/);
    const read = await through(one, () =>
      at.gateway.send({ method: 'GET', path: `/v1/responses/${id}`, headers: bearer(at.gateway.key) }),
    );
    assert.equal(read.status, 200, read.text);
  });

  it('can be continued the moment that it was answered', async () => {
    at.upstream.always(json(200, chat.answer()));
    const post = (body: object) => at.gateway.ask(responses.path, { model: 'up/m-1', ...body });
    const { id } = (await post({ input: 'One?' })).json() as { id: string };
    const replies = await times(12, () => post({ input: 'Two?', previous_response_id: id }));
    assert.equal(statuses(replies, 200), 12, replies.find(({ status }) => status !== 200)?.text);
  });
});

describe('settings', () => {
  it('are in force on both when the management API has answered', async () => {
    at.upstream.always(json(200, chat.answer()));
    const { id, key } = await keyWith({});
    assert.equal(statuses(await times(16, () => ask(key)), 200), 16);
    const removed = await at.gateway.manage('DELETE', `/api/keys/${id}`);
    assert.ok(removed.status < 300, removed.text);
    assert.equal(statuses(await times(16, () => ask(key)), 401), 16);
  });

  it('stop the model endpoints of both, and start them', async () => {
    const act = (body: object) => at.gateway.manage('POST', '/api/services/data-plane', body);
    const stopped = await act({ action: 'stop', resource: { confirm: 'data-plane' } });
    assert.equal(stopped.status, 200, stopped.text);
    assert.equal(statuses(await times(8, () => ask(at.gateway.key)), 503), 8);
    const started = await act({ action: 'start' });
    assert.equal(started.status, 200, started.text);
    at.upstream.always(json(200, chat.answer()));
    assert.equal(statuses(await times(8, () => ask(at.gateway.key)), 200), 8);
  });
});

describe('what workers do not serve', () => {
  it('is passed on to the owner with the address of the client', async () => {
    const replies = await times(8, () => at.gateway.manage('GET', '/api/services'));
    assert.equal(statuses(replies, 200), 8, 'who calls from this machine is known to');
    const forged = await at.gateway.send({
      method: 'GET',
      path: '/api/services',
      headers: { host: `127.0.0.1:${at.gateway.port}`, 'x-forwarded-for': '10.0.0.1' },
    });
    assert.equal(forged.status, 401);
    const missing = await at.gateway.send({ method: 'GET', path: '/nothing', headers: {} });
    assert.equal(missing.status, 404);
    const ready = await at.gateway.send({ method: 'GET', path: '/readyz', headers: {} });
    assert.equal(ready.status, 200, ready.text);
  });

  it('is not reached past them: its socket belongs to this user', () => {
    const { mode } = statSync(`${at.gateway.dataDir}/workers.sock`);
    assert.equal(mode & 0o777, 0o600);
  });

  it('serves WebSockets', async () => {
    const socket = await openSocket(at.gateway);
    socket.create({ model: 'demo/echo', input: 'hi' });
    await socket.until('response.completed');
    socket.ws.close();
    await socket.closed;
  });

  it('shows the running requests of both, and all as they end', async () => {
    const [one, other] = await bothServe();
    const client = await at.gateway.client();
    const { key } = JSON.parse(readFileSync(`${at.gateway.dataDir}/run.json`, 'utf8')) as { key: string };
    const headers = { host: `127.0.0.1:${at.gateway.port}`, 'x-auth-token': key };
    await client.send({ method: 'GET', path: '/api/live?topics=requests', headers });
    const live = await client.open();
    const gate = Promise.withResolvers<void>();
    at.upstream.always(...answerAfter(gate.promise));
    const asked: Promise<Reply>[] = [];
    for (const [index, stopped] of [one, other].entries())
      await through(stopped, async () => {
        asked.push(ask(at.gateway.key));
        await at.upstream.request(index);
      });
    const running = await at.gateway.manage('GET', '/api/running_requests?expand=resources');
    assert.equal((running.json() as { resources: Row[] }).resources.length, 2, running.text);
    gate.resolve();
    for (const reply of await Promise.all(asked)) await live.until(reply.header('x-request-id') ?? 'none');
    client.destroy();
  });
});

describe('a worker that is killed', () => {
  it('costs its own open requests, leaves nothing reserved, and is started again', async () => {
    const [victim, other] = await bothServe();
    const { id, key } = await keyWith({ budget_usd: 100, budget_unpriced: 'allow', tpm: 1_000_000 });
    at.upstream.always(hang());
    const lost = through(other, async () => {
      const reply = ask(key).then(
        ({ status }) => status,
        () => 'cut',
      );
      await at.upstream.request(0);
      return { reply };
    });
    const { reply } = await lost;
    const held = (await budgetsOf(id)).map(({ reserved }) => Number(reserved));
    assert.ok(
      held.some((amount) => amount > 0),
      'the request holds something',
    );
    at.upstream.always(json(200, chat.answer()));
    process.kill(victim, 'SIGKILL');
    assert.equal(await reply, 'cut');
    const others = await times(20, () => ask(at.gateway.key));
    assert.equal(statuses(others, 200), 20, 'the other worker goes on');
    const next = await bothServe();
    assert.ok(!next.includes(victim));
    for (const { reserved } of await budgetsOf(id)) assert.equal(reserved, 0);
    const { checks } = await service();
    assert.match(checks.find(({ name }) => name === 'restarts')?.output ?? '', /^1 since/);
    const metrics = await at.gateway.manage('GET', '/metrics');
    assert.match(metrics.text, /^modelgate_worker_restarts_total 1$/m);
    const ids = others.map((one) => one.header('x-request-id') ?? '');
    for (const one of ids) await at.gateway.entry(one);
  });
});

describe('the ledger of a gateway with workers', () => {
  it('has what each worker had answered when it was killed', async () => {
    at.upstream.always(json(200, chat.answer()));
    const answered: string[] = [];
    const asking = { on: true };
    const clients = times(8, async () => {
      while (asking.on) {
        const reply = await ask(at.gateway.key).catch(() => null);
        if (reply?.status === 200 && reply.end !== 'cut') answered.push(reply.header('x-request-id') ?? '');
      }
    });
    for (let kills = 1; kills <= 3; kills += 1) {
      const [victim] = await bothServe();
      const before = answered.length;
      await waitFor('answers', () => answered.length >= before + 50);
      process.kill(victim, 'SIGKILL');
      await waitFor('its end', () => !existsSync(`/proc/${victim}/fd/2`));
    }
    asking.on = false;
    await clients;
    await bothServe();
    await waitFor('all rows', async () => {
      const rows = new Set((await at.gateway.entries(1_000_000)).map((row) => row.id));
      // A worker does one thing at a time: its row follows the end of an answer in the same turn of the event loop.
      return answered.filter((id) => !rows.has(id)).length <= 3;
    });
    const rows = (await at.gateway.entries(1_000_000)).map((row) => row.id);
    assert.equal(new Set(rows).size, rows.length, 'each once');
  });

  it('has what its workers had answered when the gateway was killed', async () => {
    const connection = { provider: 'openai-compatible', name: 'up', baseUrl: at.upstream.url };
    const gateway = await startGateway({ env: { GATEWAY_WORKERS: '2' }, connections: [connection] });
    try {
      at.upstream.always(json(200, chat.answer()));
      const answered: string[] = [];
      const clients = times(8, async () => {
        for (;;) {
          const reply = await gateway.ask(chat.path, chat.request()).catch(() => null);
          if (reply?.status !== 200 || reply.end === 'cut') return;
          answered.push(reply.header('x-request-id') ?? '');
        }
      });
      await waitFor('answers', () => answered.length >= 100);
      await gateway.kill();
      await clients;
      await gateway.restart();
      const rows = new Set((await gateway.entries(1_000_000)).map((row) => row.id));
      const lost = answered.filter((id) => !rows.has(id));
      assert.ok(lost.length <= 2, `${lost.length} of ${answered.length} are lost`);
    } finally {
      await gateway.stop();
    }
  });
});

describe('the start of a gateway with workers', () => {
  it('waits for workers that take their time before they listen to it', async () => {
    const slow = 'data:text/javascript,await%20new%20Promise(done=>setTimeout(done,300))';
    const gateway = await startGateway({ env: { GATEWAY_WORKERS: '2', NODE_OPTIONS: `--import=${slow}` } });
    try {
      await bothServe(gateway);
    } finally {
      await gateway.stop();
    }
  });
});

describe('the end of a gateway with workers', () => {
  it('by SIGTERM lets requests of both finish', async () => {
    const gateway = await startGateway({ env: { GATEWAY_WORKERS: '2' } });
    try {
      await gateway.connect({ provider: 'openai-compatible', name: 'up', baseUrl: at.upstream.url });
      const [one, other] = await bothServe(gateway);
      const gate = Promise.withResolvers<void>();
      at.upstream.always(...answerAfter(gate.promise));
      const asked: Promise<Reply>[] = [];
      for (const [index, stopped] of [one, other].entries())
        await through(stopped, async () => {
          asked.push(gateway.ask(chat.path, chat.request()));
          await at.upstream.request(index);
        });
      const stopped = gateway.stopServing();
      await waitFor('the drain', () => gateway.output().stderr.includes('stopping'));
      gate.resolve();
      const replies = await Promise.all(asked);
      assert.equal(statuses(replies, 200), 2);
      await stopped;
      const rows = (await gateway.entries()).map((row) => row.id);
      for (const reply of replies) assert.ok(rows.includes(reply.header('x-request-id') ?? ''));
      assert.equal(existsSync(`${gateway.dataDir}/workers.sock`), false);
    } finally {
      await gateway.stop();
    }
  });

  it('by SIGTERM ends what WebSockets still carry with an error, and closes them in good order', async () => {
    const gateway = await startGateway({ config: { drain_ms: 300 }, env: { GATEWAY_WORKERS: '2' } });
    try {
      await gateway.connect({ provider: 'openai-compatible', name: 'up', baseUrl: at.upstream.url });
      at.upstream.always(hang());
      const [idle, busy] = await Promise.all([openSocket(gateway), openSocket(gateway)]);
      busy.create({ model: 'up/m-1', input: 'hi' });
      await at.upstream.request(0);
      const stopped = gateway.stopServing();
      const refused = await busy.until('error');
      assert.deepEqual([refused.status, refused.headers?.['retry-after']], [503, '5']);
      assert.deepEqual(await Promise.all([idle.closed, busy.closed]), [1001, 1001]);
      await stopped;
    } finally {
      await gateway.stop();
    }
  });

  it('by SIGKILL ends the workers too', async () => {
    const gateway = await startGateway({ env: { GATEWAY_WORKERS: '2' } });
    const workers = await bothServe(gateway);
    await gateway.kill();
    await waitFor('the end of the workers', () => workers.every((pid) => !existsSync(`/proc/${pid}/fd/2`)));
  });

  it('is an error for an invalid number of workers', async () => {
    const { code, stderr } = await at.gateway.cli('serve', '--port', '0', '--workers', 'many');
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--workers must be a number from 1 to 128, or auto/);
  });
});
