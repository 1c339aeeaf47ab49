import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openClient, type RawClient, type RequestLine } from '../test/support/clients/client.ts';
import { type Hostile, hostileBodies, hostileHeads } from '../test/support/clients/hostile.ts';
import { type RunningGateway, startGateway } from '../test/support/gateway/gateway.ts';
import { type Cost, createMeter, type Meter } from '../test/support/machine/meter.ts';

/** Says what was tried, and what of it was found to work. */
export type Tell = (what: string, found: readonly string[]) => void;

interface Victim {
  gateway: RunningGateway;
  meter: Meter;
  /** As `Host` has it. */
  own: string;
  /** What a request of a stranger may cost at most, in milliseconds of CPU. */
  mostMs: number;
}

const password = 'a secret of nobody else';
const MOST_BYTES = 5_000_000;

/** Inputs that are written to cost as much as they can, from strangers and from the least of users. */
export async function hostileInputs(tell: Tell): Promise<void> {
  const meter = createMeter();
  const gateway = await startGateway({ env: meter.env, config: { trusted_proxies: ['127.0.0.1'] } });
  try {
    await meter.open();
    const own = `127.0.0.1:${gateway.port}`;
    const victim: Victim = { gateway, meter, own, mostMs: await meter.yardstickMs() };
    const code = readFileSync(join(gateway.dataDir, 'setup.code'), 'utf8').trim();
    await waitingBodies(victim, tell, 'before the setup');
    const setUp = { path: '/api/setup', headers: { host: own }, body: JSON.stringify({ code, password }) };
    if ((await gateway.send(setUp)).status !== 200) throw new Error('the admin cannot be made');
    for (const known of knownInputs(own)) await tried(victim, tell, known.name, [known]);
    await waitingBodies(victim, tell, 'after the setup');
    await viewer(victim, tell);
    await rebinding(tell);
    await tried(victim, tell, 'every body', hostileBodies(own));
    await tried(victim, tell, 'every head', hostileHeads(own));
  } finally {
    meter.close();
    await gateway.kill();
  }
}

/** Those that once took seconds, or a good part of one. */
function knownInputs(own: string): Hostile[] {
  const blanks = `x${' '.repeat(60_000)}x`;
  const get = (name: string, path: string, headers: Record<string, string> = {}): Hostile => ({
    name,
    request: { method: 'GET', path, headers: { host: own, ...headers } },
  });
  const post = (
    name: string,
    path: string,
    headers: Record<string, string>,
    body: Buffer | string,
  ): Hostile => ({
    name,
    request: { method: 'POST', path, headers: { host: own, ...headers }, body },
  });
  const objects = gzipSync(`[${'{},'.repeat(349_000)}{}]`);
  const tiny = '1\r\na\r\n'.repeat(1_400_000);
  return [
    get('an ordinary request', '/api', { 'x-auth-token': 'x' }),
    get('X-Auth-Token with 60,000 inner blanks', '/api', { 'x-auth-token': blanks }),
    get('Authorization with 60,000 inner blanks', '/api', { authorization: blanks }),
    get('a path of 60 KB of /v1', '/v1'.repeat(20_000)),
    get('X-Forwarded-For with 60,000 commas', '/api', { 'x-forwarded-for': ','.repeat(60_000) }),
    post('8 MB in chunks of one byte', '/v1/nothing', { 'transfer-encoding': 'chunked' }, tiny),
    post(
      `1 MB of objects in ${objects.length} bytes of gzip at /api/setup`,
      '/api/setup',
      { 'content-encoding': 'gzip' },
      objects,
    ),
  ];
}

/** Sends each input, again where it cost too much, and tells the worst. */
async function tried(victim: Victim, tell: Tell, what: string, inputs: Iterable<Hostile>): Promise<void> {
  const { meter, mostMs } = victim;
  const found: string[] = [];
  let [mostCpu, mostHeld, count] = [0, 0, 0];
  for (const { name, request } of inputs) {
    count += 1;
    if (count % 25 === 0) await meter.advance(3600);
    const least: Cost = { cpuMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const cost = await meter.cost(() => sent(victim, request));
      least.cpuMs = Math.min(least.cpuMs, cost.cpuMs);
      least.bytes = Math.min(least.bytes, cost.bytes - Buffer.byteLength(request.body ?? ''));
    }
    mostCpu = Math.max(mostCpu, least.cpuMs);
    mostHeld = Math.max(mostHeld, least.bytes);
    if (least.cpuMs > mostMs || least.bytes > MOST_BYTES) found.push(`${name}: ${costText(least)}`);
  }
  const most = costText({ cpuMs: mostCpu, bytes: mostHeld });
  tell(`${what} (${count}): at most ${most}, ${mostMs.toFixed(0)} ms allowed here`, found);
}

