import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { hasPostgres } from '../../test/support/brokers/postgres.ts';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { postgresServer } from '../../test/support/store/engines.ts';
import { openPostgresStore } from '../store/postgres/store.ts';
import { whenDueInCluster } from './shared-schedule.ts';

const hour = 3_600_000;

describe('the scheduled backups of a database that gateways share', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  async function gateways(test: TestContext) {
    const url = await postgres.database();
    // A lease may be renewed until the test has ended, also where its work never ends.
    const faults: unknown[] = [];
    test.after(() => assert.deepEqual(faults, []));
    const open = async () => {
      const store = await openPostgresStore(url, { follow: false, dataDir: temporaryFolder(test) });
      test.after(() => store.close());
      const make = (work: () => Promise<string>, everyMs = 24 * hour) =>
        whenDueInCluster({ store, everyMs, onError: (error) => faults.push(error) }, work);
      return { make, store };
    };
    const age = (ms: number) => postgres.run(url, `update job_runs set at = at - ${ms}`);
    return { one: await open(), other: await open(), age, run: (text: string) => postgres.run(url, text) };
  }

  it('are made once, by the first gateway, and again when they are due', async (test) => {
    const { age, one, other } = await gateways(test);
    const held = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const first = one.make(() => {
      begun.resolve();
      return held.promise;
    });
    await begun.promise;
    assert.equal(await other.make(() => assert.fail('another one makes it')), null);
    held.resolve('a');
    assert.equal(await first, 'a');
    for (const gateway of [one, other])
      assert.equal(await gateway.make(() => assert.fail('it is made')), null, 'also after a restart');
    await age(23 * hour);
    assert.equal(await one.make(() => assert.fail('it is not due')), null);
    await age(hour);
    assert.equal(await other.make(() => assert.fail('that of the last one comes first')), null);
    assert.equal(await one.make(async () => 'b'), 'b');
    await age(25 * hour);
    assert.equal(await other.make(async () => 'c'), 'c', 'the one of the last time is away');
    await age(24 * hour);
    assert.equal(await one.make(() => assert.fail('the other one goes on with it')), null);
    assert.equal(await other.make(async () => 'd'), 'd');
  });

  it('are due as before when one could not be made, or its gateway died', async (test) => {
    const { one, other, run } = await gateways(test);
    await assert.rejects(
      one.make(() => Promise.reject(new Error('no space'))),
      /no space/,
    );
    assert.equal(await other.make(async () => 'a'), 'a');
    await run('delete from job_runs');
    void one.make(() => new Promise(() => {}));
    const leases = async () => Number((await run('select count(*) as count from leases'))[0]?.['count']);
    while ((await leases()) === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await other.make(() => assert.fail('it is being made')), null);
    await run('update leases set until = 0');
    assert.equal(await other.make(async () => 'b'), 'b');
  });

  it('are made again when the clock of the server was set back', async (test) => {
    const { age, one } = await gateways(test);
    assert.equal(await one.make(async () => 'a'), 'a');
    await age(-48 * hour);
    assert.equal(await one.make(async () => 'b'), 'b');
  });

  it('keep their lease for as long as they take', async (test) => {
    const { one, other, run } = await gateways(test);
    test.mock.timers.enable({ apis: ['setInterval'] });
    const held = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const making = one.make(() => {
      begun.resolve();
      return held.promise;
    });
    await begun.promise;
    await run('update leases set until = until - 200000');
    const before = (await run('select until from leases'))[0]?.['until'];
    test.mock.timers.tick(60_000);
    let after = before;
    while (after === before) after = (await run('select until from leases'))[0]?.['until'];
    assert.ok(Number(after) > Number(before));
    assert.equal(await other.make(() => assert.fail('it is being made')), null);
    held.resolve('a');
    await making;
    assert.deepEqual(await run('select * from leases'), []);
  });
});
