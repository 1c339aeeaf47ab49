import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface ProgramInput {
  /** A program on the PATH of `env`, or a path. It is started without a shell. */
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** How long it may take to end when it is asked to, in milliseconds. */
  graceMs: number;
}

/** How a program ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it could not be started; null where it was. */
  error: NodeJS.ErrnoException | null;
}

/** A running program and all that it starts: they are one process group, and end together. */
export interface Program {
  pid: number | null;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Resolves once the program has ended; what it left running is ended by then. */
  exited: Promise<Exit>;
  /** Asks the group to end (SIGTERM), and ends it after a while (SIGKILL). Resolves when the program is gone. */
  stop(): Promise<Exit>;
}

/** Starts a program in a process group of its own. Never throws: a failure to start is how it ended. */
export function startProgram({ args, command, cwd, env, graceMs }: ProgramInput): Program {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(command, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const { promise: exited, resolve } = Promise.withResolvers<Exit>();
  let ended = false;
  const finish = (exit: Exit) => {
    if (ended) return;
    ended = true;
    // Some leave programs behind that hold memory, and our pipes.
    signalGroup(child.pid, 'SIGKILL');
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    resolve(exit);
  };
  child.once('error', (error: NodeJS.ErrnoException) => {
    if (child.pid === undefined) finish({ code: null, signal: null, error });
  });
  child.once('exit', (code, signal) => {
    // What it wrote last is still on its way through the pipes.
    const last = () => finish({ code, signal, error: null });
    child.once('close', last);
    setTimeout(last, LAST_WORDS_MS).unref();
  });
  child.stdin.on('error', () => {});
  return {
    pid: child.pid ?? null,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    async stop() {
      if (ended) return exited;
      child.stdin.end();
      signalGroup(child.pid, 'SIGTERM');
      const timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs);
      const exit = await exited;
      clearTimeout(timer);
      return exit;
    },
  };
}

/** Programs that a program left behind may hold its pipes open for ever. */
const LAST_WORDS_MS = 250;

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') {
      const force = signal === 'SIGKILL' ? ['/F'] : [];
      spawn('taskkill', ['/PID', String(pid), '/T', ...force], { stdio: 'ignore', windowsHide: true }).on(
        'error',
        () => {},
      );
    } else process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}

/** How a program ended, in words: `it ended with exit code 3`. */
export function describeExit({ code, error, signal }: Exit): string {
  if (error !== null) {
    if (error.code === 'ENOENT') return 'its program was not found';
    if (error.code === 'EACCES') return 'its program may not be run';
    return `it cannot be started (${error.code ?? error.message})`;
  }
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}
