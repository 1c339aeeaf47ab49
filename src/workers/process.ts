import cluster, { type Worker } from 'node:cluster';
import { getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
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
  /** Told once the process has ended, with the reason in words. */
  ended(reason: string): void;
}

/**
 * Starts a worker. The workers of a gateway share one listening socket, from which each takes the connections that it has
 * time for.
 */
export function startWorker({ start, ...input }: WorkerProcessInput): WorkerProcess {
  const file = `../worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL(file, import.meta.url)),
    args: [],
    execArgv: [...process.execArgv, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const cache = getCompileCacheDir?.();
  const worker: Worker = cluster.fork(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache });
  const channel: Channel<OwnerEvent, WorkerQuestions> = createChannel({
    ...input,
    delayMs: 0,
    send: (message) => send(worker, message),
  });
  worker.on('message', channel.receive);
  let failure: string | null = null;
  worker.on('error', (error) => {
    failure = error.message;
  });
  worker.on('exit', (code, signal) => {
    channel.close();
    input.ended(failure ?? (signal === null ? `exit code ${code}` : signal));
  });
  send(worker, { start });
  return {
    ...channel,
    pid: worker.process.pid ?? null,
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** A message to a worker that is gone is lost, which its end tells. */
function send(worker: Worker, message: unknown): void {
  if (worker.process.connected) worker.process.send(message as object, undefined, undefined, () => {});
}
