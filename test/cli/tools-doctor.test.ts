import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox, type Serving } from './run.ts';

describe('gateway tools doctor', () => {
  let sandbox: Sandbox;
  let serving: Serving;
  let key: string;
  before(async () => {
    sandbox = await createSandbox();
    serving = await sandbox.serve();
    key = String((await sandbox.run(['keys', 'add', 'laptop', '--json'])).json()['key']);
  });
  after(() => sandbox.close());

  const doctor = (args: readonly string[], env: Record<string, string> = {}) =>
    sandbox.run(['tools', 'doctor', ...args], { env: { PATH: '', ...env } });
  const failed = (ran: Awaited<ReturnType<typeof doctor>>) =>
    (ran.json()['checks'] as { name: string; status: string }[])
      .filter(({ status }) => status === 'fail')
      .map(({ name }) => name);

  it('says what is wrong before a tool is set up, and that nothing is afterwards', async () => {
    const before = await doctor(['codex', '--model', 'demo/echo', '--json']);
    assert.equal(before.code, 1, before.stderr);
    assert.deepEqual(failed(before), ['Configuration', 'Environment']);

    const env = { MODELGATE_API_KEY: key };
    const set = ['tools', 'configure', 'codex', '--model', 'demo/echo', '--yes'];
    assert.equal((await sandbox.run(set, { env })).code, 0);
    const after = await doctor(['codex', '--json'], env);
    assert.deepEqual([after.code, failed(after)], [0, []], after.stdout);
    const { gateway, model, targets } = after.json();
    assert.deepEqual([gateway, model], [serving.url, 'demo/echo']);
    assert.equal((targets as { connection: string }[])[0]?.connection, 'demo');
    assert.equal(after.stdout.includes(key), false, 'the key is shown nowhere');
  });

  it('sends a request only when it is told to', async () => {
    const env = { MODELGATE_API_KEY: key };
    const dry = await doctor(['codex'], env);
    assert.equal(dry.code, 0, dry.stdout);
    assert.match(dry.stdout, /^ok {4}Translation/m);
    assert.doesNotMatch(dry.stdout, /Streaming/);
    assert.match(dry.stderr, /Nothing was sent to a model/);
    const sent = await doctor(['codex', '--send'], env);
    assert.equal(sent.code, 0, sent.stdout);
    assert.match(sent.stdout, /^ok {4}Streaming/m);
    const rows = (await sandbox.run(['logs', '--json'])).stdout.split('\n').filter((line) => line !== '');
    assert.equal(rows.length, 1, 'one request in all');
  });

  it('accepts another gateway, key and model, and refuses an unknown tool', async () => {
    const given = [
      'codex',
      '--remote',
      `${serving.url}/v1`,
      '--api-key',
      key,
      '--model',
      'demo/tools',
      '--json',
    ];
    const remote = await doctor(given, { MODELGATE_API_KEY: key });
    assert.deepEqual([remote.code, remote.json()['model']], [0, 'demo/tools'], remote.stdout);
    const wrong = await doctor(['codex', '--api-key', 'sk-nobody0000000000000000000000000', '--json']);
    assert.deepEqual([wrong.code, failed(wrong)], [1, ['Environment', 'Key']]);
    assert.equal((await doctor(['nonesuch'])).code, 2);
  });
});