function costText({ bytes, cpuMs }: Cost): string {
  return `${cpuMs.toFixed(1)} ms of CPU, ${(bytes / 1e6).toFixed(1)} MB`;
}

/** Sends a request and waits for its answer, or for the end of the connection: both will do. */
async function sent({ gateway }: Victim, request: RequestLine): Promise<void> {
  const client = await openClient(gateway.port);
  client.socket.on('error', () => {});
  try {
    void client.send(request);
    await client.reply().catch(() => null);
  } finally {
    client.destroy();
  }
}

/** Bodies of a kilobyte that never end: what 150 of them hold, and for how long. */
async function waitingBodies({ gateway, meter, own }: Victim, tell: Tell, when: string): Promise<void> {
  const before = await meter.heldBytes();
  const began = performance.now();
  const bomb = gzipSync(' '.repeat(1_040_000));
  const clients: RawClient[] = [];
  for (let count = 0; count < 150; count += 1) {
    const client = await openClient(gateway.port);
    client.socket.on('error', () => {});
    await client.write(
      `POST /api/setup HTTP/1.1\r\nhost: ${own}\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length + 1}\r\n\r\n`,
    );
    await client.write(bomb);
    clients.push(client);
  }
  const bytes = (await meter.heldBytes()) - before;
  await Promise.all(clients.map((client) => client.reply().catch(() => null)));
  const seconds = (performance.now() - began) / 1000;
  for (const client of clients) client.destroy();
  const text = `${(bytes / 1e6).toFixed(1)} MB, answered after ${seconds.toFixed(1)} s`;
  tell(
    `150 unfinished bodies at /api/setup ${when}: ${text}`,
    bytes > 150 * 64_000 || seconds > 20 ? [text] : [],
  );
}

/** What the least of users can do: costly filters, and all live streams. */
async function viewer({ gateway, meter, mostMs, own }: Victim, tell: Tell): Promise<void> {
  const call = async (method: string, path: string, token: string, body?: object) => {
    const headers = { host: own, 'x-auth-token': token };
    return gateway.send({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };
  const login = async (name: string) => {
    const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    const reply = await gateway.send({
      method: 'GET',
      path: '/api/auth',
      headers: { host: own, authorization },
    });
    return String(reply.json()['auth_token']);
  };
  const admin = await login('admin');
  await call('POST', '/api/users', admin, { name: 'vic', role: 'viewer', password });
  // Long names, for patterns to look through.
  const names = Array.from({ length: 100 }, (_, index) => `${'a'.repeat(55)}${index}`);
  for (let from = 0; from < names.length; from += 20) {
    const resources = names
      .slice(from, from + 20)
      .map((name) => ({ name, strategy: 'priority', targets: ['demo/echo'] }));
    const made = await call('POST', '/api/combos', admin, { action: 'create', resources });
    if (made.status !== 200) throw new Error(`the combos cannot be made: ${made.text}`);
    await meter.advance(60);
  }
  const token = await login('vic');
  const pattern = encodeURIComponent(`name!~/[${'q'.repeat(238)}]{1}/i`);
  const filters = Array.from({ length: 50 }, () => `filter[]=${pattern}`).join('&');
  let status = 0;
  const { cpuMs } = await meter.cost(async () => {
    status = (await call('GET', `/api/combos?${filters}`, token)).status;
  });
  const text = `${cpuMs.toFixed(0)} ms of CPU, answered ${status}`;
  tell(`50 filter patterns of a viewer: ${text}`, cpuMs > 20 * mostMs ? [text] : []);
  const streams = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const client = await openClient(gateway.port);
      await client.send({ method: 'GET', path: '/api/live', headers: { host: own, 'x-auth-token': token } });
      return { client, reply: await client.open() };
    }),
  );
  const open = streams.filter(({ reply }) => reply.status === 200).length;
  for (const { client } of streams) client.destroy();
  tell(`64 live streams of a viewer: ${open} opened`, open > 8 ? [`${open} opened`] : []);
}

/** A page whose name leads to this machine, where no key is required. */
async function rebinding(tell: Tell): Promise<void> {
  const gateway = await startGateway({ config: { auth: { required: false } } });
  const found: string[] = [];
  for (const path of ['/v1/models', '/v1beta/models', '/models', '/api/v1/editor/sk-x/api/tags']) {
    const { status } = await gateway.send({ method: 'GET', path, headers: { host: 'rebound.example' } });
    if (status !== 403) found.push(`${path} → ${status}`);
  }
  await gateway.stop();
  tell('DNS rebinding: the models without a key', found);
}
