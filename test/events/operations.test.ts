import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../support/gateway/gateway.ts';
import { type Call, managed, refused } from '../support/management/management.ts';

const yaml = (url: string) => `components:
  channels: [{unique_id: main, url: "sqlite:", mq_topic_name: main}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers: [{ref: {unique_id: hook, kind: http, name: "${url}"}}]
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      dead_letter_strategy: {enable: true}
router_rules:
  routers:
    - {source_id: gw, trigger_id: hook, channel_id: main, filter: {cesql: "type LIKE '%.request.%'"}}
`;

interface Letter {
  id: string;
  trigger: string;
  reason: string;
  status: number;
  error: string;
  failures: { attempt: number; time: string; status: number; error: string }[];
  event: Record<string, unknown>;
}

describe('the event engine in the management API', () => {
  const at = managed();
  let status = 204;
  let received: string[] = [];
  const server = createServer((incoming, response) => {
    received.push(String(incoming.headers['ce-subject']));
    incoming.resume();
    response.writeHead(status).end();
  });
  const admin = (method: string, path: string, call: Call = {}) =>
    at.call(method, `/api/events${path}`, { token: at.admin.token, ...call });
  const ask = async () => {
    const body = { model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] };
    const reply = await at.gateway.ask('/v1/chat/completions', body);
    return reply.header('x-request-id') ?? '';
  };
  const letters = async (query = '') =>
    (await admin('GET', `/dead-letters${query}`)).json() as {
      count: number;
      next: string | null;
      resources: Letter[];
    };

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Only a file may send events to this machine.
    writeFileSync(join(at.gateway.dataDir, 'events.yaml'), yaml(url));
    await waitFor('the configuration', async () => {
      const { config } = (await admin('GET', '/status')).json() as { config: { via: string } };
      return config.via === 'file';
    });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('reports what every part did, and what is wrong', async () => {
    received = [];
    const id = await ask();
    await waitFor('the event', () => received.includes(id));
    const statusOf = async () =>
      (await admin('GET', '/status')).json() as {
        running: boolean;
        problems: string[];
        sources: { id: string; accepted: number }[];
        triggers: { id: string; delivered: number; dead_letters: number }[];
        channels: { id: string; published: number }[];
      };
    await waitFor('it in the status', async () => (await statusOf()).triggers[0]?.delivered === 1);
    const { channels, problems, running, sources, triggers } = await statusOf();
    assert.deepEqual([running, problems], [true, []]);
    assert.deepEqual([channels[0]?.id, sources[0]?.id, triggers[0]?.id], ['main', 'gw', 'hook']);
    assert.ok((sources[0]?.accepted ?? 0) >= 1 && (channels[0]?.published ?? 0) >= 1);
    const viewer = await at.person('a-viewer', 'viewer');
    assert.equal((await admin('GET', '/status', { token: viewer.token })).status, 200);
  });

  it('lists, shows, replays and purges dead letters', async () => {
    status = 400;
    const ids = [await ask(), await ask(), await ask()];
    await waitFor('the dead letters', async () => (await letters()).count === 3);
    const { next, resources } = await letters('?limit=2');
    assert.equal(resources.length, 2);
    assert.equal((await letters(`?limit=2&after=${next}`)).resources.length, 1);
    assert.deepEqual((await letters('?trigger=other')).resources, []);
    const selected = await letters(
      `?cesql=${encodeURIComponent(`dlstatus = 400 AND subject = '${ids[1]}'`)}`,
    );
    const [letter] = selected.resources;
    assert.ok(letter !== undefined && selected.resources.length === 1);
    assert.deepEqual([letter.trigger, letter.reason, letter.status], ['hook', 'nonretryable', 400]);
    assert.equal(letter.event['data'], undefined, 'a list has no data');
    const [failure] = letter.failures;
    assert.deepEqual(letter.failures, [
      { attempt: 1, time: failure?.time, status: 400, error: letter.error },
    ]);
    assert.ok(!Number.isNaN(Date.parse(failure?.time ?? '')));
    const whole = (await admin('GET', `/dead-letters/${letter.id}`)).json<Letter>();
    assert.equal(whole.event['subject'], ids[1]);
    assert.equal((whole.event['data'] as Record<string, unknown>)['model'], 'echo');

    status = 204;
    received = [];
    const dry = await admin('POST', `/dead-letters/${letter.id}:replay?dry_run=true`);
    assert.deepEqual(dry.json(), { count: 1, dry_run: true });
    const key = { headers: { 'idempotency-key': 'once' } };
    for (let time = 0; time < 2; time += 1) {
      const replay = await admin('POST', `/dead-letters/${letter.id}:replay`, key);
      assert.deepEqual(replay.json(), { count: 1, dry_run: false });
    }
    await waitFor('the replayed event', () => received.includes(ids[1] ?? ''));
    assert.equal(received.length, 1);
    assert.equal((await letters()).count, 2);
    const body = { cesql: `subject = '${ids[0]}'` };
    assert.deepEqual((await admin('POST', '/dead-letters:replay', { body })).json(), {
      count: 1,
      dry_run: false,
    });
    await waitFor('the other event', () => received.includes(ids[0] ?? ''));
    refused(await admin('POST', '/dead-letters:purge', { body: {} }), 400, 'bad_request');
    refused(await admin('POST', '/dead-letters:purge', { body: { cesql: 'id =' } }), 400, 'bad_request');
    const purge = { body: { trigger: 'hook' } };
    assert.equal((await admin('POST', '/dead-letters:purge?dry_run=true', purge)).json()['count'], 1);
    assert.equal((await admin('POST', '/dead-letters:purge', purge)).json()['count'], 1);
    assert.deepEqual((await letters()).resources, []);
    refused(await admin('GET', `/dead-letters/${letter.id}`), 404, 'not_found');
    const operator = await at.person('an-operator', 'operator');
    assert.equal((await admin('GET', '/dead-letters', { token: operator.token })).status, 200);
    const viewer = await at.person('a-viewer', 'viewer');
    refused(await admin('GET', '/dead-letters', { token: viewer.token }), 403, 'forbidden');
  });

  it('shows the events that pass, as far as they fit, until the login ends', async () => {
    const operator = await at.person('a-watcher', 'operator');
    const cesql = encodeURIComponent("EXISTS eventsourceid AND type LIKE '%completed%'");
    const client = await at.gateway.client();
    await client.send({
      method: 'GET',
      path: `/api/events/tail?cesql=${cesql}`,
      headers: { host: `127.0.0.1:${at.gateway.port}`, 'x-auth-token': operator.token },
    });
    const stream = await client.open();
    assert.equal(stream.status, 200);
    const id = await ask();
    await stream.until(id);
    assert.match(stream.soFar(), /event: event\ndata: \{"source_id":"gw","result":"accepted","event":\{/);
    assert.doesNotMatch(stream.soFar(), /hello/);
    await at.call('DELETE', '/api/auth', { token: operator.token });
    assert.equal((await stream.whole).end, 'complete');
    client.destroy();
    refused(await admin('GET', '/tail?cesql=%3D'), 400, 'bad_request');
  });
});
