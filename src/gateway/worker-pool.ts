import type { OpenCall } from '../proxy/request/open-call.ts';
import type { Workers, WorkersInput } from '../workers/open.ts';
import type { OpenInput } from './open-input.ts';

/** The processes that serve the data plane beside this one. */
export interface WorkerPool {
  /** Null until there are some, and where this process serves all. */
  workers: Workers | null;
}

/** Starts the workers, whose code is loaded only where there are some. They listen when they are told to. */
export async function startWorkers(
  pool: WorkerPool,
  { onClose }: Pick<OpenInput, 'onClose'>,
  input: WorkersInput,
): Promise<Workers> {
  const { openWorkers } = await import('../workers/open.ts');
  const workers = openWorkers(input);
  pool.workers = workers;
  onClose('workers', () => pool.workers?.close());
  return workers;
}

/** Answers once what the workers have answered before has arrived here, so that who asks finds it; at once where there are none. */
export function afterFlush(
  { workers }: Readonly<WorkerPool>,
  answer: () => Promise<void> | true,
): Promise<void> | true {
  return workers === null ? answer() : workers.flush().then(async () => void (await answer()));
}

/** Model requests under way in this process and its workers, and how many of them wait for a target to be ready again. */
export function openCalls(
  { workers }: Readonly<WorkerPool>,
  own: readonly OpenCall[],
): { open: number; waiting: number } {
  const load = workers?.load();
  return {
    open: own.length + (load?.open ?? 0),
    waiting: own.filter(({ waits }) => waits === true).length + (load?.waiting ?? 0),
  };
}
