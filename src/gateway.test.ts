import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { Server } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startEventReceiver } from '../test/support/events/event-receiver.ts';
import { temporaryFolder } from '../test/support/machine/folder.ts';
import { loadConfig } from './config.ts';
import { createGateway, type GatewayInput } from './gateway.ts';
import { createLog } from './lib/log.ts';
import { databasePath } from './store/database.ts';
import { acquireDataDir } from './store/lock.ts';

const QUICK_MS = 2_000;

function gatewayOn(dataDir: string, input: Partial<GatewayInput> = {}) {
  const loaded = loadConfig({
    env: { DATA_DIR: dataDir, GATEWAY_AUTH_REQUIRED: 'false' },
    flags: { port: 0 },
  });
  // Nobody waits for open requests here.
  const config = { ...loaded, drainMs: 0 };
  const log = createLog({ level: 'silent', write: () => {}, pretty: false });
  return createGateway({ config, log, version: '0.0.0', ...input });
}

/** Sends a request and reads its answer. @returns its status */
async function answerOf(url: string): Promise<number> {
  const body = JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}

describe('a gateway in this process', () => {
  it('refuses a folder that another gateway uses, names its owner, and leaves it alone', async (test) => {
    const dataDir = temporaryFolder(test);
    const first = gatewayOn(dataDir);
    const { url } = await first.start();
    test.after(() => first.stop());
    await assert.rejects(gatewayOn(dataDir).start(), (error: Error) => {
      assert.ok(error.message.includes(`pid ${process.pid}, ${url}`), error.message);
      return true;
    });
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    assert.ok(existsSync(join(dataDir, 'run.json')));
  });

  it('releases the folder even when the ledger cannot be written at the end, and reports it', async (test) => {
    const dataDir = temporaryFolder(test);
    const gateway = gatewayOn(dataDir);
    const { url } = await gateway.start();
    const other = new DatabaseSync(databasePath(dataDir));
    test.after(() => other.close());
    other.exec('begin immediate');
    assert.equal(await answerOf(url), 200);
    await assert.rejects(gateway.stop(), /1 ledger entries could not be written: the database stayed busy/);
    assert.equal(existsSync(join(dataDir, 'run.json')), false);
    (await acquireDataDir(dataDir)).release();
  });

  it('names the part that does not close, and closes the others', async (test) => {
    const dataDir = temporaryFolder(test);
    const lines: string[] = [];
    const log = createLog({ level: 'error', write: (line) => lines.push(line), pretty: false });
    // Enough for what closes, on a slow machine.
    const gateway = gatewayOn(dataDir, { log, closeMs: QUICK_MS });
    await gateway.start();
    const servers = new Set<Server>();
    const { mock } = test.mock.method(Server.prototype, 'close', function neverCloses(this: Server) {
      servers.add(this);
      return this;
    });
    await assert.rejects(gateway.stop(), /These parts did not close in time: open requests, HTTP server$/);
    mock.restore();
    for (const server of servers) server.close();
    const named = lines.map((line) => (JSON.parse(line) as { part?: string }).part);
    assert.deepEqual(named, ['open requests', 'HTTP server']);
    assert.equal(existsSync(join(dataDir, 'run.json')), false);
    (await acquireDataDir(dataDir)).release();
  });

  it('waits longer for event deliveries in progress than for another part', async (test) => {
    const dataDir = temporaryFolder(test);
    const received = Promise.withResolvers<void>();
    const receiver = await startEventReceiver(async () => {
      received.resolve();
      await delay(3 * QUICK_MS);
      return 204;
    });
    test.after(() => receiver.close());
    writeFileSync(
      join(dataDir, 'events.yaml'),
      `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [{ref: {unique_id: own, kind: gateway}}]
  triggers: [{ref: {unique_id: hook, kind: http, name: "${receiver.url}"}}]
router_rules:
  routers: [{source_id: own, trigger_id: hook, channel_id: main}]
`,
    );
    const gateway = gatewayOn(dataDir, { closeMs: QUICK_MS });
    const { url } = await gateway.start();
    assert.equal(await answerOf(url), 200);
    await received.promise;
    await gateway.stop();
  });
});
