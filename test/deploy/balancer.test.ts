import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { configFile } from '../../src/config.ts';
import { hasPostgres, startPostgres } from '../support/brokers/postgres.ts';
import { startRedis } from '../support/brokers/redis.ts';
import {
  accepts,
  freePort,
  installed,
  type PrivateBroker,
  type ServerProcess,
  startServer,
} from '../support/brokers/server-process.ts';
import { exchange, openClient, type Reply } from '../support/clients/client.ts';
import { addConnections, addKey, ledgerLines } from '../support/gateway/data-dir.ts';
import { bearer, waitFor } from '../support/gateway/gateway.ts';
import { type GatewayNode, gatewayNode } from '../support/gateway/gateway-node.ts';
import { chatStream } from '../support/upstream/answers.ts';
import { chunk, end, json, open, stall } from '../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { root } from './manifests.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const whole = { id: 'c', object: 'chat.completion', created: 1, model: 'm-1', usage };
const message = { role: 'assistant', content: 'hello' };
const answer = json(200, { ...whole, choices: [{ index: 0, message, finish_reason: 'stop' }] });
const asked = (stream: boolean) =>
  JSON.stringify({ model: 'up/m-1', stream, messages: [{ role: 'user', content: 'hi' }] });

const hasAll = [hasPostgres, installed('redis-server'), installed('haproxy')].every(Boolean);

