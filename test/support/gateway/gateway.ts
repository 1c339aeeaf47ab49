import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { exchange, openClient, type RawClient, type Reply, type RequestLine } from '../clients/client.ts';
import { PATIENCE_MS } from '../machine/patience.ts';
import { childEnv } from './child-env.ts';
import { addConnections, addKey, ledgerLines } from './data-dir.ts';
import { program } from './program.ts';
import { clientOfWorker, type WorkerClient, workersOf, workersOfThisRun } from './workers.ts';

/** A row of `gateway logs --json`. */
export interface LedgerLine {
  id: string;
  status: number;
  outcome: 'ok' | 'failed' | 'aborted';
  key_id: string | null;
  key_name: string | null;
  provider: string | null;
  connection: string | null;
  format: string;
  requested_model: string | null;
  model: string | null;
  dropped: string[];
  streamed: boolean;
  usage: Record<string, number> | null;
  estimated: boolean;
  usage_capped: boolean;
  asked_tier: string | null;
  served_tier: string | null;
  finish_reason: string | null;
  raw_finish_reason: string | null;
  cost_usd: number | null;
  cost_unknown: string | null;
  cache_savings_usd: number | null;
  price_source: string | null;
  ttft_ms: number | null;
  duration_ms: number;
  attempts: number;
  error: { code: string; message: string | null } | null;
  upstream_request_id: string | null;
  user_agent: string | null;
  tags: string[];
}

export interface GatewayOptions {
  /** `DATA_DIR/config.json`. */
  config?: object;
  env?: Readonly<Record<string, string>>;
  /** What its first key is called. Default `test`. */
  keyName?: string;
  /** Connections to add before the start. */
  connections?: readonly ConnectionInput[];
  /** Finds programs in `HOME/bin` alone. */
  ownPrograms?: boolean;
  /** How many files the gateway may have open. */
  openFiles?: number;
  /**
   * Where the run has workers: one of them gets all that `ask`, `send` and `client` send, for a test of what each worker has or
   * counts for itself (docs/workers.md). What it passes on to the owner is the same for all.
   */
  oneWorker?: boolean;
}

