import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox, type Serving } from './run.ts';

describe('a gateway key that is changed beside a running gateway', () => {
  let sandbox: Sandbox;
  let serving: Serving;
  let key: string;
  before(async () => {
    sandbox = await createSandbox();
    serving = await sandbox.serve();
    const made = await sandbox.run(['keys', 'add', 'ci', '--models', 'demo/tools', '--rpm', '60', '--json']);
    key = String(made.json()['key']);
  });
  after(() => sandbox.close());

  const status = async (text = key) => {
    const answer = await fetch(`${serving.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const edit = (...args: string[]) => sandbox.run(['keys', 'edit', ...args, '--json']);

  it('gets new limits, and keeps those that no flag names', async () => {
    assert.equal(await status(), 403);
    const changed = await edit('ci', '--models', 'demo/*', '--budget-usd', '5', '--name', 'builds');
    assert.equal(changed.code, 0, changed.stderr);
    const { budget_period, budget_usd, models, name, rpm } = changed.json();
    assert.deepEqual(
      { budget_period, budget_usd, models, name, rpm },
      { budget_period: 'month', budget_usd: 5, models: ['demo/*'], name: 'builds', rpm: 60 },
    );
    assert.equal(await status(), 200);
  });

  it('changes the period of its budget alone', async () => {
    const { budget_period, budget_usd } = (await edit('builds', '--budget-period', 'day')).json();
    assert.deepEqual([budget_usd, budget_period], [5, 'day']);
  });

  it('loses the limits that are cleared', async () => {
    const changed = await edit('builds', '--clear', 'models', '--clear', 'budget-usd', '--clear', 'rpm');
    const { budget_period, budget_usd, models, rpm } = changed.json();
    assert.deepEqual(
      { budget_period, budget_usd, models, rpm },
      { budget_period: null, budget_usd: null, models: null, rpm: null },
    );
  });

  it('is unchanged without flags, and with invalid or contradictory ones (exit 2)', async () => {
    for (const args of [
      ['builds'],
      ['builds', '--clear', 'everything'],
      ['builds', '--rpm', '5', '--clear', 'rpm'],
      ['builds', '--budget-period', 'day'],
      ['builds', '--expires', '2020-01-01'],
    ])
      assert.equal((await edit(...args)).code, 2, args.join(' '));
    assert.equal((await edit('nobody', '--rpm', '5')).code, 1);
  });

  it('is refused while it is disabled', async () => {
    assert.equal((await sandbox.run(['keys', 'disable', 'builds', '--json'])).json()['disabled'], true);
    assert.equal(await status(), 401);
    assert.equal((await sandbox.run(['keys', 'enable', 'builds'])).code, 0);
    assert.equal(await status(), 200);
  });

  it('works only with its new secret once it is rotated', async () => {
    assert.equal((await sandbox.run(['keys', 'rotate', 'builds'])).code, 2, 'nobody can be asked here');
    const rotated = (await sandbox.run(['keys', 'rotate', 'builds', '--yes', '--json'])).json();
    assert.deepEqual([await status(), await status(String(rotated['key']))], [401, 200]);
  });

  it('has each change in the audit log, and no key', async () => {
    const { stdout } = await sandbox.run(['audit', 'list', '--json']);
    for (const action of ['keys.update', 'keys.disable', 'keys.enable', 'keys.rotate'])
      assert.ok(stdout.includes(action), action);
    assert.ok(!stdout.includes(key));
  });
});
