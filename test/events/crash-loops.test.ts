import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCrashLoop } from '../endurance/crash-loops.ts';
import { hasRedis, startRedis } from '../support/brokers/redis.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

/** `npm run test:endurance` does the same on every other message queue. */
describe('an event that ends the process of its processor', () => {
  it('is a dead letter after five attempts, and no other event is lost', { skip: !hasRedis }, async (t) => {
    const server = await startRedis(temporaryFolder(t));
    t.after(() => server.kill());
    const report = await runCrashLoop(temporaryFolder(t), server.url);
    assert.deepEqual(report, { crashes: 5, attempts: 5, deadLetters: ['dead 7 crashloop'], lost: 0 });
  });
});
