import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

type Row = Record<string, unknown>;

describe('gateway budgets', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
    await sandbox.run(['keys', 'add', 'ci']);
  });
  after(() => sandbox.close());

  const list = async () =>
    ((await sandbox.run(['budgets', 'list', '--json'])).json() as { budgets: Row[] }).budgets;
  const set = (...flags: string[]) => sandbox.run(['budgets', 'set', ...flags, '--json']);

  it('sets one, changes it when it is set again, and removes it', async () => {
    const made = await set('--usd', '5', '--per', 'day', '--soft', '50');
    assert.equal(made.code, 0, made.stderr);
    const { id } = made.json() as Row;
    assert.equal((await set('--usd', '7', '--per', 'day', '--unpriced', 'refuse')).code, 0);
    const [only, ...others] = await list();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [
        only?.['id'],
        only?.['limit'],
        only?.['soft_percent'],
        only?.['unpriced'],
        only?.['spent'],
        only?.['window'],
      ],
      [id, 7, 50, 'refuse', 0, 'calendar'],
    );
    assert.equal((await sandbox.run(['budgets', 'remove', String(id)])).code, 2, 'nobody can be asked');
    assert.equal((await sandbox.run(['budgets', 'remove', String(id), '--yes'])).code, 0);
    assert.deepEqual(await list(), []);
    assert.equal((await sandbox.run(['budgets', 'remove', String(id), '--yes'])).code, 1);
  });

  it('accepts its subject by id, and shows it by name', async () => {
    assert.equal((await set('--key', 'ci', '--requests', '3', '--per', 'hour')).code, 0);
    assert.equal((await set('--concurrency', '2')).code, 0);
    const [ofKey, ofAll] = await list();
    assert.deepEqual(
      [ofKey?.['scope'], ofKey?.['subject_name'], ofKey?.['window']],
      ['key', 'ci', 'rolling'],
    );
    assert.deepEqual([ofAll?.['scope'], ofAll?.['subject'], ofAll?.['window']], ['global', null, 'moment']);
    const { stdout } = await sandbox.run(['budgets', 'list']);
    assert.match(stdout, /key ci +3 requests per hour/);
  });

  it('refuses what limits nothing (exit 2), and a subject that is not there', async () => {
    for (const flags of [
      [],
      ['--usd', '1'],
      ['--usd', '0', '--per', 'day'],
      ['--usd', 'x', '--per', 'day'],
      ['--requests', '1.5', '--per', 'day'],
      ['--usd', '1', '--tokens', '1', '--per', 'day'],
      ['--concurrency', '1', '--per', 'day'],
      ['--usd', '1', '--per', 'day', '--soft', '101'],
      ['--usd', '1', '--per', 'day', '--key', 'ci', '--connection', 'x'],
      ['--usd', '1', '--per', 'day', '--key', 'nobody'],
    ]) {
      const { code, stderr } = await set(...flags);
      assert.ok(code === 2 || code === 1, `${flags.join(' ')}: ${code} ${stderr}`);
      assert.notEqual(stderr, '');
    }
    assert.equal((await list()).length, 2);
  });

  it('names the flag that is wrong, and what it may be', async () => {
    assert.match((await set('--usd', '0', '--per', 'day')).stderr, /--usd must be a number above 0, not "0"/);
    assert.match((await set('--tokens', 'x', '--per', 'day')).stderr, /--tokens must be .*, not "x"/);
    assert.match(
      (await set('--usd', '1', '--per', 'day', '--soft', '101')).stderr,
      /--soft must be .*, not "101"/,
    );
    assert.match((await set('--usd', '1')).stderr, /--per/);
  });
});
