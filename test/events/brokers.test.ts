import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backends } from '../endurance/backends.ts';
import { runBrokerFaults } from '../endurance/broker-faults.ts';

import { temporaryFolder } from '../support/machine/folder.ts';

/** Shortened runs of test/endurance/broker-faults.ts. */

const killed = backends.filter(({ scheme }) => scheme !== 'amqp');

for (const { installed, scheme, start } of killed)
  describe(`a channel on ${scheme}`, { skip: installed ? false : `${scheme} is not installed` }, () => {
    it('loses no event when its server is killed and started again under load', async (t) => {
      const server = await start(temporaryFolder(t));
      t.after(() => server.stop());
      const run = { times: 2, atMost: 400, seed: 20_128 };
      const report = await runBrokerFaults({
        scheme,
        server,
        dataDir: temporaryFolder(t),
        ...run,
      });
      t.diagnostic(JSON.stringify(report));
      const { corrupt, lost, phantoms } = report;
      assert.deepEqual({ lost, phantoms, corrupt }, { lost: 0, phantoms: 0, corrupt: 0 });
      // What was in hand comes first again, before anything newer.
      if (scheme === 'redis') assert.equal(report.reordered, 0);
      assert.ok(report.accepted > 100);
    });
  });
