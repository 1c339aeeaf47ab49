import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../support/gateway/gateway.ts';
import { createSandbox, type Sandbox, type Serving } from './run.ts';

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

describe('launching a tool', () => {
  let sandbox: Sandbox;
  let home: string;
  let serving: Serving;
  before(async () => {
    sandbox = await createSandbox();
    home = dirname(sandbox.dataDir);
    serving = await sandbox.serve();
  });
  after(() => sandbox.close());

  const env = (more: Record<string, string> = {}) => ({
    PATH: `${join(home, 'bin')}:/usr/bin:/bin`,
    ...more,
  });
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    sandbox.run(args, { env: env(more) });
  const program = async (name: string, script: string, mode = 0o755) => {
    await mkdir(join(home, 'bin'), { recursive: true });
    await writeFile(join(home, 'bin', name), `#!/bin/sh\n${script}\n`);
    await chmod(join(home, 'bin', name), mode);
  };
  const seen = async () =>
    JSON.parse(await readFile(join(home, 'seen'), 'utf8')) as { env: Record<string, string>; args: string[] };
  /** A tool that notes what it was started with, and ends with exit code 7. */
  const noting = () => `exec '${process.execPath}' -e '
    require("node:fs").writeFileSync("${join(home, 'seen')}", JSON.stringify({ env: process.env, args: process.argv.slice(1) }));
    process.exitCode = 7;
  ' -- "$@"`;

  it('sets the environment of Claude Code, removes what contradicts it, and writes nothing', async () => {
    await program('claude', noting());
    const files = async () =>
      (await readdir(home, { recursive: true })).filter((name) => !/^(data|seen)/.test(name)).sort();
    const before = await files();
    const { code, stdout } = await run(
      ['launch', '--model', 'demo/echo', '--', '-p', 'two words', '--json', '$HOME'],
      {
        ANTHROPIC_API_KEY: 'sk-ant-of-somebody',
        CLAUDE_CODE_USE_BEDROCK: '1',
        STORAGE_ENCRYPTION_KEY: 'a-long-enough-secret-of-the-gateway-0123456789',
        MINE: 'kept',
      },
    );
    assert.deepEqual([code, stdout], [7, '']);
    const { args, env: given } = await seen();
    assert.deepEqual(args.slice(-4), ['-p', 'two words', '--json', '$HOME']);
    assert.deepEqual(
      [given['ANTHROPIC_BASE_URL'], given['ANTHROPIC_MODEL'], given['MINE']],
      [serving.url, 'demo/echo', 'kept'],
    );
    for (const name of ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK', 'STORAGE_ENCRYPTION_KEY'])
      assert.equal(given[name], undefined, name);
    const key = given['ANTHROPIC_AUTH_TOKEN'] ?? '';
    assert.equal(args.join(' ').includes(key), false, 'no key in the process list');
    const answer = await fetch(`${serving.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200);
    const managing = await fetch(`${serving.url}/api/keys`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(managing.status, 401, 'the key opens no management');
    assert.deepEqual(await files(), before);

    await run(['launch']);
    assert.equal((await seen()).env['ANTHROPIC_AUTH_TOKEN'], key, 'one key for every launch');
    assert.equal((await seen()).env['ANTHROPIC_MODEL'], undefined);
  });

  it('gives Codex its provider by arguments', async () => {
    await program('codex', noting());
    const { code } = await run(['launch-codex', '--model', 'demo/echo', '--', 'exec', 'hello'], {
      OPENAI_BASE_URL: 'http://other',
    });
    assert.equal(code, 7);
    const { args, env: given } = await seen();
    assert.deepEqual(args.slice(-2), ['exec', 'hello']);
    assert.ok(args.includes(`model_providers.modelgate.base_url="${serving.url}/v1"`));
    assert.ok(args.includes('model="demo/echo"'));
    assert.match(given['MODELGATE_API_KEY'] ?? '', /^sk-/);
    assert.equal(given['OPENAI_BASE_URL'], undefined);
  });

  it('runs other tools by their name, with a given key', async () => {
    await program('copilot', noting());
    const key = String((await run(['keys', 'add', 'mine', '--json'])).json()['key']);
    const { code, stderr } = await run(['run', 'copilot', '--model', 'demo/echo'], { GATEWAY_API_KEY: key });
    assert.equal(code, 7, stderr);
    const { env: given } = await seen();
    assert.deepEqual(
      [given['COPILOT_PROVIDER_BASE_URL'], given['COPILOT_PROVIDER_API_KEY']],
      [`${serving.url}/v1`, key],
    );
  });

  it('exits with 127 for a missing tool, and 126 for one that cannot be run', async () => {
    await rm(join(home, 'bin/codex'), { force: true });
    const absent = await run(['launch-codex', '--model', 'm']);
    assert.equal(absent.code, 127);
    assert.match(absent.stderr, /is not installed: no program "codex"/);
    await program('codex', 'exit 0', 0o644);
    assert.equal((await run(['launch-codex', '--model', 'm'])).code, 126);
    await writeFile(join(home, 'bin/codex'), '#!/no/such/interpreter\n', { mode: 0o755 });
    await chmod(join(home, 'bin/codex'), 0o755);
    const broken = await run(['launch-codex', '--model', 'demo/echo']);
    assert.equal(broken.code, 126, broken.stderr);
    assert.match(broken.stderr, /cannot be run \(ENOENT\)/);
  });

  it('refuses tools that cannot be launched', async () => {
    assert.equal((await run(['run', 'continue'])).code, 2);
    assert.equal((await run(['launch', '--remote', serving.url])).code, 2);
    assert.equal((await run(['launch', '--api-key', `sk-${'1'.repeat(32)}`])).code, 4);
    const quoted = await run(['launch', '--model', 'a"b']);
    assert.equal(quoted.code, 2, quoted.stderr);
    const other = await createSandbox();
    try {
      const ran = await other.run(['launch'], { env: env() });
      assert.equal(ran.code, 3, ran.stderr);
    } finally {
      await other.close();
    }
  });

  it('does not start a tool whose own settings would win', async () => {
    await mkdir(join(home, '.claude'), { recursive: true });
    await writeFile(
      join(home, '.claude/settings.json'),
      '{"env":{"ANTHROPIC_AUTH_TOKEN":"sk-of-another-endpoint"}}',
    );
    const ran = await run(['launch']);
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /holds another key, which wins/);
    assert.equal(ran.stderr.includes('sk-of-another-endpoint'), false);
    await rm(join(home, '.claude'), { recursive: true });
  });

  /** The process of the tool that has started; 0 before. */
  const toolId = async () => Number(await readFile(join(home, 'started'), 'utf8').catch(() => '0'));
  /** A launched `claude` whose script has written `started`. */
  const launched = async (script: string): Promise<ChildProcess> => {
    const mark = join(home, 'started');
    await rm(mark, { force: true });
    await program(
      'claude',
      script.replace('STARTED', () => `echo "$$" > '${mark}'`),
    );
    const child = sandbox.spawn(['launch'], { env: env() });
    child.stdout.resume();
    child.stderr.resume();
    await waitFor('the tool', async () => (await toolId()) > 0);
    return child;
  };
  const ended = async (child: ChildProcess) => (await once(child, 'exit')) as [number | null, string | null];

  for (const [signal, name] of [
    ['SIGTERM', 'TERM'],
    ['SIGINT', 'INT'],
    ['SIGHUP', 'HUP'],
  ] as const)
    it(`passes ${signal} on, and the exit code back`, async () => {
      const child = await launched(`trap 'exit 42' ${name}\nSTARTED\nwhile :; do sleep 0.1; done`);
      const end = ended(child);
      child.kill(signal);
      assert.deepEqual(await end, [42, null]);
    });

  it('ends with the same signal as the tool', async () => {
    await program('claude', 'kill -TERM $$');
    assert.deepEqual(await ended(sandbox.spawn(['launch'], { env: env() })), [null, 'SIGTERM']);
  });

  it('is suspended with the tool, and goes on with it', { skip: process.platform !== 'linux' }, async () => {
    const state = async (pid: number | undefined) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2)[0];
    };
    const child = await launched(
      `trap 'exit 5' TERM\ntrap 'kill -STOP $$' TSTP\nSTARTED\nkill -STOP $$\nwhile :; do sleep 0.1; done`,
    );
    const tool = await toolId();
    // What is stopped would outlive a failed test.
    after(() => endProcess(tool));
    const end = ended(child);
    await waitFor('the suspension', async () => (await state(child.pid)) === 'T');
    child.kill('SIGCONT');
    await waitFor(
      'both to go on',
      async () => (await state(child.pid)) !== 'T' && (await state(tool)) !== 'T',
    );
    // A system may ignore it for processes that no shell looks after; the tool of this test does not.
    child.kill('SIGTSTP');
    await waitFor(
      'the second suspension',
      async () => (await state(child.pid)) === 'T' && (await state(tool)) === 'T',
    );
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    assert.deepEqual(await end, [5, null]);
  });
});
