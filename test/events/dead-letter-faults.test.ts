import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runDeadLetterFaults } from '../endurance/dead-letter-faults.ts';
import { hasRedis, startRedis } from '../support/brokers/redis.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const skip = hasRedis ? false : 'redis is not installed';

describe('dead letters in a channel whose server is killed', { skip }, () => {
  it('hold their events until it is back, come once, and are replayed once', async (t) => {
    const letters = await startRedis(temporaryFolder(t));
    t.after(() => letters.kill());
    const run = { channel: 'sqlite:', events: 20, letters };
    const report = await runDeadLetterFaults({ ...run, dataDir: temporaryFolder(t) });
    t.diagnostic(JSON.stringify(report));
    const { corrupt, duplicates, lost, phantoms, replayed, replayedTwice } = report;
    assert.deepEqual(
      { lost, duplicates, phantoms, corrupt, replayed, replayedTwice },
      { lost: 0, duplicates: 0, phantoms: 0, corrupt: 0, replayed: 40, replayedTwice: 0 },
    );
  });
});
