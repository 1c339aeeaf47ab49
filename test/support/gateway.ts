import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnv } from './child-env.ts';
import { exchange, openClient, type RawClient, type Reply, type RequestLine } from './client.ts';

const program = resolve(import.meta.dirname, '../../src/cli/main.ts');

/** A row of `gateway logs --json`. */
export interface LedgerLine {
  id: string;
  status: number;
  outcome: 'ok' | 'failed' | 'aborted';
  key_id: string | null;
  provider: string | null;
  connection: string | null;
  format: string;
  requested_model: string | null;
  model: string | null;
  streamed: boolean;
  usage: Record<string, number> | null;
  estimated: boolean;
  cost_usd: number | null;
  price_source: string | null;
  ttft_ms: number | null;
  duration_ms: number;
  attempts: number;
  error: { code: string; message: string | null } | null;
  upstream_request_id: string | null;
  user_agent: string | null;
}

export interface GatewayOptions {
  /** `DATA_DIR/config.json`. */
  config?: object;
  env?: Readonly<Record<string, string>>;
  /** Connections to add before the start. */
  connections?: readonly ConnectionInput[];
}

export interface ConnectionInput {
  provider: string;
  name: string;
  baseUrl: string;
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
  /** A gateway key without restrictions. */
  key: string;
  dataDir: string;
  home: string;
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string };
  /** The program in another process, on the same data directory. */
  cli(...args: string[]): Promise<CliResult>;
  /** The same, which must succeed and print one JSON document. */
  cliJson(...args: string[]): Promise<Record<string, unknown>>;
  /** Adds a connection; the gateway knows it by the time this resolves. */
  connect(connection: ConnectionInput): Promise<void>;
  /** A request with the key, answered whole. */
  ask(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** One request on its own connection, sent as it is. */
  send(request: RequestLine): Promise<Reply>;
  /** A raw connection. */
  client(): Promise<RawClient>;
  /** Waits for the ledger row of a request. */
  entry(requestId: string | undefined): Promise<LedgerLine>;
  /** All rows, oldest first. */
  entries(limit?: number): Promise<LedgerLine[]>;
  /** Clears what is held against all connections, so that an earlier test does not decide over a later one. */
  forgive(): Promise<void>;
  /** Resident set size in bytes. */
  residentBytes(): Promise<number>;
  /** SIGTERM; asserts exit 0, no internal error in the log, and nothing left behind. */
  stop(): Promise<void>;
  /** SIGKILL; the data directory stays. */
  kill(): Promise<void>;
  /** Starts again on the same data directory and with the same key, on a new port. */
  restart(): Promise<void>;
}

/** Starts the real program in its own process with its own, empty home and data directory. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-e2e-'));
  const dataDir = join(home, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  if (options.config !== undefined)
    await writeFile(join(dataDir, 'config.json'), JSON.stringify(options.config));
  const env = childEnv({ HOME: home, DATA_DIR: dataDir, ...options.env });
  const cli = (...args: string[]) => runCli(args, env);
  const cliJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(...args, '--json');
    assert.equal(code, 0, `gateway ${args.join(' ')} failed: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const added = await cliJson('keys', 'add', 'test');
  for (const connection of options.connections ?? []) await cliJson(...addArguments(connection));
  let running = await serve(env);
  const logRows = async (...args: string[]): Promise<LedgerLine[]> => {
    const { code, stdout, stderr } = await cli('logs', '--json', ...args);
    assert.equal(code, 0, stderr);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LedgerLine);
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
    key: String(added['key']),
    dataDir,
    home,
    output: () => running.output(),
    cli,
    cliJson,
    async connect(connection) {
      await cliJson(...addArguments(connection));
      await waitFor(`the connection ${connection.name}`, async () => {
        const list = await gateway.send({ method: 'GET', path: `/v1/models`, headers: bearer(gateway.key) });
        return list.text.includes(`"${connection.name}/`) || list.text.includes(`(${connection.name})`);
      });
    },
    ask(path, body, headers = {}) {
      const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      return gateway.send({
        path,
        headers: { 'content-type': 'application/json', ...bearer(gateway.key), ...headers },
        body: text,
      });
    },
    send: (request) => exchange(running.port, request),
    client: () => openClient(running.port),
    async entry(requestId) {
      assert.ok(requestId, 'the answer has no x-request-id');
      let found: LedgerLine | undefined;
      await waitFor(`the ledger entry of ${requestId}`, async () => {
        const rows = await logRows('--search', requestId);
        assert.ok(rows.length <= 1, 'a request is recorded once');
        found = rows[0];
        return found !== undefined;
      });
      assert.ok(found);
      return found;
    },
    entries: (limit = 1000) => logRows('--limit', String(limit)),
    async forgive() {
      const { key } = JSON.parse(await readFile(join(dataDir, 'run.json'), 'utf8')) as { key: string };
      const [path, headers] = [
        '/api/connections',
        { host: `127.0.0.1:${running.port}`, 'x-auth-token': key },
      ];
      const list = await gateway.send({ method: 'GET', path: `${path}?expand=resources`, headers });
      assert.equal(list.status, 200, list.text);
      const { resources } = list.json() as { resources: { id: string; condition: { state: string } }[] };
      for (const { id } of resources) {
        const body = JSON.stringify({ action: 'reset' });
        const sent = { ...headers, 'content-type': 'application/json' };
        const reply = await gateway.send({ method: 'POST', path: `${path}/${id}`, headers: sent, body });
        assert.ok(reply.status === 200 || reply.status === 409 || reply.status === 400, reply.text);
      }
    },
    residentBytes: () => residentBytes(running.pid),
    async stop() {
      const { code, signal } = await running.end('SIGTERM');
      const { stderr } = running.output();
      const leftRunFile = existsSync(join(dataDir, 'run.json'));
      await rm(home, { recursive: true, force: true });
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr);
      assert.equal(leftRunFile, false, 'run.json is removed');
      assert.doesNotMatch(stderr, /a request failed inside the gateway/);
    },
    async kill() {
      await running.end('SIGKILL');
    },
    async restart() {
      running = await serve(env);
    },
  };
  return gateway;
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Asks until `check` is true. */
export async function waitFor(
  what: string,
  check: () => Promise<boolean> | boolean,
  ms = 30_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${ms} ms`);
    await delay(50);
  }
}

function addArguments({ provider, name, baseUrl, apiKey = 'upstream-secret' }: ConnectionInput): string[] {
  const credential = apiKey === null ? [] : ['--api-key', apiKey];
  return [
    'provider', 'add', provider, '--name', name, '--base-url', baseUrl, '--default-model', 'm-1', ...credential,
  ]; // biome-ignore format: a command line
}

interface Served {
  url: string;
  port: number;
  pid: number;
  output(): { stdout: string; stderr: string };
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

async function serve(env: Readonly<Record<string, string>>): Promise<Served> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
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
  const first = await Promise.race([ready, exited.then(() => null), delay(20_000, null, { ref: false })]);
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
