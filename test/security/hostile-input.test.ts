import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openClient, type RawClient, type Reply, type RequestLine } from '../support/clients/client.ts';
import { type Hostile, hostileBodies, hostileHeads } from '../support/clients/hostile.ts';
import { type RunningGateway, startGateway } from '../support/gateway/gateway.ts';
import { type Cost, createMeter } from '../support/machine/meter.ts';

/** What one request without a login may cost in memory, beyond what it brings. */
const MAX_BYTES = 5_000_000;
/** No answer takes that long, on whatever machine. */
const ANSWER_MS = 120_000;

/**
 * These measure the program itself, over the wire. What makes them hold on a slow or busy machine: CPU time is read, not
 * the clock; it is compared with that of a fixed piece of work in the same process; and a request that cost too much is
 * repeated, for a compiler or a garbage collection that ran meanwhile does not come every time, while a bad reader does.
 */
describe('a request without credentials', () => {
  const meter = createMeter();
  let gateway: RunningGateway;
  let own = '';
  /** As much CPU as the yardstick: 20 ms on a desktop of 2022. */
  let mostMs = 0;
  const blank = (): RequestLine => ({ method: 'POST', path: '/api/setup', headers: { host: own } });
  before(async () => {
    gateway = await startGateway({ env: meter.env, config: { trusted_proxies: ['127.0.0.1'] } });
    own = `127.0.0.1:${gateway.port}`;
    await meter.open();
    // Compiles what every request passes.
    for (const { request } of hostileBodies(own, [['POST', '/api/setup']])) await sent(gateway.port, request);
    await meter.advance(3600);
    mostMs = await meter.yardstickMs();
  });
  after(async () => {
    meter.close();
    await gateway.stop();
  });

  const costsOf = async ({ request }: Hostile): Promise<Cost> => {
    const least: Cost = { cpuMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    // What somebody sends passes through memory as it comes.
    const bytesSent = request.body === undefined ? 0 : Buffer.byteLength(request.body);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const { bytes, cpuMs } = await meter.cost(() => sent(gateway.port, request));
      least.cpuMs = Math.min(least.cpuMs, cpuMs);
      least.bytes = Math.min(least.bytes, bytes - bytesSent);
      if (least.cpuMs <= mostMs && least.bytes <= MAX_BYTES) break;
      // No compiler and no collection takes that long.
      if (cpuMs > 20 * mostMs) break;
    }
    return least;
  };
  const held = async (inputs: Iterable<Hostile>): Promise<void> => {
    const tooMuch: string[] = [];
    let count = 0;
    for (const input of inputs) {
      count += 1;
      // Wrong tokens and logins of an earlier minute do not shorten the way of the next.
      if (count % 25 === 0) await meter.advance(3600);
      const { bytes, cpuMs } = await costsOf(input);
      if (cpuMs <= mostMs && bytes <= MAX_BYTES) continue;
      tooMuch.push(`${input.name}: ${cpuMs.toFixed(0)} ms, ${(bytes / 1e6).toFixed(1)} MB`);
      if (tooMuch.length >= 10) break;
    }
    assert.deepEqual(tooMuch, [], `at most ${mostMs.toFixed(0)} ms here, and ${MAX_BYTES / 1e6} MB`);
    assert.ok(count > 20, `${count} inputs`);
  };
  const setUp = (request: Partial<RequestLine>) => gateway.send({ ...blank(), ...request } as RequestLine);

  it('costs little at /api/setup while there is no admin, whatever its body is', async () => {
    await held(hostileBodies(own, [['POST', '/api/setup']]));
  });

  it('is accepted at /api/setup if small, uncompressed and with a length', async () => {
    await meter.advance(3600);
    const json = JSON.stringify({ code: 'x', password: 'y' });
    const gzip = await setUp({ headers: { host: own, 'content-encoding': 'gzip' }, body: gzipSync(json) });
    assert.equal(gzip.status, 415, gzip.text);
    assert.match(gzip.text, /content-encoding/);
    const chunked = await setUp({
      headers: { host: own, 'transfer-encoding': 'chunked' },
      body: `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
    });
    assert.equal(chunked.status, 400, chunked.text);
    assert.match(chunked.text, /content-length/);
    assert.equal((await setUp({ body: json.padEnd(16_385) })).status, 413);
    assert.equal((await setUp({ body: json.padEnd(16_384) })).status, 401);
  });

  it('takes little memory while its body does not come, and times out soon', async () => {
    await meter.advance(3600);
    const before = await meter.heldBytes();
    const clients: RawClient[] = [];
    const replies: Promise<Reply>[] = [];
    for (let count = 0; count < 150; count += 1) {
      const client = await openClient(gateway.port);
      clients.push(client);
      await client.write(`POST /api/setup HTTP/1.1\r\nhost: ${own}\r\ncontent-length: 16000\r\n\r\n`);
      await client.write(Buffer.alloc(15_000, 32));
      replies.push(client.reply());
    }
    try {
      const bytes = ((await meter.heldBytes()) - before) / 150;
      assert.ok(bytes < 64_000, `${bytes} bytes each`);
      for (const reply of await Promise.all(replies)) assert.equal(reply.status, 408, reply.text);
    } finally {
      for (const client of clients) client.destroy();
    }
  });

  it('is not read at all at /api/setup once there is an admin', async () => {
    await meter.advance(60 * 60);
    await gateway.kill();
    await gateway.restart();
    own = `127.0.0.1:${gateway.port}`;
    await meter.open();
    const code = readFileSync(join(gateway.dataDir, 'setup.code'), 'utf8').trim();
    const first = await setUp({ body: JSON.stringify({ code, password: 'a long secret of admin' }) });
    assert.equal(first.status, 200, first.text);
    const bodies: Record<string, string>[] = [
      { 'content-length': '10000' },
      { 'content-length': '99999999' },
      { 'content-length': '500', 'content-encoding': 'gzip' },
    ];
    for (const headers of bodies) {
      // Its body never comes: who waits for it does not answer.
      const late = await setUp({ headers: { host: own, ...headers } });
      assert.equal(late.status, 409, late.text);
    }
  });

  it('costs little, whatever its body is', async () => {
    await held(hostileBodies(own));
  });

  it('costs little, whatever its line and headers are', async () => {
    await held(hostileHeads(own));
  });
});

/** Sends a request and waits for its answer, or for the end of the connection: both will do. */
async function sent(port: number, request: RequestLine): Promise<void> {
  const client = await openClient(port);
  client.socket.on('error', () => {});
  const timer = setTimeout(() => client.destroy(), ANSWER_MS);
  try {
    void client.send(request);
    await client.reply().catch(() => null);
  } finally {
    clearTimeout(timer);
    client.destroy();
  }
}
