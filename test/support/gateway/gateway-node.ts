import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { freePort } from '../brokers/server-process.ts';
import { exchange, type Reply } from '../clients/client.ts';
import { childEnv } from './child-env.ts';
import { waitFor } from './gateway.ts';
import { program } from './program.ts';

export interface NodeInput {
  /** Made if it is not there. It stays when the gateway ends. */
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** `DATA_DIR/config.json`. */
  readonly config?: object;
}

/** One gateway of several, in a process of its own, on a port that stays the same over restarts, as behind a balancer. */
export interface GatewayNode {
  readonly port: number;
  readonly dataDir: string;
  /** Resolves when it is ready. @throws with its log when it ends instead */
  start(): Promise<void>;
  /** SIGTERM: open requests may finish. @returns its exit code */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open, and nothing is answered. */
  pause(): void;
  resume(): void;
  running(): boolean;
  /** Everything that it has logged since its first start, at most the last megabyte. */
  log(): string;
  /** Requests of the management API, by the key of the machine's owner. */
  manage(method: string, path: string, body?: unknown): Promise<Reply>;
  /** The key of the machine's owner, which each start makes anew. @throws while there is none */
  ownerKey(): string;
  /** The process that was started, and then its workers. Empty while it is not running. */
  pids(): readonly number[];
}

/** What a process has at a moment; null for one that has ended. */
export function usedBy(pid: number): { openFiles: number; residentBytes: number } | null {
  const openFiles = entriesOf(`/proc/${pid}/fd`);
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(textOf(`/proc/${pid}/status`)) ?? [];
  return openFiles === null || kilobytes === undefined
    ? null
    : { openFiles, residentBytes: Number(kilobytes) * 1_024 };
}

const LOG_CHARACTERS = 1_048_576;

export async function gatewayNode({ config, dataDir, env }: NodeInput): Promise<GatewayNode> {
  const port = await freePort();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (config !== undefined) writeFileSync(`${dataDir}/config.json`, JSON.stringify(config));
  const variables = childEnv({ HOME: dirname(dataDir), ...env, DATA_DIR: dataDir });
  let log = '';
  let current: { child: ChildProcess; exited: Promise<unknown[]> } | null = null;
  const hear = (text: string): void => {
    log = (log + text).slice(-LOG_CHARACTERS);
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (current === null) return null;
    const { child, exited } = current;
    // A stopped process does not get SIGTERM.
    child.kill('SIGCONT');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  };
  const ownerKey = (): string => {
    const { key } = JSON.parse(readFileSync(`${dataDir}/run.json`, 'utf8')) as { key: string };
    return key;
  };
  return {
    port,
    dataDir,
    ownerKey,
    async start() {
      assert.equal(current, null, 'it runs already');
      const args = ['--pdeathsig', 'KILL', process.execPath, program, 'serve', '--port', String(port)];
      const child = spawn('setpriv', args, { env: variables, stdio: ['ignore', 'pipe', 'pipe'] });
      const exited = once(child, 'exit');
      current = { child, exited };
      void exited.then(() => {
        if (current?.child === child) current = null;
      });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      child.stderr.setEncoding('utf8').on('data', hear);
      await waitFor('the gateway', () => child.exitCode !== null || printed.includes('listening on'));
      if (child.exitCode !== null)
        throw new Error(`the gateway did not start: ${printed}${log.slice(-2_000)}`);
    },
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL');
    },
    pause: () => void current?.child.kill('SIGSTOP'),
    resume: () => void current?.child.kill('SIGCONT'),
    running: () => current !== null,
    log: () => log,
    async manage(method, path, body) {
      const headers = {
        host: `127.0.0.1:${port}`,
        'x-auth-token': ownerKey(),
        'content-type': 'application/json',
      };
      return exchange(port, {
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    pids() {
      const pid = current?.child.pid;
      if (pid === undefined) return [];
      const workers = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
      return [pid, ...workers];
    },
  };
}

/** Null for a process that has just ended. */
function entriesOf(folder: string): number | null {
  try {
    return readdirSync(folder).length;
  } catch {
    return null;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
