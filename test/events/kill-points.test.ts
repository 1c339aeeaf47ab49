import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sqliteQueue } from '../endurance/kill-point-queues.ts';
import { runKillPoints } from '../endurance/kill-points.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

describe('a trigger whose process ends at any of its steps', () => {
  it('loses no event, and repeats only events whose outcome could not be stored', async (t) => {
    const tried = new Set<string>();
    // Each once. All of them are tried by `npm run test:endurance`.
    const { points, repeatedAt } = await runKillPoints(temporaryFolder(t), sqliteQueue, (name) => {
      const selected = (name.startsWith('before') || name === 'after process') && !tried.has(name);
      tried.add(name);
      return selected;
    });
    t.diagnostic(JSON.stringify({ points, repeatedAt }));
    assert.ok(points >= 7, `${points} points`);
    assert.deepEqual(
      repeatedAt.filter((name) => !['after process', 'before mark', 'before ack'].includes(name)),
      [],
    );
  });
});
