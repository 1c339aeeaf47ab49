import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Reply } from '../clients/client.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../gateway/gateway.ts';
import { differences, type Exchange } from './conformance.ts';

/** What a request to the management API carries. */
export interface Call {
  /** As `X-Auth-Token`. */
  token?: string;
  /** Name and password. */
  basic?: readonly [string, string];
  /** Sent as JSON, or as it is when it is text. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Headers that must be repeated or ordered. */
  pairs?: readonly (readonly [string, string])[];
  /** Another `Host` than the gateway's own address; null for none. */
  host?: string | null;
}

export type RoleName = 'viewer' | 'operator' | 'admin';

export interface Person {
  id: string;
  name: string;
  password: string;
  token: string;
}

/** A gateway with an administrator, for all tests of one file. Its clock can be moved. */
export interface Managed {
  readonly gateway: RunningGateway;
  /** The token of `admin`, who was made with the setup code. */
  readonly admin: Person;
  call(method: string, path: string, call?: Call): Promise<Reply>;
  /** Logs in with a password. @returns the token */
  login(name: string, password?: string, query?: string): Promise<string>;
  /** A user of that name, made when it is first asked for, whose password is `passwordOf(name)`, and logged in. */
  person(name: string, role: RoleName): Promise<Person>;
  /** The key of the run file, which is admin from loopback. */
  ownerKey(): string;
  /** Lets the gateway's clock go on by so many seconds. */
  advance(seconds: number): void;
  /** What the gateway takes these names for from now on. */
  resolve(names: Readonly<Record<string, string>>): void;
  /** Where the gateway gets to when it connects to these ports from now on, so that well-known ones stay free. */
  ports(ports: Readonly<Record<number, number>>): void;
  /** Has statements fail that a pattern fits, as a failing disk or a bug; null lets them be. */
  fault(fault: { sql: string; as: 'disk' | 'bug' } | null): void;
}

export const passwordOf = (name: string) => `a long secret of ${name}`;

