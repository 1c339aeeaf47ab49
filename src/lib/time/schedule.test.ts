import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createSchedule } from './schedule.ts';

describe('a schedule', () => {
  it('runs jobs by the clock, and says how they went', async () => {
    const schedule = createSchedule(() => 7);
    const told: unknown[] = [];
    let works = false;
    const stop = schedule.every({
      name: 'job',
      everyMs: 2,
      async run() {
        if (!works) throw new Error('not yet');
      },
      onError: (error) => told.push(error),
    });
    const job = () => schedule.jobs()[0];
    assert.deepEqual([job()?.runs, job()?.lastAt], [0, null]);
    while ((job()?.runs ?? 0) < 2) await delay(2);
    assert.equal(job()?.lastError, 'not yet');
    assert.equal(job()?.failures, told.length);
    works = true;
    const { runs = 0 } = job() ?? {};
    while ((job()?.runs ?? 0) < runs + 2) await delay(2);
    assert.deepEqual([job()?.lastError, job()?.lastAt, job()?.since], [null, 7, 7]);
    stop();
    assert.deepEqual(schedule.jobs(), []);
  });

  it('never runs a job beside itself', async () => {
    const schedule = createSchedule();
    let [running, most, times] = [0, 0, 0];
    const stop = schedule.every({
      name: 'slow',
      everyMs: 1,
      async run() {
        running += 1;
        most = Math.max(most, running);
        await delay(10);
        running -= 1;
        times += 1;
      },
    });
    while (times < 3) await delay(5);
    stop();
    assert.equal(most, 1);
  });
});