export interface ConnectionInput {
  provider: string;
  name: string;
  /** Absent: the provider's own. */
  baseUrl?: string;
  /** Parts of the provider's address. */
  parameters?: Readonly<Record<string, string>>;
  /** Default `upstream-secret`; null adds none. */
  apiKey?: string | null;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningGateway {
  url: string;
  port: number;
  pid: number;
  /** The process, and those of its workers where the run has some. */
  pids(): Promise<number[]>;
  /** A gateway key without restrictions. */
  key: string;
  dataDir: string;
  home: string;
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string };
  /** The program in another process, on the same data directory. */
  cli(...args: string[]): Promise<CliResult>;
  /** The same, which must succeed and print one JSON document. */
  cliJson<Body = Record<string, unknown>>(...args: string[]): Promise<Body>;
  /** Adds a connection; the gateway knows it by the time this resolves. */
  connect(connection: ConnectionInput): Promise<void>;
  /** A request with the key, answered whole. */
  ask(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** A request of the management API, made by the owner of the machine. */
  manage(method: string, path: string, body?: unknown): Promise<Reply>;
  /** One request on its own connection, sent as it is. */
  send(request: RequestLine): Promise<Reply>;
  /** A raw connection. */
  client(): Promise<RawClient>;
  /** Waits for the ledger row of a request. */
  entry(requestId: string | undefined): Promise<LedgerLine>;
  /** All rows, oldest first. The last are written a moment after their answers. */
  entries(limit?: number): Promise<LedgerLine[]>;
  /** Clears what is held against all connections, so that an earlier test does not decide over a later one. */
  forgive(): Promise<void>;
  /** Resident set size in bytes, with that of its workers. */
  residentBytes(): Promise<number>;
  /** SIGTERM; asserts exit 0, no internal error in the log, and nothing left behind. */
  stop(): Promise<void>;
  /** SIGTERM; the data directory stays. @returns how the process ended */
  stopServing(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGKILL; the data directory stays. */
  kill(): Promise<void>;
  /** Starts again on the same data directory and with the same key, on a new port. */
  restart(): Promise<void>;
}

/** The ledger's rows of these replies, in their order, read in one go. */
export async function rowsOf(
  gateway: RunningGateway,
  replies: readonly Pick<Reply, 'header'>[],
): Promise<LedgerLine[]> {
  let rows: (LedgerLine | undefined)[] = [];
  await waitFor('the ledger rows', async () => {
    const all = new Map((await gateway.entries()).map((row) => [row.id, row]));
    rows = replies.map((reply) => all.get(reply.header('x-request-id') ?? ''));
    return rows.every((row) => row !== undefined);
  });
  return rows.filter((row) => row !== undefined);
}

/**
 * How many rows the ledger has, once those of all answers that have ended are written: rows are written in the order in
 * which the requests end, and the last of them is one that is made here.
 */
export async function settledRows(gateway: RunningGateway): Promise<number> {
  const messages = [{ role: 'user', content: 'hi' }];
  const last = await gateway.ask('/v1/chat/completions', { model: 'demo/echo', messages });
  await gateway.entry(last.header('x-request-id'));
  return (await gateway.entries()).length;
}

/** `TEST_HTTP_CLIENT=undici node --test …` runs any end-to-end test over undici instead of the gateway's own HTTP client. */
const clientOfThisRun =
  process.env['TEST_HTTP_CLIENT'] === 'undici' ? { upstream: { http_client: 'undici' as const } } : {};

const envOfThisRun: Record<string, string> =
  workersOfThisRun === null ? {} : { GATEWAY_WORKERS: workersOfThisRun };

/** Starts the real program in its own process with its own, empty home and data directory. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-e2e-'));
  const dataDir = join(home, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  const config = { ...clientOfThisRun, ...options.config };
  if (Object.keys(config).length > 0) await writeFile(join(dataDir, 'config.json'), JSON.stringify(config));
  const programs: Record<string, string> = options.ownPrograms === true ? { PATH: join(home, 'bin') } : {};
  const env = childEnv({ HOME: home, DATA_DIR: dataDir, ...envOfThisRun, ...programs, ...options.env });
  const cli = (...args: string[]) => runCli(args, env);
  const cliJson = async <Body>(...args: string[]) => {
    const { code, stdout, stderr } = await cli(...args, '--json');
    assert.equal(code, 0, `gateway ${args.join(' ')} failed: ${stderr}`);
    return JSON.parse(stdout) as Body;
  };
  const { DATABASE_URL: database = null, STORAGE_ENCRYPTION_KEY: secret = null } = options.env ?? {};
  const place = { dataDir, database, secret };
  const key = await addKey(place, options.keyName ?? 'test');
  if (options.connections !== undefined) await addConnections(place, options.connections);
  let running: Served;
  const ownerHeaders = async () => {
    const { key } = JSON.parse(await readFile(join(dataDir, 'run.json'), 'utf8')) as { key: string };
    return { host: `127.0.0.1:${running.port}`, 'x-auth-token': key };
  };
  let pinned: WorkerClient | null = null;
  const start = async () => {
    pinned?.close();
    running = await serve(env, options.openFiles);
    const [worker] = options.oneWorker === true ? await workersOf(running.pid) : [];
    pinned = worker === undefined ? null : clientOfWorker(running.port, worker);
  };
  const gateway: RunningGateway = {
    get url() {
      return running.url;
    },
    get port() {
      return running.port;
    },
    get pid() {
      return running.pid;
    },
    pids: async () => [running.pid, ...(await workersOf(running.pid))],
    key,
    dataDir,
    home,
    output: () => running.output(),
    cli,
    cliJson,
    async connect(connection) {
      await addConnections(place, [connection]);
      await waitFor(`the connection ${connection.name}`, async () => {
        const list = await gateway.send({ method: 'GET', path: `/v1/models`, headers: bearer(gateway.key) });
        return list.text.includes(`"${connection.name}/`) || list.text.includes(`(${connection.name})`);
      });
      if (env['GATEWAY_WORKERS'] === undefined) return;
      // The one that knows it is one of several: this is answered when all do.
      const reply = await gateway.manage('POST', '/api/services/data-plane', { action: 'reload' });
      assert.equal(reply.status, 200, reply.text);
    },
    ask(path, body, headers = {}) {
      const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      return gateway.send({
        path,
        headers: { 'content-type': 'application/json', ...bearer(gateway.key), ...headers },
        body: text,
      });
    },
    async manage(method, path, body) {
      const headers = { ...(await ownerHeaders()), 'content-type': 'application/json' };
      return gateway.send({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    send: (request) => pinned?.send(request) ?? exchange(running.port, request),
    client: () => pinned?.open() ?? openClient(running.port),
    async entry(requestId) {
      assert.ok(requestId, 'the answer has no x-request-id');
      let found: LedgerLine | undefined;
      await waitFor(`the ledger entry of ${requestId}`, async () => {
        const rows = await ledgerLines(place, { search: requestId, limit: 2 });
        assert.ok(rows.length <= 1, 'a request is recorded once');
        found = rows[0];
        return found !== undefined;
      });
      assert.ok(found);
      return found;
    },
    entries: (limit = 1000) => ledgerLines(place, { limit }),
    async forgive() {
      const path = '/api/connections';
      const list = await gateway.manage('GET', `${path}?expand=resources`);
      assert.equal(list.status, 200, list.text);
      const { resources } = list.json() as { resources: { id: string; condition: { state: string } }[] };
      for (const { id } of resources) {
        const reply = await gateway.manage('POST', `${path}/${id}`, { action: 'reset' });
        assert.ok(reply.status === 200 || reply.status === 409 || reply.status === 400, reply.text);
      }
    },
    async residentBytes() {
      const sizes = await Promise.all((await gateway.pids()).map(residentBytes));
      return sizes.reduce((sum, bytes) => sum + bytes, 0);
    },
    async stop() {
      const { code, signal } = await running.end('SIGTERM');
      pinned?.close();
      const { stderr } = running.output();
      const leftRunFile = existsSync(join(dataDir, 'run.json'));
      await rm(home, { recursive: true, force: true });
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr);
      assert.equal(leftRunFile, false, 'run.json is removed');
      assert.doesNotMatch(stderr, /a request failed inside the gateway/);
    },
    async stopServing() {
      return running.end('SIGTERM');
    },
    async kill() {
      await running.end('SIGKILL');
    },
    restart: start,
  };
  await start();
  return gateway;
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Asks until `check` is true. */
export async function waitFor(what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${PATIENCE_MS} ms`);
    await delay(20);
  }
}

interface Served {
  url: string;
  port: number;
  pid: number;
  output(): { stdout: string; stderr: string };
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

async function serve(env: Readonly<Record<string, string>>, openFiles?: number): Promise<Served> {
  const command = [process.execPath, program, 'serve', '--port', '0'];
  const limited = ['sh', '-c', `ulimit -n ${openFiles} && exec "$@"`, 'sh', ...command];
  const [file = '', ...args] = openFiles === undefined ? command : limited;
  const child = spawn(file, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const exited = once(child, 'exit');
  const listening = /listening on (http:\/\/(?:[\d.]+|\[[^\]]+\]):(\d+))/;
  const ready = new Promise<RegExpExecArray>((found) => {
    child.stdout.on('data', () => {
      const match = listening.exec(output().stdout);
      if (match !== null) found(match);
    });
  });
  const first = await Promise.race([ready, exited.then(() => null)]);
  if (first === null) {
    child.kill('SIGKILL');
    throw new Error(`the gateway did not start: ${output().stderr}${output().stdout}`);
  }
  assert.ok(child.pid !== undefined && first[1] !== undefined);
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  return {
    url: first[1],
    port: Number(first[2]),
    pid: child.pid,
    output,
    async end(signal) {
      child.kill(signal);
      const [code, by] = (await exited) as [number | null, NodeJS.Signals | null];
      process.off('exit', killOnExit);
      return { code, signal: by };
    },
  };
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const text = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text.stdout += part;
  });
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text.stderr += part;
  });
  return () => ({ ...text });
}

async function runCli(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CliResult> {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output() };
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
