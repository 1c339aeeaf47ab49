import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runReloads } from '../endurance/reloads.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

describe('frequent changes of the configuration while events arrive', () => {
  it('lose no event, deliver none twice, and reject invalid configurations as a whole', async (test) => {
    const seed = 11;
    const report = await runReloads({
      dataDir: temporaryFolder(test),
      reloads: 30,
      everyMs: 40,
      perSecond: 300,
      seed,
    });
    const { accepted, corrupt, duplicates, lost, phantoms, rejected } = report;
    test.diagnostic(JSON.stringify({ seed, ...report }));
    assert.deepEqual(
      { corrupt, duplicates, lost, phantoms },
      { corrupt: 0, duplicates: 0, lost: 0, phantoms: 0 },
    );
    assert.ok(accepted > 0 && rejected > 0);
  });
});
