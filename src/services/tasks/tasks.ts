import type { Selectable } from 'kysely';
import { newId } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import type { TaskTable } from '../../store/tables.ts';
import type { TaskStatus } from '../schema.ts';

export type TaskRecord = Selectable<TaskTable>;

export interface NewTask {
  /** What is done: `stop`. */
  name: string;
  /** The path of what it is done to. */
  target: string;
  userId: string;
  message: string;
}

/** Work that continues after its request was answered, in the store so that its end is known after a crash as well. */
export interface Tasks {
  /** Begins a task. Returns its id. */
  begin(task: NewTask): Promise<string>;
  /** @param progress from 0 to 1 */
  progress(id: string, progress: number, message: string): Promise<void>;
  finish(id: string, status: TaskStatus, message: string, result?: Record<string, unknown>): Promise<void>;
  /** Newest first; those of one user, or all for null. */
  list(userId: string | null): Promise<TaskRecord[]>;
  find(id: string): Promise<TaskRecord | null>;
  /** Forgets finished tasks that are old or too many. */
  sweep(): Promise<void>;
}

const KEPT_MS = 7 * 24 * 3_600_000;
const KEPT = 1000;

/** Opens the tasks of a store. What was under way when the last gateway ended will not be finished, and says so. */
export async function openTasks({ db, node }: Pick<Store, 'db' | 'node'>, now: () => number): Promise<Tasks> {
  await db
    .updateTable('tasks')
    .set({
      state: 'Finished',
      status: 'Error',
      updated_at: now(),
      message: 'interrupted: the gateway ended before this was done',
    })
    .where('state', '!=', 'Finished')
    .$if(node !== '', (query) => query.where('node', '=', node))
    .execute();
  const change = async (id: string, values: Partial<TaskRecord>): Promise<void> => {
    await db
      .updateTable('tasks')
      .set({ ...values, updated_at: now() })
      .where('id', '=', id)
      .where('state', '!=', 'Finished')
      .execute();
  };
  const newest = () => db.selectFrom('tasks').orderBy('created_at', 'desc').orderBy('id', 'desc');
  return {
    async begin({ message, name, target, userId }) {
      const time = now();
      const id = newId('task', time);
      await db
        .insertInto('tasks')
        .values({
          id,
          name,
          target,
          state: 'Active',
          status: 'Ok',
          message,
          user_id: userId,
          created_at: time,
          updated_at: time,
          progress: 0,
          result: null,
          node: node === '' ? null : node,
        })
        .execute();
      return id;
    },
    progress: (id, progress, message) => change(id, { progress, message }),
    finish: (id, status, message, result) =>
      change(id, {
        state: 'Finished',
        status,
        message,
        progress: 1,
        result: result === undefined ? null : JSON.stringify(result),
      }),
    list: (userId) =>
      newest()
        .selectAll()
        .$if(userId !== null, (query) => query.where('user_id', '=', userId))
        .execute(),
    async find(id) {
      return (await db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async sweep() {
      await db
        .deleteFrom('tasks')
        .where('state', '=', 'Finished')
        .where((where) =>
          where.or([
            where('created_at', '<', now() - KEPT_MS),
            where('id', 'not in', newest().select('id').limit(KEPT)),
          ]),
        )
        .execute();
    },
  };
}
