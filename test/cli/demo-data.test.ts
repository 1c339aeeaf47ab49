import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

describe('gateway demo-data', () => {
  let sandbox: Sandbox;
  let dir = '';
  let made: Record<string, unknown> = {};
  const here = (...args: string[]) => sandbox.run([...args, '--json', '--data-dir', dir]);

  before(async () => {
    sandbox = await createSandbox();
    dir = join(sandbox.dataDir, '..', 'demo');
    const ran = await sandbox.run(['demo-data', dir, '--requests', '3000', '--days', '10', '--json']);
    assert.equal(ran.code, 0, ran.stderr);
    made = ran.json();
  });

  after(() => sandbox.close());

  it('makes about as many requests as were asked for, with what they cost', async () => {
    const { requests } = made as { requests: number };
    assert.ok(requests > 2_000 && requests < 5_000, String(requests));
    const { usage: rows } = (await here('usage', '--by', 'model', '--since', '11d')).json() as {
      usage: { requests: number; cost_usd: number | null }[];
    };
    assert.equal(
      rows.reduce((sum, row) => sum + row.requests, 0),
      requests,
    );
    assert.ok(rows.filter(({ cost_usd }) => (cost_usd ?? 0) > 0).length >= 4);
  });

  it('is a data directory that a gateway starts on, and whose users can log in', async () => {
    const server = await sandbox.serve({ env: { DATA_DIR: dir } });
    try {
      const { password } = made as { password: string };
      const login = Buffer.from(`vera:${password}`).toString('base64');
      const headers = { authorization: `Basic ${login}` };
      const answer = await fetch(`${server.url}/api/budgets?expand=resources`, { headers });
      assert.equal(answer.status, 200);
      const budgets = (await answer.json()) as { resources: { spent: number; limit: number }[] };
      const { resources } = budgets;
      // In the first minutes of a month nothing may be spent yet.
      const isSpent = resources.some(({ spent }) => spent > 0);
      assert.ok(!isSpent || resources.some(({ limit, spent }) => spent >= limit * 0.8));
    } finally {
      await server.stop();
    }
  });

  it('makes the same traffic from the same seed', async () => {
    const sums = async () =>
      (
        (await here('usage', '--by', 'key', '--since', '11d')).json() as { usage: { requests: number }[] }
      ).usage
        .map(({ requests }) => requests)
        .sort();
    const before = await sums();
    const again = await sandbox.run(['demo-data', dir, '--replace', '--requests', '3000', '--days', '10']);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(await sums(), before);
  });

  it('leaves a folder alone that holds anything else, and its own without --replace', async () => {
    const other = join(dir, '..', 'other');
    await mkdir(other);
    await writeFile(join(other, 'thesis.txt'), 'mine');
    const refused = await sandbox.run(['demo-data', other, '--replace']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is not empty and is not demo data/);
    assert.match((await sandbox.run(['demo-data', dir])).stderr, /--replace/);
  });
});
