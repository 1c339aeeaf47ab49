import type { DataPlaneWorkers } from '../data-plane.ts';
import { alwaysRunning, iso, type Part, type PartStatus } from '../part.ts';
import type { Check } from '../schema.ts';

/** A worker as it is shown. `since` in milliseconds since the epoch. */
interface ShownWorker {
  number: number;
  pid: number | null;
  state: 'starting' | 'serving' | 'ended';
  since: number;
}

/** The processes that serve the model endpoints. */
export interface WorkersStatus extends DataPlaneWorkers {
  states(): readonly ShownWorker[];
  /** How often one was started again after it had ended by itself. `lastAt` in milliseconds since the epoch. */
  restarts(): { count: number; lastAt: number | null };
  /** Whether some are missing because the files of the gateway have changed since it started. */
  outdated(): boolean;
  /** `untold`: events of requests that workers have left out, because too much waited for this process. */
  load(): ReturnType<DataPlaneWorkers['load']> & { untold: number };
}

export interface WorkersPartInput {
  /** Null while they are not started. */
  workers(): WorkersStatus | null;
  version: string;
  since: number;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The workers of `--workers`. One that ends is started again, so that there is nothing to start or stop here. */
export function workersPart({ now, since, version, workers }: WorkersPartInput): Part {
  return {
    key: 'workers',
    id: 'workers',
    kind: 'workers',
    critical: true,
    name: 'Workers',
    description: 'The processes that serve the model endpoints. One that ends is started again.',
    dependsOn: ['data-plane'],
    version,
    status: () => statusOf(workers(), since),
    checks: () => checksOf(workers(), now()),
    endpoints: () => [],
  };
}

function statusOf(workers: WorkersStatus | null, since: number): PartStatus {
  const base = alwaysRunning(since);
  const states = workers?.states() ?? [];
  const away = states.filter(({ state }) => state !== 'serving').length;
  if (workers === null || away === 0) return base;
  const { lastAt } = workers.restarts();
  const isOutdated = workers.outdated();
  const count = `${away} of ${states.length} workers do not serve`;
  const message = isOutdated
    ? `${count}: the files of the gateway have changed since it started; restart it`
    : count;
  const code = isOutdated ? 'restart_needed' : 'worker_ended';
  return {
    ...base,
    state: away === states.length ? 'failed' : 'degraded',
    reason: { code, message },
    error: { code, message, at: lastAt },
  };
}

function checksOf(workers: WorkersStatus | null, now: number): Check[] {
  if (workers === null) return [];
  const states = workers.states();
  const someServe = states.some(({ state }) => state === 'serving');
  const { count, lastAt } = workers.restarts();
  const { untold } = workers.load();
  return [
    ...states.map(({ number, pid, since, state }): Check => {
      const status = state === 'serving' ? 'pass' : someServe ? 'warn' : 'fail';
      const output = `${state}${pid === null ? '' : `, process ${pid}`}, since ${iso(since)}`;
      return { name: `worker ${number}`, status, observed_at: iso(now), output };
    }),
    {
      name: 'restarts',
      status: 'pass',
      observed_at: lastAt === null ? null : iso(lastAt),
      output: `${count} since the gateway was started`,
    },
    {
      name: 'records',
      status: untold === 0 ? 'pass' : 'warn',
      observed_at: iso(now),
      output: `${untold} were not shown, because this process took too long to read them; their rows in the ledger are read from the disk`,
    },
  ];
}
