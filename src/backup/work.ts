import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { Progress } from './create.ts';

/** Where it is kept how far the work on a backup is. */
export interface BackupTasks {
  begin(task: { name: string; target: string; userId: string; message: string }): Promise<string>;
  progress(id: string, progress: number, message: string): Promise<void>;
  finish(
    id: string,
    status: 'Ok' | 'Error',
    message: string,
    result?: Record<string, unknown>,
  ): Promise<void>;
}

/** Work on a backup that failed after its request was answered. */
export interface FailedWork {
  caller: Caller;
  action: 'create' | 'verify';
  /** The id of the backup. */
  target: string;
  /** The error's code. */
  reason: string;
}

/** Work on a backup that has ended. */
export interface EndedWork extends Omit<FailedWork, 'reason'> {
  /** The error's code; null for a success. */
  reason: string | null;
}

export interface WorkInput {
  dataDir: string;
  tasks: BackupTasks;
  /** Records a failure that was in no answer. */
  onFailure(work: FailedWork): Promise<void>;
  /** Called with each piece of work when it has ended. */
  onEnd?(work: EndedWork): void;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
}

/** One piece of work. */
export interface NewWork {
  action: FailedWork['action'];
  /** The id of the backup. */
  id: string;
  caller: Caller;
  /** What the task says at first. */
  message: string;
  /** @throws GatewayError that says what is wrong with the backup */
  run(progress: Progress): Promise<{ message: string; result: Record<string, unknown> }>;
}

/** How a piece of work ended. */
export interface WorkEnd {
  success: boolean;
  message: string;
}

interface TaskEnd extends WorkEnd {
  /** The error's code; null for a success. */
  reason: string | null;
}

export interface BackupWork {
  /**
   * Begins work and returns with its task: at once, or, where `wait` is set, after a moment, with its end if that has
   * come. A failure that is not returned is recorded.
   * @throws GatewayError `conflict` while there is other work
   */
  begin(work: NewWork, wait: boolean): Promise<{ taskId: string; end: WorkEnd | null }>;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

/** How often it is noted how far the work is. */
const NOTED_MS = 500;
/** What is done so soon is answered with its end. */
const MOMENT_MS = 500;

/** Work on backups, which reads or writes whole databases: one piece at a time, each kept in a task. */
export function createBackupWork(input: WorkInput): BackupWork {
  const { dataDir, report, tasks } = input;
  let working: Promise<void> | null = null;

  /** Does it, and keeps its task up to date. Never rejects. */
  const carryOut = async (taskId: string, work: NewWork): Promise<TaskEnd> => {
    const { action, caller, id: target } = work;
    try {
      const { message, result } = await work.run(noting(input, taskId));
      await tasks.finish(taskId, 'Ok', message, result);
      input.onEnd?.({ action, caller, target, reason: null });
      return { success: true, message, reason: null };
    } catch (error) {
      const isGatewayError = error instanceof GatewayError;
      if (!isGatewayError || error.status >= 500) report(error);
      const message = isGatewayError
        ? error.message.replaceAll(`${dataDir}/`, '')
        : 'It failed; the log has the cause';
      await tasks.finish(taskId, 'Error', message).catch(report);
      const reason = isGatewayError ? error.code : 'internal_error';
      input.onEnd?.({ action, caller, target, reason });
      return { success: false, message, reason };
    }
  };

  const recordedFailure = async (ended: Promise<TaskEnd>, { action, caller, id }: NewWork): Promise<void> => {
    const { reason } = await ended;
    if (reason !== null) await input.onFailure({ action, caller, reason, target: id });
  };

  return {
    async begin(work, wait) {
      if (working !== null)
        throw new GatewayError('conflict', 'A backup is being made or checked: wait until its task is done');
      const { promise, resolve } = Promise.withResolvers<void>();
      working = promise.then(() => {
        working = null;
      });
      const { action, caller, id, message } = work;
      try {
        const taskId = await tasks.begin({
          name: action === 'create' ? 'backup' : action,
          target: `/api/backups/${id}`,
          userId: caller.userId,
          message,
        });
        const ended = carryOut(taskId, work);
        const end = wait ? await Promise.race([ended, delay(MOMENT_MS, null, { ref: false })]) : null;
        const recording = end === null ? recordedFailure(ended, work) : Promise.resolve();
        void recording.catch(report).finally(resolve);
        return { taskId, end: end && { success: end.success, message: end.message } };
      } catch (error) {
        resolve();
        throw error;
      }
    },
    settled: async () => (await working) ?? undefined,
  };
}

/** Notes from time to time how far a task is. */
function noting({ report, tasks }: Pick<WorkInput, 'report' | 'tasks'>, taskId: string): Progress {
  let noted = performance.now();
  return (done, doing) => {
    if (performance.now() - noted < NOTED_MS) return;
    noted = performance.now();
    tasks.progress(taskId, done, doing).catch(report);
  };
}
