import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '@redis/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { eventTypes } from '../../../src/events/types/catalogue.ts';
import { createLedger } from '../../../src/ledger/record.ts';
import { openStore } from '../../../src/store/database.ts';
import { createWriter } from '../../../src/store/writer.ts';
import { hasRedis, startRedis } from '../../support/brokers/redis.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { temporaryFolder } from '../../support/machine/folder.ts';
import { firstResult, managed } from '../../support/management/management.ts';
import { type HttpReceiver, startHttpReceiver } from '../../support/servers/http-receiver.ts';
import { madeEntry } from '../../support/store/ledger.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

/** The gateway's own events, as a receiver of all of them gets them. */
const managing = managed({ env: { EVENTS_PRIVATE_NETWORKS: 'true' }, ownPrograms: true });
const prompt = 'planted-prompt-that-stays-between-us';

const credential = 'planted-upstream-credential';
const planted = 'planted-words-of-the-upstream';

let receiver: HttpReceiver;
let upstream: Upstream;
before(async () => {
  upstream = await startUpstream();
  receiver = await startHttpReceiver();
});
after(async () => {
  await receiver?.close();
  await upstream?.close();
});

/** Causes what else the gateway tells of, each from its real place, and waits for it. */
async function causeOthers(token: string, seen: (name: string) => Promise<void>): Promise<void> {
  const { call, gateway } = managing;
  const [alert] = (await call('GET', '/api/alerts?expand=resources', { token })).json()['resources'] as {
    id: string;
  }[];
  await call('POST', `/api/alerts/${alert?.id}`, { token, body: { action: 'test' } });
  await seen('alert.test');

  await gateway.connect({
    name: 'failing',
    provider: 'openai-compatible',
    baseUrl: `${upstream.url}/v1`,
    apiKey: credential,
  });
  upstream.always(json(402, { error: { message: planted, code: 'insufficient_quota' } }));
  await ask('failing/m');
  await seen('provider.ratelimited');
  await gateway.forgive();
  await seen('provider.recovered');
  upstream.always(json(401, { error: { message: planted } }));
  await ask('failing/m');
  await seen('provider.down');
  await gateway.forgive();
  upstream.always(json(500, { error: { message: planted } }));
  for (let n = 0; n < 20 && !types().has('io.modelgate.circuit.opened.v1'); n += 1) await ask('failing/m');
  await seen('circuit.opened');
  await gateway.forgive();
  await seen('circuit.closed');

  await call('POST', '/api/combos', { token, body: { name: 'planted', targets: ['demo/echo'] } });
  await call('POST', '/api/combos/planted', { token, body: { action: 'activate' } });
  await seen('combo.switched');
  await call('POST', '/api/backups', { token, body: { include_key: false } });
  await seen('backup.completed');

  const file = join(gateway.dataDir, 'events.yaml');
  writeFileSync(file, 'components: {channels: [{unique_id: x}]}');
  await seen('config.rejected');
  writeFileSync(file, engineConfig(`${receiver.url}/refusing`));
  await seen('config.applied');
  receiver.answer(({ path }) => ({ status: path === '/refusing' ? 400 : 200 }));
  const headers = { 'content-type': 'application/cloudevents+json' };
  const event = { specversion: '1.0', source: 'shop', type: 'com.example.order', data: prompt };
  const send = (id: string) =>
    call('POST', '/api/events?source=shop', { token, headers, body: { ...event, id } });
  await waitFor('the source', async () => (await send('first')).status === 202);
  await seen('event.deadlettered');
  await call('POST', '/api/events?source=full', { token, headers, body: { ...event, id: 'a' } });
  for (const id of ['b', 'c', 'd'])
    await call('POST', '/api/events?source=full', {
      token,
      headers,
      body: { ...event, id, data: 'x'.repeat(900) },
    });
  await seen('event.dropped');
}

