import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { admin } from '../../../test/support/management/caller.ts';
import { openStore } from '../../store/database.ts';
import { taskRow } from '../schema.ts';
import { openTasks } from './tasks.ts';
import { tasksResource } from './tasks-resource.ts';

const day = 86_400_000;

async function opened(test: TestContext) {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  const clock = { time: Date.UTC(2026, 10, 21, 10) };
  const now = () => clock.time;
  const tasks = await openTasks(store, now);
  const begin = (userId: string) =>
    tasks.begin({ name: 'stop', target: '/api/services/data-plane', userId, message: 'asked for' });
  return { store, clock, now, tasks, begin };
}

describe('tasks', () => {
  it('start, progress and finish, and are visible to their creator', async (test) => {
    const { begin, clock, tasks } = await opened(test);
    const id = await begin(admin.userId);
    const other = await begin('user_2');
    await tasks.progress(id, 0.5, 'half');
    clock.time += 1000;
    await tasks.finish(id, 'Ok', 'done', { changed: true });
    await tasks.finish(id, 'Error', 'again');
    const resource = tasksResource({ tasks });
    const row = await resource.find(id, admin);
    assert.deepEqual(row, {
      id,
      name: 'stop',
      target: '/api/services/data-plane',
      state: 'Finished',
      status: 'Ok',
      message: 'done',
      user_id: admin.userId,
      progress: 1,
      // Only where several gateways share a database.
      node: null,
      result: { changed: true },
      created_at: '2026-11-21T10:00:00.000Z',
      updated_at: '2026-11-21T10:00:01.000Z',
    });
    assert.deepEqual(taskRow.strict().parse(row), row, 'the record is the row');
    const ids = async (caller: typeof admin) => (await resource.list?.(caller))?.map((one) => one.id).sort();
    assert.deepEqual(await ids(admin), [id, other].sort());
    const viewer = { ...admin, role: 'viewer', userId: 'user_2' };
    assert.deepEqual(await ids(viewer), [other]);
    assert.equal(await resource.find(id, viewer), null);
    assert.equal((await resource.find(other, viewer))?.['state'], 'Active');
  });

  it('that were under way when the gateway ended say so', async (test) => {
    const { begin, now, store, tasks } = await opened(test);
    const [left, done] = [await begin('user_1'), await begin('user_1')];
    await tasks.finish(done, 'Ok', 'done');
    const again = await openTasks(store, now);
    const task = await again.find(left);
    assert.deepEqual([task?.state, task?.status], ['Finished', 'Error']);
    assert.match(String(task?.message), /interrupted/);
    assert.equal((await again.find(done))?.message, 'done');
  });

  it('are forgotten when they are old or too many', async (test) => {
    const { begin, clock, store, tasks } = await opened(test);
    const old = await begin('user_1');
    await tasks.finish(old, 'Ok', 'done');
    clock.time += 8 * day;
    const active = await begin('user_1');
    clock.time += 1;
    const base = await tasks.find(old);
    assert.ok(base);
    for (let index = 0; index < 1005; index++)
      await store.db
        .insertInto('tasks')
        .values({ ...base, id: `task_${index}`, created_at: clock.time + index })
        .execute();
    await tasks.sweep();
    const left = await tasks.list(null);
    assert.equal(left.length, 1001, 'the newest thousand, and what is not finished');
    assert.equal(left[0]?.id, 'task_1004');
    assert.equal(left.at(-1)?.id, active);
  });
});
