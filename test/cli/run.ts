import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { commandList } from '../../src/cli/commands/index.ts';
import { run as runProgram } from '../../src/cli/program.ts';
import { createIo } from '../../src/cli/terminal/io.ts';
import { childEnv } from '../support/gateway/child-env.ts';
import { program } from '../support/gateway/program.ts';

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The one JSON document on stdout. */
  json(): Record<string, unknown>;
  json<Body>(): Body;
}

export interface RunOptions {
  env?: Readonly<Record<string, string>>;
  stdin?: string;
}

export interface Serving {
  url: string;
  port: number;
  /** Closes the pipes that its output goes to. */
  hangUp(): void;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<{ code: number | null }>;
}

/** The real program, in child processes of this Node.js, each sandbox with its own home and data directory. */
export interface Sandbox {
  dataDir: string;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  spawn(args: readonly string[], options?: RunOptions): ChildProcessWithoutNullStreams;
  /** `gateway serve` on a free port. */
  serve(options?: RunOptions): Promise<Serving>;
  /** Ends what still runs and removes the folder. */
  close(): Promise<void>;
}

export async function createSandbox(): Promise<Sandbox> {
  const home = await mkdtemp(join(tmpdir(), 'modelgate-cli-'));
  const dataDir = join(home, 'data');
  const children = new Set<ChildProcessWithoutNullStreams>();

  const start: Sandbox['spawn'] = (args, { env = {} } = {}) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
      cwd: home,
      env: childEnv({ HOME: home, DATA_DIR: dataDir, ...env }),
    });
    children.add(child);
    child.once('close', () => children.delete(child));
    // A program that ends without reading its input closes the pipe; that is for the test to judge by its exit.
    child.stdin.on('error', () => {});
    return child;
  };

  const run: Sandbox['run'] = async (args, options = {}) => {
    const child = start(args, options);
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    child.stdin.end(options.stdin ?? '');
    const [code] = (await once(child, 'close')) as [number | null];
    return ran(code, stdout(), stderr());
  };

  const serve: Sandbox['serve'] = async (options = {}) => {
    const child = start(['serve', '--port', '0'], options);
    const stderr = collect(child.stderr);
    const url = await listening(child, stderr);
    return {
      url,
      port: Number(new URL(url).port),
      hangUp: () => {
        child.stdout.destroy();
        child.stderr.destroy();
      },
      stop: async () => {
        const closed = once(child, 'close') as Promise<[number | null]>;
        child.kill('SIGTERM');
        const [code] = await closed;
        return { code };
      },
    };
  };

  const close = async () => {
    await Promise.all(
      [...children].map(async (child) => {
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        await closed;
      }),
    );
    await rm(home, { recursive: true, force: true });
  };

  return { dataDir, run, spawn: start, serve, close };
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  return () => Buffer.concat(pieces).toString('utf8');
}

function ran(code: number | null, stdout: string, stderr: string): Ran {
  return {
    code,
    stdout,
    stderr,
    json: () => {
      try {
        return JSON.parse(stdout);
      } catch {
        throw new Error(`stdout is not one JSON document (exit ${code}):\n${stdout}\n--- stderr:\n${stderr}`);
      }
    },
  };
}

function listening(child: ChildProcessWithoutNullStreams, stderr: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString('utf8');
      const [, url] = /listening on (http:\S+)/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once('close', (code) => reject(new Error(`serve ended with ${code}: ${text}${stderr()}`)));
  });
}

/** The program inside this process, for what needs no sandbox because it opens nothing. */
export async function runHere(args: readonly string[]): Promise<Pick<Ran, 'code' | 'stdout' | 'stderr'>> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const printed = collect(stdout);
  const noted = collect(stderr);
  const io = createIo({
    json: args.includes('--json'),
    nonInteractive: true,
    readsKeys: true,
    stdin: new PassThrough(),
    stdout,
    stderr,
    onBrokenPipe: () => {},
  });
  const code = await runProgram(args, io, commandList);
  if (typeof code !== 'number') throw new Error('a program was started in the place of this one');
  return { code, stdout: printed(), stderr: noted() };
}