/** Tools of the machine, an export of credentials, a removal of old requests, and a backup that cannot be written. */
async function causeThoseOfTheMachine(token: string, seen: (name: string) => Promise<void>): Promise<void> {
  const { call, gateway } = managing;
  mkdirSync(join(gateway.home, 'bin'), { recursive: true });
  writeFileSync(join(gateway.home, 'bin', 'claude'), '#!/bin/sh\necho "2.1.329 (Claude Code)"\n', {
    mode: 0o755,
  });
  await call('GET', '/api/cli-tools/all-statuses', { token });
  await seen('tool.detected');
  const body = { base_url: gateway.url, api_key: gateway.key };
  const configured = await call('POST', '/api/cli-tools/claude-settings', { token, body });
  assert.equal(configured.status, 200, configured.text);
  await seen('tool.configured');

  const storageKey = readFileSync(join(gateway.dataDir, 'storage.key'), 'utf8').trim();
  const program = join(import.meta.dirname, '../../../src/cli/main.ts');
  const env = { DATA_DIR: gateway.dataDir, HOME: gateway.home, STORAGE_ENCRYPTION_KEY: storageKey };
  await promisify(execFile)(process.execPath, [program, 'auth', 'export', '--force'], { env });
  await seen('auth.exported');

  const store = await openStore(gateway.dataDir);
  const writer = createWriter(store);
  createLedger(writer).record(madeEntry({ id: 'req_old', startedAt: Date.now() - 90 * 86_400_000 }));
  await writer.stop();
  await store.close();
  await promisify(execFile)(process.execPath, [program, 'storage', 'prune', '--older-than', '60', '--yes'], {
    env,
  });
  await seen('ledger.pruned');

  const backups = join(gateway.dataDir, 'backups');
  renameSync(backups, `${backups}-aside`);
  writeFileSync(backups, 'a file in the place of the folder');
  await call('POST', '/api/backups', { token, body: { include_key: false } });
  await seen('backup.failed');
  rmSync(backups);
  renameSync(`${backups}-aside`, backups);
}

/** A message queue that refuses to delete, and one for dead letters that is not there. */
async function causeThoseOfQueues(folder: string, seen: (name: string) => Promise<void>): Promise<void> {
  const server = await startRedis(join(folder, 'queue'));
  const letters = await startRedis(join(folder, 'letters'));
  try {
    const client = createClient({ url: server.url });
    await client.connect();
    await client.sendCommand(['ACL', 'SETUSER', 'default', '-xack']);
    await letters.kill();
    const file = join(managing.gateway.dataDir, 'events.yaml');
    writeFileSync(file, queueConfig(`${receiver.url}/refusing`, server.url, letters.url));
    const seenWhileAsking = async (...names: string[]) => {
      const asking = setInterval(() => void ask('demo/echo').catch(() => {}), 200);
      await Promise.all(names.map(seen)).finally(() => clearInterval(asking));
    };
    await seenWhileAsking('channel.degraded', 'trigger.paused');
    await client.sendCommand(['ACL', 'SETUSER', 'default', '+@all']);
    await letters.start();
    await seenWhileAsking('channel.recovered', 'trigger.resumed');
    await client.close();
  } finally {
    await server.kill();
    await letters.kill();
  }
}

const queueConfig = (refusing: string, queue: string, letters: string) => `components:
  channels:
    - {unique_id: main, url: "${queue}", mq_topic_name: main}
    - {unique_id: failed, url: "${letters}", mq_topic_name: failed}
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${refusing}"}
    - ref: {unique_id: log, kind: log}
strategy:
  trigger_strategies:
    - {event_trigger_id: hook, dead_letter_strategy: {enable: true, channel: {unique_id: failed}}}
router_rules:
  routers:
    - {source_id: gw, trigger_id: hook, channel_id: main, filter: {cesql: "type LIKE '%.request.%'"}}
    - {source_id: gw, trigger_id: log, channel_id: main, filter: {cesql: "type LIKE '%.request.%'"}}
`;

const engineConfig = (refusing: string) => `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources:
    - ref: {unique_id: shop, kind: http}
    - ref: {unique_id: full, kind: http}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${refusing}"}
    - ref: {unique_id: log, kind: log}
strategy:
  source_strategies:
    - event_source_id: full
      async_send: true
      fault_tolerant_storage: {persistence_type: MEMORY, persistence_size: 2000, full_strategy: DROP}
      runtime_strategy: {concurrency_limit_strateg: {max_concurrency: 0}}
  trigger_strategies:
    - {event_trigger_id: hook, dead_letter_strategy: {enable: true}}
router_rules:
  routers:
    - {source_id: shop, trigger_id: hook, channel_id: main}
    - {source_id: full, trigger_id: log, channel_id: main}
`;

