import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ledgerOf, madeEntry } from '../support/store/ledger.ts';
import { createSandbox } from './run.ts';

it('storage prune removes old requests, keeps their sums, and says what it did', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  assert.equal((await sandbox.run(['storage', 'prune'])).code, 2, 'requests are kept for ever');
  assert.equal((await sandbox.run(['storage', 'prune', '--older-than', '31'])).code, 2);
  const old = Date.now() - 90 * 86_400_000;
  await ledgerOf(
    test,
    [
      madeEntry({ id: 'a', startedAt: old, costUsd: 0.1 }),
      madeEntry({ id: 'b', startedAt: old + 1, costUsd: 0.2 }),
      madeEntry({ id: 'c', startedAt: Date.now() - 60_000, costUsd: 0.4 }),
    ],
    sandbox.dataDir,
  );
  const usage = async () =>
    (await sandbox.run(['usage', '--by', 'month', '--since', '100d', '--json'])).stdout;
  const costs = (text: string) =>
    (JSON.parse(text).usage as { cost_usd: number }[]).map(({ cost_usd }) => cost_usd);
  const before = costs(await usage());
  const prune = ['storage', 'prune', '--older-than', '32'];
  const dry = (await sandbox.run([...prune, '--dry-run', '--json'])).json();
  assert.deepEqual([dry['dry_run'], dry['requests'], dry['removed']], [true, 2, 0]);
  assert.equal(dry['oldest'], new Date(old).toISOString());
  assert.equal((await sandbox.run(prune)).code, 2, 'nobody can be asked');
  const pruned = await sandbox.run([...prune, '--yes', '--json']);
  assert.equal(pruned.code, 0, pruned.stderr);
  assert.deepEqual([pruned.json()['dry_run'], pruned.json()['removed']], [false, 2]);
  assert.deepEqual(costs(await usage()), before);
  const again = (await sandbox.run([...prune, '--yes', '--json'])).json();
  assert.deepEqual([again['requests'], again['removed']], [0, 0]);
  const audit = (await sandbox.run(['audit', 'list', '--json'])).stdout;
  assert.match(audit, /"action":\s*"ledger\.prune"/);
});
