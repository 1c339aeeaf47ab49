import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { signalChild } from '../../lib/signal-child.ts';
import type { ProcessCommand } from '../../tools/launching/windows-command.ts';
import type { ChildEnd } from '../terminal/exit-code.ts';

export interface ChildInput {
  command: ProcessCommand;
  environment: Readonly<Record<string, string | undefined>>;
  /** Whether the terminal sends its signals to both programs, so that none of them is passed on. */
  terminal: boolean;
  /** Told why the program cannot be run. */
  onRefused(reason: string): void;
}

/** As shells say it. */
export const CANNOT_RUN = 126;
/** What a terminal sends to everybody in front of it, and what only reaches the process that it is sent to. */
const ofTerminal = ['SIGINT', 'SIGQUIT', 'SIGTSTP'] as const;
const passedOn = ['SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a program in the place of this one: with its terminal, in its process group, until it ends. Signals reach it,
 * and when it is suspended, so is this one.
 * @returns how it ended; 126 for what the system cannot run
 */
export function runChild({ command, environment, onRefused, terminal }: ChildInput): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const listeners = new Map<NodeJS.Signals, () => void>();
    const on = (signal: NodeJS.Signals, act: (running: ChildProcess) => unknown) => {
      const listener = () => void (child !== null && act(child));
      listeners.set(signal, listener);
      process.on(signal, listener);
    };
    let child: ChildProcess | null = null;
    // Before the start: a signal in between would end this process and leave the child alone.
    for (const signal of ofTerminal) on(signal, (running) => !terminal && signalChild(running, signal));
    for (const signal of passedOn) on(signal, (running) => signalChild(running, signal));
    if (process.platform !== 'win32') on('SIGCONT', (running) => signalChild(running, 'SIGCONT'));
    if (process.platform === 'linux') on('SIGCHLD', suspendWith);
    const started = spawn(command.file, command.args, {
      env: environment,
      stdio: 'inherit',
      windowsVerbatimArguments: command.verbatim,
    });
    child = started;
    const finish = () => {
      for (const [signal, act] of listeners) process.off(signal, act);
    };
    started.once('error', (error: NodeJS.ErrnoException) => {
      finish();
      onRefused(error.code ?? error.message);
      resolve({ exitCode: CANNOT_RUN });
    });
    started.once('exit', (code, signal) => {
      finish();
      resolve(signal === null ? { exitCode: code ?? 1 } : { signal });
    });
  });
}

/**
 * Stops this process when the child has stopped itself alone, as full-screen programs do for Ctrl+Z: the shell waits for
 * this one, and would not get its terminal back. Only Linux tells the state of a process without starting another.
 */
function suspendWith(child: ChildProcess): void {
  if (!isStopped(child.pid)) return;
  process.kill(process.pid, 'SIGSTOP');
  // This process continues, and so does the child: at once, so that no earlier news of its stop is taken for a new one.
  child.kill('SIGCONT');
}

function isStopped(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The state stands behind the name, which is in parentheses and may hold anything.
    return stat[stat.lastIndexOf(')') + 2] === 'T';
  } catch {
    // It has ended.
    return false;
  }
}