const ask = (model: string) =>
  managing.gateway.ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: prompt }] });
const types = () => new Set(receiver.received.map(({ headers }) => headers['ce-type']));
const arrived = (name: string) => waitFor(`${name}`, () => types().has(`io.modelgate.${name}.v1`));

describe('the gateway’s own events', () => {
  it('cost nothing if they are not used', async () => {
    for (let n = 0; n < 5; n += 1) assert.equal((await ask('demo/echo')).status, 200);
    assert.equal(existsSync(join(managing.gateway.dataDir, 'events.db')), false);
  });

  it('are valid by the schemas that are served, and have no prompt, key, password or token', async (t) => {
    const { admin, call, gateway } = managing;
    const { token } = admin;
    const body = { kind: 'webhook', target: receiver.url, on: ['*'], digest_seconds: 0 };
    await call('POST', '/api/alerts', { token, body });
    const key = firstResult(await call('POST', '/api/keys', { token, body: { name: 'planted' } }));
    await arrived('key.created');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await gateway.ask(
      '/v1/chat/completions',
      { model: 'demo/echo', messages: [{ role: 'user', content: prompt }] },
      { traceparent },
    );
    await ask('demo/none-such');
    const path = `/api/keys/${key['id']}`;
    const rotated = await call('POST', path, { token, body: { action: 'rotate' } });
    await call('DELETE', path, { token });
    await call('GET', '/api/auth', { basic: ['admin', 'planted-wrong-password'] });
    const budget = await call('POST', '/api/budgets', {
      token,
      body: { metric: 'requests', limit: 12, period: 'day', soft_percent: 50 },
    });
    for (let n = 0; n < 12; n += 1) await ask('demo/echo');
    const wanted = ['key.created', 'key.rotated', 'key.revoked', 'request.completed', 'request.failed'];
    for (const name of [...wanted, 'auth.refused', 'budget.threshold', 'budget.exceeded'])
      await arrived(name);
    await call('DELETE', `/api/budgets/${firstResult(budget)['id']}`, { token });
    await causeOthers(token, arrived);
    await causeThoseOfTheMachine(token, arrived);
    const digest = {
      kind: 'webhook',
      target: `${receiver.url}/digest`,
      on: ['request.failed'],
      digest_seconds: 1,
    };
    await call('POST', '/api/alerts', { token, body: digest });
    for (let n = 0; n < 3; n += 1) await ask('demo/none-such');
    await arrived('alert.digest');
    if (hasRedis) await causeThoseOfQueues(temporaryFolder(t), arrived);
    // Those of what several gateways share: test/store/outage-events.test.ts.
    const names = Object.keys(eventTypes).filter(
      (name) => !/^(store|limits)\./.test(name) && (hasRedis || !/^(channel|trigger)\./.test(name)),
    );
    assert.deepEqual(
      names.filter((name) => !types().has(`io.modelgate.${name}.v1`)),
      [],
      'every type was caused from its place',
    );

    const ajv = new Ajv2020({ strict: true });
    addFormats.default(ajv);
    const own = receiver.received.filter(({ path }) => path !== '/refusing');
    for (const { body: data, headers } of own) {
      const schema = await call('GET', `/api/events/schemas/${headers['ce-type']}`, { token });
      assert.equal(schema.status, 200, schema.text);
      const validate =
        ajv.getSchema(String(headers['ce-dataschema'])) ?? ajv.compile(JSON.parse(schema.text));
      assert.equal(validate(JSON.parse(data)), true, `${headers['ce-type']}: ${data}`);
    }
    assert.ok(receiver.received.some(({ headers }) => headers['ce-traceparent'] === traceparent));
    const all = JSON.stringify(own);
    const secrets = [
      prompt,
      credential,
      planted,
      gateway.key,
      String(key['key']),
      token,
      'planted-wrong-password',
    ];
    const fresh = /sk-[A-Za-z0-9]{32}/.exec(rotated.text)?.[0] ?? assert.fail(rotated.text);
    for (const secret of [...secrets, fresh]) assert.equal(all.includes(secret), false, secret);
  });
});
