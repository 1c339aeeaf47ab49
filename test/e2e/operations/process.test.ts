import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startGateway, waitFor } from '../../support/gateway/gateway.ts';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('restarts in the same process on request, with the current config.json, and ends on request', async () => {
  const gateway = await startGateway();
  const runFile = () =>
    JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${gateway.url}/api/${path}`, {
      method,
      headers: { 'x-auth-token': runFile().key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const json = async (path: string) => (await (await ask('GET', path)).json()) as Record<string, unknown>;
  try {
    const before = await json('processes/this');
    const setting = await json('settings/limits.body_bytes');
    assert.deepEqual(setting['allowed'], { type: 'integer', minimum: 1024, maximum: 1_073_741_824 });
    assert.equal((await ask('PATCH', 'settings/limits.body_bytes', { value: 4096 })).status, 200);
    const dry = await ask('POST', 'processes/this?dry_run=true', { action: 'restart' });
    assert.equal(dry.status, 200);
    assert.deepEqual(await json('processes/this'), before, 'a dry run does nothing');
    const restart = await ask('POST', 'processes/this', { action: 'restart' });
    assert.deepEqual([restart.status, ((await restart.json()) as { success: boolean }).success], [200, true]);
    const after = await (async () => {
      let row: Record<string, unknown> = before;
      await waitFor('the gateway to be back at its port', async () => {
        row = await json('processes/this').catch(() => before);
        return row['started_at'] !== undefined && row['started_at'] !== before['started_at'];
      });
      return row;
    })();
    assert.equal(after['pid'], before['pid']);
    assert.equal((await json('settings/limits.body_bytes'))['value'], 4096);
    const stop = await ask('POST', 'processes/this', { action: 'stop' });
    assert.equal(stop.status, 200);
    await waitFor('the process to end', () => !isAlive(gateway.pid));
  } finally {
    await gateway.stop();
  }
});