/** What `deploy/compose.yaml` starts, without containers: the balancer has the very file, the gateways the very settings. */
describe('two gateways behind the balancer of deploy/', { skip: !hasAll }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelgate-balancer-'));
  const running: {
    servers: PrivateBroker[];
    nodes: GatewayNode[];
    upstream: Upstream | null;
    balancer: ServerProcess | null;
  } = { servers: [], nodes: [], upstream: null, balancer: null };
  const at = { port: 0, key: '', place: { dataDir: '', database: '', secret: SECRET } };
  const upstream = () => running.upstream as Upstream;
  const headers = () => ({ 'content-type': 'application/json', ...bearer(at.key) });
  const ask = (stream = false): Promise<Reply> =>
    exchange(at.port, { path: '/v1/chat/completions', headers: headers(), body: asked(stream) });
  const figure = async (node: GatewayNode, name: string): Promise<number> => {
    const { text } = await node.manage('GET', '/metrics');
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  before(async () => {
    // PostgreSQL runs as another user, who has to reach its folder.
    chmodSync(folder, 0o711);
    const postgres = await startPostgres(join(folder, 'postgres'));
    const redis = await startRedis(join(folder, 'redis'));
    running.servers = [postgres, redis];
    running.upstream = await startUpstream();
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, STORAGE_ENCRYPTION_KEY: SECRET };
    const settings = configFile.parse(JSON.parse(readFileSync(join(root, 'deploy/config.json'), 'utf8')));
    // Without keep-alives, nothing but the balancer tells a gateway that a client is gone.
    const config = { ...settings, trusted_proxies: ['127.0.0.1'], keepalive_ms: 86_400_000 };
    at.place = { dataDir: join(folder, 'gateway-1'), database: postgres.url, secret: SECRET };
    for (const name of ['gateway-1', 'gateway-2'])
      running.nodes.push(await gatewayNode({ dataDir: join(folder, name), env, config }));
    at.key = await addKey(at.place, 'clients');
    await addConnections(at.place, [
      { provider: 'openai-compatible', name: 'up', baseUrl: `${upstream().url}/v1` },
    ]);
    await Promise.all(running.nodes.map((node) => node.start()));
    at.port = await freePort();
    const [one, two] = running.nodes.map(({ port }) => `127.0.0.1:${port}`);
    running.balancer = await startServer({
      command: 'haproxy',
      args: ['-db', '-f', join(root, 'deploy/haproxy.cfg')],
      env: { LISTEN: `127.0.0.1:${at.port}`, GATEWAY_1: one ?? '', GATEWAY_2: two ?? '' },
      ready: () => accepts(at.port),
    });
  });
  after(async () => {
    await running.balancer?.kill();
    for (const node of running.nodes) await node.kill();
    for (const server of running.servers) await server.kill();
    await running.upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('pass each piece of a stream on as it comes, and share the work', async () => {
    const { content, ending, preamble } = chatStream();
    const [first = '', ...rest] = content;
    const gate = Promise.withResolvers<void>();
    upstream().always(
      open(),
      chunk(preamble + first),
      stall(gate.promise),
      chunk(rest.join('') + ending),
      end(),
    );
    const clients = await Promise.all(Array.from({ length: 4 }, () => openClient(at.port)));
    const replies = await Promise.all(
      clients.map(async (client) => {
        await client.send({ path: '/v1/chat/completions', headers: headers(), body: asked(true) });
        return client.open();
      }),
    );
    // The rest does not come before this has arrived.
    for (const reply of replies) await reply.until('Hel');
    const inFlight = await Promise.all(
      running.nodes.map((node) => figure(node, 'modelgate_requests_in_flight')),
    );
    assert.deepEqual(inFlight, [2, 2]);
    gate.resolve();
    for (const reply of replies) {
      const { end: how, text } = await reply.whole;
      assert.deepEqual([how, text.includes('[DONE]')], ['complete', true]);
    }
    for (const client of clients) client.destroy();
  });

  it('forward the client address, and hide probes and metrics from clients', async () => {
    upstream().always(answer);
    const reply = await exchange(at.port, {
      method: 'GET',
      path: '/api/auth',
      headers: {
        host: 'modelgate.example.com',
        'x-forwarded-for': '203.0.113.9',
        forwarded: 'for=203.0.113.8',
      },
    });
    assert.equal(reply.status, 401, reply.text);
    for (const path of ['/metrics', '/healthz', '/readyz']) {
      const { status } = await exchange(at.port, { method: 'GET', path });
      assert.equal(status, 404, path);
    }
  });

  it('end a request at the model when its client leaves', async () => {
    const { content, preamble } = chatStream();
    upstream().always(open(), chunk(preamble + (content[0] ?? '')), stall(new Promise(() => {})));
    const client = await openClient(at.port);
    await client.send({ path: '/v1/chat/completions', headers: headers(), body: asked(true) });
    const reply = await client.open();
    await reply.until('Hel');
    client.destroy();
    await upstream().requests[0]?.closed;
    await reply.whole;
  });

  it('are restarted one after the other while clients go on', async () => {
    upstream().always(answer);
    const going = { on: true, answered: 0, repeated: 0 };
    const ids = new Set<string>();
    /** As SDKs do: what the balancer answers itself is asked for once more. */
    const client = async () => {
      while (going.on) {
        let reply = await ask();
        if (reply.status >= 502) {
          going.repeated += 1;
          reply = await ask();
        }
        assert.equal(reply.status, 200, reply.text);
        ids.add(reply.header('x-request-id') ?? '');
        going.answered += 1;
      }
    };
    const clients = Promise.all(Array.from({ length: 4 }, client));
    for (const node of running.nodes) {
      const before = going.answered;
      await waitFor('answers', () => going.answered > before + 20);
      assert.equal(await node.stop(), 0);
      const without = going.answered;
      await waitFor('answers by the other gateway', () => going.answered > without + 20);
      await node.start();
      // The balancer sees it within a second or two.
      await waitFor('answers by this gateway', async () => (await totalOf(node)) > 0);
    }
    going.on = false;
    await clients;
    await waitFor('a ledger row for each answer', async () => {
      const rows = new Set((await ledgerLines(at.place, { limit: 100_000 })).map(({ id }) => id));
      return [...ids].every((id) => rows.has(id));
    });
    assert.equal(ids.size, going.answered);
    assert.ok(going.repeated <= 4, `${going.repeated} requests met a port that closed`);
  });

  it('lose the streams of one that is killed, and nothing else', async () => {
    const { content, preamble } = chatStream();
    const gate = Promise.withResolvers<void>();
    upstream().always(open(), chunk(preamble + (content[0] ?? '')), stall(gate.promise));
    const clients = await Promise.all([openClient(at.port), openClient(at.port)]);
    const replies = await Promise.all(
      clients.map(async (client) => {
        await client.send({ path: '/v1/chat/completions', headers: headers(), body: asked(true) });
        const reply = await client.open();
        await reply.until('Hel');
        return reply;
      }),
    );
    const ends = replies.map(({ whole: all }) => all.then(({ end: how }) => how));
    const [victim] = running.nodes;
    await victim?.kill();
    assert.equal(await Promise.race(ends), 'cut');
    upstream().always(answer);
    for (let count = 0; count < 20; count += 1) {
      let reply = await ask();
      if (reply.status >= 502) reply = await ask();
      assert.equal(reply.status, 200, reply.text);
    }
    for (const client of clients) client.destroy();
    gate.resolve();
    await victim?.start();
  });

  it('are replaced by an error of the balancer when none is up, in a shape that SDKs read', async () => {
    await Promise.all(running.nodes.map((node) => node.stop()));
    const reply = await ask();
    assert.equal(reply.status, 503);
    const { error } = reply.json() as { error: { code: string; message: string } };
    assert.deepEqual([error.code, reply.header('retry-after')], ['service_unavailable', '5']);
  });
});

/** Model requests that a gateway has finished since its start. */
async function totalOf(node: GatewayNode): Promise<number> {
  const { text } = await node.manage('GET', '/metrics');
  const lines = text.match(/^modelgate_requests_total\{.*\} \d+$/gm) ?? [];
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
