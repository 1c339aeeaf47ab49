import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox, type Serving } from './run.ts';

describe('commands beside a running gateway', () => {
  let sandbox: Sandbox;
  let serving: Serving;
  before(async () => {
    sandbox = await createSandbox();
    serving = await sandbox.serve();
  });
  after(() => sandbox.close());

  const chat = (key: string, model = 'demo/echo') =>
    fetch(`${serving.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
    });

  it('status says that it runs and where', async () => {
    const status = (await sandbox.run(['status', '--json'])).json();
    assert.deepEqual([status['running'], status['url']], [true, serving.url]);
    assert.match((await sandbox.run(['status'])).stdout, /^Running at http/);
  });

  it('test sends a whole and a streamed request and shows latency, tokens and cost', async () => {
    const ran = await sandbox.run(['test', '--json']);
    assert.equal(ran.code, 0, `${ran.stdout}${ran.stderr}`);
    const { ok, requests } = ran.json() as { ok: boolean; requests: Record<string, unknown>[] };
    assert.equal(ok, true);
    assert.deepEqual(
      requests.map((request) => request['streamed']),
      [false, true],
    );
    for (const request of requests) {
      assert.deepEqual([request['status'], request['error'], request['cost_usd']], [200, null, 0]);
      assert.ok(Number(request['latency_ms']) >= 0 && Number(request['output_tokens']) > 0);
      assert.match(String(request['request_id']), /^req_/);
    }
    assert.match((await sandbox.run(['test'])).stdout, /whole\s+ok in [\s\S]*streamed\s+ok in/);
  });

  it('test fails for a model that nobody serves', async () => {
    const ran = await sandbox.run(['test', '--model', 'nobody/nothing', '--json']);
    assert.equal(ran.code, 1);
    assert.equal(ran.json()['ok'], false);
  });

  it('a new key works at once, a removed one no longer', async () => {
    const { key, id } = (await sandbox.run(['keys', 'add', 'agent', '--json'])).json() as Record<
      string,
      string
    >;
    assert.equal((await chat(key ?? '')).status, 200);
    assert.equal((await sandbox.run(['keys', 'remove', id ?? '', '--yes'])).code, 0);
    assert.equal((await chat(key ?? '')).status, 401);
  });

  it('logs shows the requests oldest first, as JSON Lines with --json, and finds text in them', async () => {
    const { stdout } = await sandbox.run(['logs', '--json']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.ok(rows.length >= 2);
    const times = rows.map((row) => Date.parse(row.started_at));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    const row = rows.find(({ status, streamed }) => status === 200 && streamed);
    assert.deepEqual([row.provider, row.model, row.outcome, row.cost_usd], ['demo', 'echo', 'ok', 0]);
    assert.ok(row.usage.input > 0 && row.usage.output > 0);
    const one = await sandbox.run(['logs', '--json', '--limit', '1']);
    assert.equal(one.stdout.trimEnd().split('\n').length, 1);
    const nothing = await sandbox.run(['logs', '--json', '--search', 'no such text anywhere']);
    assert.equal(nothing.stdout, '');
    const old = await sandbox.run(['logs', '--json', '--since', '2099-01-01']);
    assert.equal(old.stdout, '');
    assert.match((await sandbox.run(['logs', '--since', '1h'])).stdout, /demo\/echo/);
  });

  it('logs --follow goes on with new requests', async () => {
    const child = sandbox.spawn(['logs', '--follow', '--json', '--limit', '0']);
    const { key } = (await sandbox.run(['keys', 'add', 'follower', '--json'])).json() as Record<
      string,
      string
    >;
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString('utf8');
    });
    await eventually(async () => (await chat(key ?? '')).status === 200);
    // The follower starts on its own time, so requests go on until it has shown one.
    await eventually(async () => {
      await chat(key ?? '');
      return text.includes('\n');
    });
    const [first = ''] = text.split('\n');
    assert.equal(JSON.parse(first).requested_model, 'demo/echo');
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    assert.equal(new Set(ids).size, ids.length);
    child.kill('SIGTERM');
    await once(child, 'close');
  });

  it('doctor accepts the port if this gateway uses it', async () => {
    const ran = await sandbox.run(['doctor', '--json', '--port', String(serving.port)]);
    assert.equal(ran.code, 0, ran.stdout);
    const { checks } = ran.json() as { checks: { name: string; status: string; message: string }[] };
    const port = checks.find(({ name }) => name === 'Port availability');
    assert.deepEqual([port?.status, /held by this gateway/.test(port?.message ?? '')], ['ok', true]);
    assert.equal(checks.find(({ name }) => name === 'Server liveness')?.status, 'ok');
    assert.equal(checks.find(({ name }) => name === 'Database')?.status, 'ok');
  });

  it('doctor recognizes its own unresponsive gateway, and another one by its answer', async () => {
    const portOf = async (box: Sandbox) => {
      const ran = await box.run(['doctor', '--json', '--no-liveness', '--port', String(serving.port)]);
      const { checks } = ran.json() as { checks: { name: string; status: string; message: string }[] };
      return checks.find(({ name }) => name === 'Port availability');
    };
    const other = await createSandbox();
    try {
      const found = await portOf(other);
      assert.equal(found?.status, 'warn');
      assert.match(found?.message ?? '', /Modelgate with another data directory/);
    } finally {
      await other.close();
    }
    const { pid } = (await sandbox.run(['status', '--json'])).json();
    process.kill(Number(pid), 'SIGSTOP');
    try {
      const found = await portOf(sandbox);
      assert.equal(found?.status, 'warn');
      assert.match(found?.message ?? '', new RegExp(`this gateway \\(pid ${pid}\\), which does not answer`));
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
  });

  it('commands that need the running gateway alone do not mind a config.json that is wrong', async () => {
    await writeFile(join(sandbox.dataDir, 'config.json'), '{"port": "many"');
    try {
      for (const command of [
        ['status'],
        ['health'],
        ['test'],
        ['events', 'status'],
        ['keys', 'add', 'while-broken'],
        ['budgets', 'list'],
        ['logs', '--limit', '1'],
        ['tools', 'list'],
      ]) {
        const { code, stderr } = await sandbox.run([...command, '--json']);
        assert.equal(code, 0, `gateway ${command.join(' ')}: ${stderr}`);
      }
      const { code, stderr } = await sandbox.run(['config', 'show']);
      assert.equal(code, 1);
      assert.match(stderr, /config\.json is not valid JSON/);
    } finally {
      await rm(join(sandbox.dataDir, 'config.json'));
    }
  });

  it('ends with exit 0 on SIGTERM, after which status says so', async () => {
    assert.deepEqual(await serving.stop(), { code: 0 });
    assert.equal((await sandbox.run(['status', '--json'])).json()['running'], false);
    assert.equal((await sandbox.run(['test'])).code, 3);
  });
});

describe('a gateway whose output nobody reads any more', () => {
  it('keeps running, and stops in order', async () => {
    const sandbox = await createSandbox();
    try {
      const serving = await sandbox.serve({ env: { GATEWAY_LOG_LEVEL: 'debug' } });
      serving.hangUp();
      assert.equal((await sandbox.run(['test'])).code, 0);
      assert.deepEqual(await serving.stop(), { code: 0 });
      assert.equal(existsSync(join(sandbox.dataDir, 'run.json')), false);
    } finally {
      await sandbox.close();
    }
  });

  it('blocks another gateway on its data directory: exit 1, naming the owner', async () => {
    const sandbox = await createSandbox();
    try {
      const serving = await sandbox.serve();
      const { code, stderr } = await sandbox.run(['serve', '--port', '0']);
      assert.equal(code, 1);
      assert.ok(stderr.includes(serving.url), stderr);
    } finally {
      await sandbox.close();
    }
  });
});

/** Tries until `condition` holds; the caller's test has the time limit of the runner. */
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}
