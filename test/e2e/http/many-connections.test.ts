import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { openClient, type RawClient } from '../../support/clients/client.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { chatAnswer } from '../../support/upstream/answers.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

const FILES = 128;
let gateway: RunningGateway;
let upstream: Upstream;

before(async () => {
  upstream = await startUpstream();
  upstream.always(json(200, chatAnswer()));
  const connection = { provider: 'openai-compatible', name: 'chat', baseUrl: `${upstream.url}/v1` };
  // Each process has so many.
  gateway = await startGateway({ openFiles: FILES, connections: [connection], oneWorker: true });
});
after(async () => {
  await gateway.stop();
  await upstream.close();
});

const chat = { model: 'chat/m-1', messages: [{ role: 'user', content: 'hello' }] };
const probe = (path: string) => gateway.send({ method: 'GET', path });
const openFiles = async () =>
  Math.max(...(await gateway.pids()).map((pid) => readdirSync(`/proc/${pid}/fd`).length));

const linux = { skip: process.platform === 'linux' ? false : 'reads /proc' };

it('reaches its upstreams and answers probes, however many idle clients are connected', linux, async () => {
  const idle: RawClient[] = [];
  try {
    for (let count = 0; count < 3 * FILES; count += 1) idle.push(await openClient(gateway.port));
    // Those that wait to be accepted while the gateway is still refusing others are lost to no fault of theirs.
    const open = () => idle.filter(({ socket }) => !socket.readableEnded && !socket.destroyed).length;
    await waitFor('the oldest to be closed', () => open() <= FILES / 2);
    const files = await openFiles();
    assert.ok(files < FILES, `${files} files are open`);
    for (const path of ['/healthz', '/readyz']) assert.equal((await probe(path)).status, 200);
    const reply = await gateway.ask('/v1/chat/completions', chat);
    assert.equal(reply.status, 200, reply.text);
  } finally {
    for (const client of idle) client.destroy();
  }
});

it(
  'refuses with retry-after when every client has a request, and goes on when they have left',
  linux,
  async () => {
    const slow: RawClient[] = [];
    try {
      const head = { 'content-type': 'application/json', 'content-length': '1000', ...bearer(gateway.key) };
      const ask = () => gateway.ask('/v1/chat/completions', chat);
      await waitFor('a refusal', async () => {
        const client = await gateway.client();
        slow.push(client);
        await client.send({ path: '/v1/chat/completions', headers: head, body: '{' }).catch(() => {});
        return slow.length > 32 && (await ask()).status === 503;
      });
      const refusal = await ask();
      assert.match(refusal.header('retry-after') ?? '', /^\d+$/);
      assert.deepEqual(Object.keys(refusal.json()), ['error']);
      assert.match(refusal.text, /too_many_connections/);
      const headers = { host: `127.0.0.1:${gateway.port}` };
      const managed = await gateway.send({ method: 'GET', path: '/api/ping', headers });
      assert.equal(managed.status, 503);
      assert.equal(managed.json()['status'], 503, 'in the form of the management API');
      assert.match(managed.header('retry-after') ?? '', /^\d+$/);
      for (const path of ['/healthz', '/readyz']) assert.equal((await probe(path)).status, 200);
    } finally {
      for (const client of slow) client.destroy();
    }
    await waitFor('an answer', async () => (await gateway.ask('/v1/chat/completions', chat)).status === 200);
    assert.match(gateway.output().stderr, /the limit of client connections is reached/);
  },
);
