import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runOrder } from '../endurance/order.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

describe('a trigger that handles one event at a time', () => {
  it('gets the events of each publisher in order, even across a restart', async (t) => {
    const run = { dataDir: temporaryFolder(t), channel: 'sqlite:', events: 20 };
    const { accepted, duplicates, lost, mostAtOnce, reordered } = await runOrder(run);
    assert.deepEqual(
      { accepted, lost, duplicates, reordered, mostAtOnce },
      { accepted: 320, lost: 0, duplicates: 0, reordered: 0, mostAtOnce: 1 },
    );
  });
});
