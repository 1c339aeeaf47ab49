import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox, type Serving } from './run.ts';
import { createUpstream, type Upstream, upstreamKey } from './upstream.ts';

describe('a connection that is changed beside a running gateway', () => {
  let sandbox: Sandbox;
  let serving: Serving;
  let upstream: Upstream;
  let key: string;
  before(async () => {
    sandbox = await createSandbox();
    upstream = await createUpstream();
    serving = await sandbox.serve();
    const args = [
      'provider',
      'add',
      'openai-compatible',
      '--name',
      'lab',
      '--base-url',
      `${upstream.url}/v1`,
    ];
    const added = await sandbox.run([...args, '--api-key-env', 'KEY'], { env: { KEY: 'outdated' } });
    assert.equal(added.code, 0, added.stderr);
    key = String((await sandbox.run(['keys', 'add', 'laptop', '--json'])).json()['key']);
  });
  after(async () => {
    await sandbox.close();
    await upstream.close();
  });

  /** How many requests reach the provider when its model is asked for. */
  const asked = async (model: string) => {
    const before = upstream.seen.length;
    const answer = await fetch(`${serving.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.arrayBuffer();
    return upstream.seen.length - before;
  };

  it('gets another key, and is tested with it', async () => {
    const failed = await sandbox.run(['providers', 'test', 'lab']);
    assert.equal(failed.code, 1);
    const status = await sandbox.run(['status']);
    assert.match(status.stdout, /1 with a problem\)\n {2}lab: .+/);
    const args = ['provider', 'edit', 'lab', '--api-key-stdin', '--test', '--json'];
    const changed = await sandbox.run(args, { stdin: upstreamKey });
    assert.equal(changed.code, 0, `${changed.stdout}${changed.stderr}`);
    assert.equal((changed.json()['test'] as { valid: boolean }).valid, true);
  });

  it('never sends its key to another server', async () => {
    const moved = await sandbox.run(['provider', 'edit', 'lab', '--base-url', 'http://elsewhere.example/v1']);
    assert.equal(moved.code, 2);
    assert.match(moved.stderr, /another server/);
  });

  it('has its new name in combos', async () => {
    const target = 'lab/small';
    assert.equal((await sandbox.run(['combo', 'create', 'smart', '--target', target])).code, 0);
    const renamed = (await sandbox.run(['provider', 'rename', 'lab', 'work', '--json'])).json();
    assert.deepEqual([renamed['name'], renamed['previous_name']], ['work', 'lab']);
    const { stdout } = await sandbox.run(['combo', 'show', 'smart', '--json']);
    assert.ok(stdout.includes('work/small') && !stdout.includes('lab/'));
  });

  it('gets no request while it is paused', async () => {
    assert.equal(await asked('work/small'), 1);
    assert.equal((await sandbox.run(['provider', 'pause', 'work', '--json'])).json()['active'], false);
    assert.equal(await asked('work/small'), 0);
    assert.equal((await sandbox.run(['provider', 'resume', 'work'])).code, 0);
    assert.equal(await asked('work/small'), 1);
  });

  it('has each change in the audit log, and no key', async () => {
    const { stdout } = await sandbox.run(['audit', 'list', '--json']);
    for (const action of ['connections.update', 'connections.disable', 'connections.enable'])
      assert.ok(stdout.includes(action), action);
    assert.ok(!stdout.includes(upstreamKey));
  });

  it('is unchanged without flags (exit 2), and must exist (exit 1)', async () => {
    assert.equal((await sandbox.run(['provider', 'edit', 'work'])).code, 2);
    assert.equal((await sandbox.run(['provider', 'rename', 'work', 'a/b'])).code, 2);
    for (const verb of ['edit', 'pause', 'resume'])
      assert.equal(
        (await sandbox.run(['provider', verb, 'nobody', ...(verb === 'edit' ? ['--priority', '1'] : [])]))
          .code,
        1,
        verb,
      );
  });
});
