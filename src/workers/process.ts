import cluster, { type Worker } from 'node:cluster';
import { getCompileCacheDir } from 'node:module';
import { signalChild } from '../lib/signal-child.ts';
import { workerFile } from './build.ts';
import { type Answers, type Channel, createChannel } from './channel.ts';
import type { OwnerEvent, OwnerQuestions, WorkerEvent, WorkerQuestions, WorkerStart } from './message.ts';

/** One process that serves the data plane, as its owner sees it. */
export interface WorkerProcess extends Channel<OwnerEvent, WorkerQuestions> {
  pid: number | null;
  /** Ends it at once. */
  kill(): void;
}

export interface WorkerProcessInput {
  start: WorkerStart;
  hear(event: WorkerEvent): void;
  answers: Answers<OwnerQuestions>;
  onError(error: unknown): void;
  /** What it has to run, as `buildOnDisk` has it: what this process knows how to speak with. */
  build: string | null;
  /** Told that it runs something else. It is ended. */
  onOutdated(): void;
  /** Called once the process has ended, with the reason in words. */
  onEnd(reason: string): void;
}

/**
 * Starts a worker. The workers of a gateway share one listening socket, from which each takes the connections that it has
 * time for.
 */
export function startWorker({ start, ...input }: WorkerProcessInput): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: workerFile(),
    args: [],
    execArgv: [...process.execArgv, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const cache = getCompileCacheDir?.();
  let worker: Worker;
  try {
    worker = cluster.fork(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache });
  } catch (error) {
    return neverStarted(input, error instanceof Error ? error.message : String(error));
  }
  const channel: Channel<OwnerEvent, WorkerQuestions> = createChannel({
    ...input,
    delayMs: 0,
    send: (message) => send(worker, message),
  });
  let begun = false;
  let failure: string | null = null;
  worker.on('message', (message: unknown) => {
    if (begun) channel.receive(message);
    // What is sent earlier may come before it listens, and is lost.
    else if (isOf(message, input.build)) {
      begun = true;
      send(worker, { start });
    } else {
      failure ??= OUTDATED;
      input.onOutdated();
      signalChild(worker.process, 'SIGKILL');
    }
  });
  let over = false;
  const end = (reason: string): void => {
    if (over) return;
    over = true;
    channel.close();
    input.onEnd(reason);
  };
  worker.on('error', (error) => {
    failure = error.message;
    // A process that was never there has no exit.
    if (worker.process.pid === undefined) end(failure);
  });
  worker.on('exit', (code, signal) => end(failure ?? (signal === null ? `exit code ${code}` : signal)));
  return {
    ...channel,
    pid: worker.process.pid ?? null,
    kill: () => void signalChild(worker.process, 'SIGKILL'),
  };
}

/** A worker for which the system has no process, e.g. for want of memory. Its end is told once it has been returned. */
function neverStarted(input: Omit<WorkerProcessInput, 'start'>, reason: string): WorkerProcess {
  const channel: Channel<OwnerEvent, WorkerQuestions> = createChannel({ ...input, delayMs: 0, send() {} });
  channel.close();
  setImmediate(() => input.onEnd(reason));
  return { ...channel, pid: null, kill() {} };
}

const OUTDATED = 'it runs another build than the gateway';

/** Whether the first message of a worker says that it runs this build. Of another build it may be anything. */
function isOf(message: unknown, build: string | null): boolean {
  return typeof message === 'object' && message !== null && 'build' in message && message.build === build;
}

/** A message to a worker that is gone is lost, which its end tells. */
function send(worker: Worker, message: unknown): void {
  if (worker.process.connected) worker.process.send(message as object, undefined, undefined, () => {});
}
