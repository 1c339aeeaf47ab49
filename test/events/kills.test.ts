import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runKills } from '../endurance/kills.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

/** Shortened runs of test/endurance/kills.ts. */
describe('an engine that is ended while it publishes and delivers', () => {
  const seed = 20_261;

  it('loses no accepted event when it is killed, and repeats only what was under way', async (t) => {
    const report = await runKills({
      dataDir: temporaryFolder(t),
      channel: 'sqlite:',
      signal: 'SIGKILL',
      times: 2,
      perSecond: 1_000,
      atMost: 500,
      seed,
    });
    t.diagnostic(JSON.stringify(report));
    const { corrupt, deadLetters, duplicates, lost, phantoms } = report;
    assert.deepEqual(
      { lost, phantoms, corrupt, deadLetters },
      { lost: 0, phantoms: 0, corrupt: 0, deadLetters: 0 },
    );
    // At most 16 are with the receiver at a kill.
    assert.ok(duplicates <= 2 * 16, `${duplicates} repeated`);
  });

  it('loses and repeats nothing when it is stopped', async (t) => {
    const report = await runKills({
      dataDir: temporaryFolder(t),
      channel: 'sqlite:',
      signal: 'SIGTERM',
      times: 2,
      perSecond: 1_000,
      atMost: 500,
      seed,
    });
    t.diagnostic(JSON.stringify(report));
    const { corrupt, duplicates, lost, phantoms } = report;
    assert.deepEqual(
      { lost, duplicates, phantoms, corrupt },
      { lost: 0, duplicates: 0, phantoms: 0, corrupt: 0 },
    );
  });
});
