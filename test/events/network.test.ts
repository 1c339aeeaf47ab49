import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NetworkFault, runNetworkFault } from '../endurance/network-faults.ts';
import { hasRedis, startRedis } from '../support/brokers/redis.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

/** Shortened runs of test/endurance/network-faults.ts. */

const faults: readonly { readonly fault: NetworkFault; readonly what: string }[] = [
  { fault: 'cut', what: 'whose network is cut' },
  { fault: 'stopped', what: 'whose server is stopped' },
];

for (const { fault, what } of faults)
  describe(`a channel ${what}`, { skip: hasRedis ? false : 'redis is not installed' }, () => {
    it('receives every event that its source has accepted meanwhile, once', async (t) => {
      const folder = temporaryFolder(t);
      const server = await startRedis(temporaryFolder(t));
      t.after(() => server.kill());
      const run = { fault, faultMs: 500, perSecond: 100 };
      const report = await runNetworkFault({ ...run, server, dataDir: folder });
      t.diagnostic(JSON.stringify(report));
      const { accepted, corrupt, duplicates, lost, phantoms } = report;
      assert.deepEqual(
        { lost, duplicates, phantoms, corrupt },
        { lost: 0, duplicates: 0, phantoms: 0, corrupt: 0 },
      );
      assert.ok(accepted > 10, `${accepted} accepted`);
    });
  });
