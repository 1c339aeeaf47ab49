import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runDuplicates } from '../endurance/duplicates.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

describe('events that are published more than once, with a restart in between', () => {
  it('reach an idempotent trigger once, and any other trigger each time', async (t) => {
    const run = { dataDir: temporaryFolder(t), channel: 'sqlite:', events: 50, restarts: 1, seed: 6 };
    const { delivered, idempotent, published } = await runDuplicates(run);
    t.diagnostic(JSON.stringify({ published, delivered, idempotent }));
    assert.equal(delivered, published);
    const { accepted, corrupt, duplicates, lost, phantoms } = idempotent;
    assert.deepEqual(
      { lost, duplicates, phantoms, corrupt },
      { lost: 0, duplicates: 0, phantoms: 0, corrupt: 0 },
    );
    assert.equal(accepted, 150);
  });
});
