import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { signalChild } from '../lib/signal-child.ts';

export interface ProgramInput {
  path: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The folder that it runs in. */
  folder: string;
  /** Told of each line of stdout and stderr. */
  onLine(line: string): void;
  /** Told once how it ended. */
  onEnd(how: string): void;
}

export interface Program {
  /** Asks it to end, and ends it after a while. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** How long a program may take to end when it is asked to. */
const STOP_MS = 2000;
/** What a program prints without a line end is cut here. */
const MAX_LINE = 16_384;

/** Runs the program of a tunnel until it ends or is stopped. */
export function runProgram({ args, environment, folder, onEnd, onLine, path }: ProgramInput): Program {
  const child = spawn(path, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => {
    let how = 'it ended';
    child.once('error', (error: NodeJS.ErrnoException) => {
      how = `it cannot be started: ${error.code ?? error.message}`;
      if (child.pid === undefined) finish();
    });
    child.once('exit', (code, signal) => {
      how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
    });
    // What it started may hold its output open for ever.
    child.once('exit', () => setTimeout(finish, LAST_LINES_MS));
    child.once('close', finish);
    let finished = false;
    function finish(): void {
      if (finished) return;
      finished = true;
      resolve();
      onEnd(how);
    }
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => onLine(line.slice(0, MAX_LINE)));
  return {
    async stop() {
      signalChild(child, 'SIGTERM');
      const timer = setTimeout(() => signalChild(child, 'SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

const LAST_LINES_MS = 500;
