import type { Caller, Resource, Row } from '../../http/resource.ts';
import { iso } from '../part.ts';
import { taskRow } from '../schema.ts';
import type { TaskRecord, Tasks } from './tasks.ts';

/** Tasks that were started through this API. Admins see all of them, others their own. */
export function tasksResource({ tasks }: { tasks: Tasks }): Resource {
  return {
    name: 'tasks',
    title: 'Tasks',
    summary:
      'Background work that continues after its request was answered: your own tasks, or everybody’s for an admin.',
    record: taskRow,
    read: 'tasks:read',
    list: async (caller) => (await tasks.list(seesAll(caller) ? null : caller.userId)).map(rowOf),
    async find(id, caller) {
      const task = await tasks.find(id);
      if (task === null || !(seesAll(caller) || task.user_id === caller.userId)) return null;
      return rowOf(task);
    },
  };
}

function seesAll({ role }: Caller): boolean {
  return role === 'admin';
}

function rowOf(task: TaskRecord): Row {
  const { created_at, result, updated_at, ...rest } = task;
  return {
    ...rest,
    result: result === null ? null : JSON.parse(result),
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  };
}