export function basicHeader(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

/**
 * What is different in the gateway's process: `Date.now` goes by a file, so that expiries need not be waited for, names
 * in another file are resolved to what it says, ports in one are those that it says, statements of the database fail as a third one says, and with `TEST_QUICK_HASHES` a password is hashed with a small part of the work, which is half a second each time.
 */
const preloaded = `
  import crypto from 'node:crypto';
  import dns from 'node:dns';
  import { existsSync, readFileSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import net from 'node:net';
  import { StatementSync } from 'node:sqlite';
  const now = Date.now.bind(Date);
  Date.now = () => now() + Number(readFileSync(process.env.TEST_CLOCK_FILE, 'utf8'));
  if (process.env.TEST_QUICK_HASHES === '1') {
    const scrypt = crypto.scrypt;
    crypto.scrypt = (password, salt, length, options, done) =>
      scrypt(password, salt, length, { ...options, N: 1024, cost: undefined }, done);
  }
  const beside = (name) => {
    const file = process.env.TEST_CLOCK_FILE + '.' + name;
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  };
  for (const name of ['all', 'get', 'run', 'iterate']) {
    const real = StatementSync.prototype[name];
    StatementSync.prototype[name] = function (...values) {
      const fault = beside('fault');
      if (fault !== null && new RegExp(fault.sql).test(this.sourceSQL)) {
        if (fault.as === 'bug') throw new TypeError('planted in /a/secret/place');
        throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
      }
      return real.apply(this, values);
    };
  }
  const resolve = dns.lookup;
  dns.lookup = (name, options, done) => {
    const address = beside('names')?.[name];
    if (address === undefined) return resolve(name, options, done);
    process.nextTick(done, null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  const connect = net.connect;
  net.connect = (options, ...rest) => {
    const port = beside('ports')?.[options?.port];
    return connect(port === undefined ? options : { ...options, port }, ...rest);
  };
  syncBuiltinESMExports();
`;

export interface ManagedOptions extends GatewayOptions {
  /** Hashes passwords with all the work that it takes; default false. */
  realHashes?: boolean;
  /** Leaves the first admin to be made; default false. */
  noAdmin?: boolean;
}

/** Starts a gateway before the file's tests, makes its first admin with the code, and stops it after them. */
export function managed({ noAdmin = false, realHashes = false, ...options }: ManagedOptions = {}): Managed {
  const started: { gateway?: RunningGateway; admin?: Person } = {};
  const exchanges: Exchange[] = [];
  const people = new Map<string, Promise<Person>>();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-clock-'));
  const clockFile = join(folder, 'offset');
  writeFileSync(clockFile, '0');
  let offset = 0;
  before(async () => {
    const gateway = await startGateway({
      ...options,
      env: {
        ...options.env,
        TEST_CLOCK_FILE: clockFile,
        TEST_QUICK_HASHES: realHashes ? '0' : '1',
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded)}`,
      },
    });
    started.gateway = gateway;
    if (noAdmin) return;
    const code = readFileSync(join(gateway.dataDir, 'setup.code'), 'utf8').trim();
    const body = { code, password: passwordOf('admin') };
    const reply = await callGateway(gateway, 'POST', '/api/setup', { body });
    assert.equal(reply.status, 200, reply.text);
    started.admin = {
      id: '',
      name: 'admin',
      password: passwordOf('admin'),
      token: await managing.login('admin'),
    };
  });
  after(async () => {
    try {
      if (started.gateway !== undefined) await conforms(started.gateway, managing.ownerKey(), exchanges);
      await started.gateway?.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  const managing: Managed = {
    get gateway() {
      assert.ok(started.gateway, 'the gateway has not started');
      return started.gateway;
    },
    get admin() {
      assert.ok(started.admin, 'there is no admin yet');
      return started.admin;
    },
    async call(method, path, call = {}) {
      const reply = await callGateway(managing.gateway, method, path, call);
      exchanges.push({ method, path, reply });
      return reply;
    },
    async login(name, password = passwordOf(name), query = '') {
      const reply = await managing.call('GET', `/api/auth${query}`, { basic: [name, password] });
      assert.equal(reply.status, 200, reply.text);
      return String(reply.json()['auth_token']);
    },
    person(name, role) {
      const known = people.get(name);
      if (known !== undefined) return known;
      const made = makePerson(managing, name, role);
      people.set(name, made);
      return made;
    },
    ownerKey() {
      const file = JSON.parse(readFileSync(join(managing.gateway.dataDir, 'run.json'), 'utf8')) as {
        key: string;
      };
      return file.key;
    },
    advance(seconds) {
      offset += seconds * 1000;
      writeFileSync(clockFile, String(offset));
    },
    fault(fault) {
      writeFileSync(`${clockFile}.fault`, JSON.stringify(fault));
    },
    ports(ports) {
      writeFileSync(`${clockFile}.ports`, JSON.stringify(ports));
    },
    resolve(names) {
      writeFileSync(`${clockFile}.names`, JSON.stringify(names));
    },
  };
  return managing;
}

/** SC-68: all that was answered in the file's tests is as the API's document says. */
async function conforms(
  gateway: RunningGateway,
  token: string,
  exchanges: readonly Exchange[],
): Promise<void> {
  const document = await callGateway(gateway, 'GET', '/api/openapi.json', { token });
  assert.equal(document.status, 200, document.text);
  assert.deepEqual([...new Set(differences(document.json(), exchanges))], []);
}

async function makePerson(managing: Managed, name: string, role: RoleName): Promise<Person> {
  const body = { name, role, password: passwordOf(name) };
  const made = await managing.call('POST', '/api/users', { token: managing.ownerKey(), body });
  assert.equal(made.status, 200, made.text);
  const id = String(firstResult(made)['id']);
  return { id, name, password: passwordOf(name), token: await managing.login(name) };
}

/** The first of `results`, which is how the API answers what it made. */
export function firstResult(reply: Reply): Record<string, unknown> {
  const results = reply.json()['results'] as Record<string, unknown>[] | undefined;
  const first = results?.[0];
  assert.ok(first, reply.text);
  return first;
}

export async function callGateway(
  gateway: RunningGateway,
  method: string,
  path: string,
  { basic, body, headers = {}, host, pairs = [], token }: Call,
): Promise<Reply> {
  const all: (readonly [string, string])[] = [];
  if (host !== null) all.push(['host', host ?? `127.0.0.1:${gateway.port}`]);
  if (token !== undefined) all.push(['x-auth-token', token]);
  if (basic !== undefined) all.push(['authorization', basicHeader(...basic)]);
  all.push(...Object.entries(headers), ...pairs);
  // What HEAD says of a length does not follow.
  if (method === 'HEAD') all.push(['connection', 'close']);
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return gateway.send({ method, path, headers: all, ...(text === undefined ? {} : { body: text }) });
}

/** The id of an error, as the API's own word. */
export function codeOf(reply: Reply): unknown {
  return reply.json()['code'];
}

/** Fails unless the answer is an error of the management API with this status, in its one shape. */
export function refused(reply: Reply, status: number, kind?: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.match(reply.header('content-type') ?? '', /^application\/json/, reply.text);
  assert.equal(reply.header('cache-control'), 'no-store', 'an error is not to be kept');
  assert.equal(reply.header('x-content-type-options'), 'nosniff');
  const body = reply.json();
  const error = body['error'] as Record<string, unknown>;
  for (const member of ['kind', 'message', 'klass']) assert.equal(typeof error[member], 'string', reply.text);
  if (kind !== undefined) assert.equal(error['kind'], kind, reply.text);
  assert.equal(body['status'], status);
  assert.match(String(body['request_id']), /^req_/);
  assert.equal(reply.header('x-request-id'), body['request_id']);
  assert.doesNotMatch(reply.text, /\bat \/|node:internal|\.ts:\d/, 'no stack');
}

/** Spec 3, section 7: 401 with the challenge. */
export function challenged(reply: Reply): void {
  refused(reply, 401, 'unauthorized');
  assert.match(reply.header('www-authenticate') ?? '', /^Basic realm="?Application"?$/);
}
