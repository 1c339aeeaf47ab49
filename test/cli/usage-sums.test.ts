import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ledgerOf, madeEntry } from '../support/store/ledger.ts';
import { createSandbox } from './run.ts';

it('usage sums up the ledger by any groups, as a table, as JSON and as CSV', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  assert.equal((await sandbox.run(['usage'])).stderr, 'No requests in that time.\n');

  await sandbox.run(['keys', 'add', '=laptop']);
  const [key] = (await sandbox.run(['keys', 'list', '--json'])).json()['keys'] as { id: string }[];
  const startedAt = Date.now() - 60_000;
  const store = await ledgerOf(
    test,
    [
      madeEntry({ id: 'a', startedAt, keyId: key?.id ?? null, costUsd: 0.1, session: 'run-1' }),
      madeEntry({ id: 'b', startedAt, keyId: key?.id ?? null, costUsd: 0.2 }),
      madeEntry({ id: 'c', startedAt, keyId: 'key_gone', model: 'mini', costUsd: null, outcome: 'failed' }),
      madeEntry({ id: 'd', startedAt: startedAt - 40 * 86_400_000 }),
    ],
    sandbox.dataDir,
  );
  assert.ok(store);

  const table = await sandbox.run(['usage', '--by', 'key', '--by', 'model', '--since', '1d']);
  assert.equal(table.code, 0, table.stderr);
  assert.equal(table.stderr, '1 request had no known price: its cost is missing here\n');
  const rows = table.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(0, 4));
  assert.deepEqual(rows, [
    ['KEY', 'MODEL', 'REQUESTS', 'FAILED'],
    ['=laptop', 'openai/gpt-5', '2', '0'],
    ['key_gone (removed)', 'openai/mini', '1', '1'],
    ['all', '3', '1', '29229630'],
  ]);
  assert.match(table.stdout, /\$0\.30/);

  const { usage } = (await sandbox.run(['usage', '--by', 'key,model', '--json'])).json() as {
    usage: { id: string; cost_usd: number | null }[];
  };
  assert.deepEqual(
    usage.map(({ cost_usd }) => cost_usd),
    [0.3, null],
  );
  const sessions = (await sandbox.run(['usage', '--by', 'session', '--since', '1d', '--json'])).json();
  assert.deepEqual(
    (sessions['usage'] as { session: string | null; requests: number }[]).map((row) => [
      row.session,
      row.requests,
    ]),
    [
      [null, 2],
      ['run-1', 1],
    ],
  );
  const csv = (await sandbox.run(['usage', '--by', 'key', '--csv'])).stdout.trimEnd().split('\r\n');
  assert.equal(csv.length, 3);
  assert.match(csv[0] ?? '', /^from,to,provider,model,/);
  assert.ok(
    csv.some((line) => line.includes(",'=laptop,")),
    csv.join('\n'),
  );

  for (const wrong of [
    ['--by', 'moon'],
    ['--by', 'day', '--by', 'hour'],
    ['--since', 'soon'],
    ['--until', 'soon'],
  ]) {
    const { code, stderr } = await sandbox.run(['usage', ...wrong]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(wrong[0] ?? ''));
  }
});
