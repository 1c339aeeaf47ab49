import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { waitFor } from '../gateway/gateway.ts';

/** A server that belongs to one test. It ends with the process that started it, whatever that process dies of. */
export interface ServerProcess {
  /** What it has written so far. */
  output(): string;
  /** SIGSTOP: connections stay open, and nothing is answered. */
  pause(): void;
  resume(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** What a test can do to a broker of its own. */
export interface PrivateBroker {
  readonly url: string;
  readonly port: number;
  pause(): void;
  resume(): void;
  /** SIGKILL, as when the machine loses its power but for the disk's cache. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and with the same data. */
  start(): Promise<void>;
}

export interface ServerInput {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Whether it serves, by what it has written; asked until it does. */
  ready(output: string): boolean | Promise<boolean>;
}

/** @throws when it ends before it is ready */
export async function startServer({ args, command, env = {}, ready }: ServerInput): Promise<ServerProcess> {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
  });
  let output = '';
  let gone = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'exit').finally(() => {
    gone = true;
  });
  const server: ServerProcess = {
    output: () => output,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  await waitFor(command, async () => gone || (await ready(output)));
  if (gone) throw new Error(`${command} ended: ${output}`);
  return server;
}

/** A broker whose server can be killed and started again. @throws when it ends before it is ready */
export async function startBroker(url: string, port: number, server: ServerInput): Promise<PrivateBroker> {
  let running = await startServer(server);
  return {
    url,
    port,
    pause: () => running.pause(),
    resume: () => running.resume(),
    kill: () => running.kill(),
    async start() {
      running = await startServer(server);
    },
  };
}

/** A port that nothing serves, below those that the kernel gives away itself, so that it stays free while a server is down. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (!(await accepts(port))) return port;
  }
}

/** Whether something serves this port. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Whether the programs of a broker are installed. Tests are passed over where they are not.
 * @throws where `TESTS_NEED_BROKERS` is set
 */
export function installed(...commands: readonly string[]): boolean {
  const missing = commands.filter((command) => spawnSync('which', [command]).status !== 0);
  if (missing.length > 0 && process.env['TESTS_NEED_BROKERS'] === '1')
    throw new Error(`Not installed: ${missing.join(', ')}`);
  return missing.length === 0;
}
