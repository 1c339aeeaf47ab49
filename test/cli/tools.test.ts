import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { tools } from '../../src/tools/catalogue/index.ts';
import { usersFiles } from '../support/agents/tool-files.ts';
import { createSandbox, type Sandbox } from './run.ts';

interface Change {
  changed: boolean;
  diff: string;
  backup_id: string | null;
  path: string;
  environment: Record<string, string | null>;
  kept: string[];
  steps: string[];
}

describe('gateway tools', () => {
  let sandbox: Sandbox;
  let home: string;
  let key: string;
  before(async () => {
    sandbox = await createSandbox();
    home = dirname(sandbox.dataDir);
    key = String((await sandbox.run(['keys', 'add', 'laptop', '--json'])).json()['key']);
  });
  after(() => sandbox.close());

  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    sandbox.run(['tools', ...args], { env: { PATH: join(home, 'bin'), ...env } });
  const json = async <Body = Record<string, unknown>>(
    args: readonly string[],
    env: Record<string, string> = {},
  ) => {
    const ran = await run([...args, '--json'], env);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.stdout.includes(key), false, 'the key is shown nowhere');
    return ran.json<Body>();
  };
  const configure = async (tool: string, ...args: string[]) => {
    const given = ['configure', tool, '--model', 'demo/echo', ...args];
    return json<Change>(given, { MODELGATE_API_KEY: key });
  };
  const restore = (tool: string, ...args: string[]) => json<Change>(['restore', tool, '--yes', ...args]);
  const statusOf = async (tool: string) => {
    const { tools: all } = await json(['status', tool]);
    return (
      all as Record<string, { config: { status: string; endpoint: string | null }; drifted: string[] }>
    )[tool];
  };
  const program = async (name: string, script: string) => {
    await mkdir(join(home, 'bin'), { recursive: true });
    await writeFile(join(home, 'bin', name), `#!/bin/sh\n${script}\n`);
    await chmod(join(home, 'bin', name), 0o755);
  };
  /** Every file of the home folder but the gateway's own. */
  const everything = async () => {
    const entries = await readdir(home, { recursive: true, withFileTypes: true });
    const own = entries.filter((entry) => !join(entry.parentPath, entry.name).startsWith(sandbox.dataDir));
    const paths = own.map((entry) => join(entry.parentPath, entry.name)).sort();
    return Promise.all(
      paths.map(async (path) => {
        const { mode } = await stat(path);
        return [path, mode, (await stat(path)).isFile() ? await readFile(path, 'latin1') : null] as const;
      }),
    );
  };
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text, { mode: 0o644 });
  };

  beforeEach(async () => {
    for (const name of tools.flatMap(({ binaries }) => binaries.slice(0, 1)))
      await program(name, 'echo "Tool v1.2.3 (build 4)"');
  });

  it('lists the catalogue', async () => {
    const { count, tools: rows } = await json(['list']);
    assert.equal(count, tools.length);
    assert.deepEqual(
      (rows as { id: string }[]).map(({ id }) => id),
      tools.map(({ id }) => id),
    );
  });

  // One of each format; src/tools/configuring/configure.test.ts has every tool.
  for (const tool of ['claude', 'codex', 'opencode', 'continue']) {
    const { path = '', text = '' } = usersFiles[tool] ?? {};

    it(`${tool}: writes, writes again, restores, and touches nothing else`, async () => {
      await put(path, text);
      const at = join(home, path);
      const before = await everything();
      assert.equal((await statusOf(tool))?.config.status, 'not_configured');

      const planned = await configure(tool, '--dry-run');
      assert.equal(planned.changed, true);
      assert.match(planned.diff, /^--- .*\n\+\+\+ .*\n@@ /);
      assert.deepEqual(await everything(), before, 'a dry run writes nothing');

      const change = await configure(tool, '--yes');
      assert.deepEqual([change.changed, change.path], [true, at]);
      const written = await readFile(at, 'utf8');
      if (written.includes(key)) assert.equal((await stat(at)).mode & 0o777, 0o600);
      assert.equal((await statusOf(tool))?.config.status, 'configured');
      const others = (rows: Awaited<ReturnType<typeof everything>>) => rows.filter(([name]) => name !== at);
      assert.deepEqual(others(await everything()), others(before));

      const again = await configure(tool, '--yes');
      assert.deepEqual([again.changed, again.diff, again.backup_id], [false, '', null]);
      assert.equal(await readFile(at, 'utf8'), written);

      await restore(tool);
      assert.deepEqual(await everything(), before, 'byte for byte, with its permissions');
      assert.equal((await run(['restore', tool, '--yes'])).code, 1, 'there is nothing more to restore');
    });
  }

  it('lists on request what cannot be pointed at a gateway, and says why', async () => {
    const { tools: rows } = await json(['list', '--all']);
    const all = rows as { id: string; baseUrlSupport: string; limitation?: string; setup: string }[];
    assert.equal(all.filter(({ baseUrlSupport }) => baseUrlSupport === 'none').length, 4);
    for (const { id, limitation } of all.filter(({ setup }) => setup === 'not_possible')) {
      assert.ok(limitation !== undefined, id);
      const ran = await run(['configure', id, '--yes'], { MODELGATE_API_KEY: key });
      assert.equal(ran.code, 2);
      assert.match(ran.stderr, /cannot be pointed at a gateway: /);
    }
  });

  it('says what is left to do by hand', async () => {
    const { steps } = await configure('cursor');
    assert.match(steps.join(' '), /http:\/\/127\.0\.0\.1:20128\/v1/);
    const roo = await configure('roo', '--yes');
    assert.match(roo.steps.join(' '), /Reload the window/);
    await restore('roo');
  });

  it('writes where the installed version reads', async () => {
    const pathOf = async () => (await configure('deepseek-tui', '--dry-run')).path;
    await program('deepseek-tui', 'echo deepseek-tui 0.8.40');
    assert.equal(await pathOf(), join(home, '.deepseek/config.toml'));
    await program('deepseek-tui', 'echo deepseek-tui 0.8.47');
    assert.equal(await pathOf(), join(home, '.codewhale/config.toml'));
    await put('.deepseek/config.toml', '');
    assert.equal(
      await pathOf(),
      join(home, '.deepseek/config.toml'),
      'its file of before, while it has no other',
    );
    await rm(join(home, '.deepseek'), { recursive: true });
    await program('codewhale', 'echo codewhale 0.8.67');
    assert.match((await configure('codewhale', '--dry-run')).diff, /providers\.openai/);
    await program('codewhale', 'echo codewhale 0.9.10');
    assert.match((await configure('codewhale', '--dry-run')).diff, /providers\.modelgate/);
  });

  it('leaves a file alone that it cannot read, and says where it is wrong', async () => {
    await put('.claude/settings.json', '{\n  "env": {,}\n}\n');
    const ran = await run(['configure', 'claude', '--yes'], { MODELGATE_API_KEY: key });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /settings\.json was left as it is: .*line 2, column 11/);
    assert.equal(await readFile(join(home, '.claude/settings.json'), 'utf8'), '{\n  "env": {,}\n}\n');
    assert.equal((await statusOf('claude'))?.config.status, 'unknown');
    await put('.claude/settings.json', '{}');
  });

  it('follows a symbolic link, and leaves it one', async () => {
    await put('dotfiles/config.toml', '# mine\n');
    await rm(join(home, '.codex'), { recursive: true, force: true });
    await mkdir(join(home, '.codex'));
    await symlink('../dotfiles/config.toml', join(home, '.codex/config.toml'));
    await configure('codex', '--yes');
    assert.match(await readFile(join(home, 'dotfiles/config.toml'), 'utf8'), /^# mine\n[\s\S]*modelgate/);
    await restore('codex');
    assert.equal(await readFile(join(home, 'dotfiles/config.toml'), 'utf8'), '# mine\n');
    assert.equal((await lstat(join(home, '.codex/config.toml'))).isSymbolicLink(), true);
  });

  it('says when a tool points elsewhere, and when an entry of ours was changed', async () => {
    await put('.claude/settings.json', '{"env": {"ANTHROPIC_BASE_URL": "https://other.example.com"}}');
    assert.deepEqual((await statusOf('claude'))?.config, {
      status: 'other',
      endpoint: 'https://other.example.com',
      lastConfiguredAt: null,
    });
    await put('.codex/config.toml', '');
    await configure('codex', '--yes');
    const text = await readFile(join(home, '.codex/config.toml'), 'utf8');
    await put(
      '.codex/config.toml',
      text.replace('model_provider = "modelgate"', 'model_provider = "openai"'),
    );
    const status = await statusOf('codex');
    assert.deepEqual([status?.config.status, status?.drifted], ['not_configured', ['model_provider']]);
    await restore('codex');
  });

  it('refuses a key that is not one of this gateway, or not whole', async () => {
    for (const [wrong, code] of [
      ['sk-nobody0000000000000000000000000', 4],
      [`${key.slice(0, 7)}****`, 4],
    ] as const) {
      const ran = await run(['configure', 'claude', '--yes', '--api-key', wrong]);
      assert.equal(ran.code, code, ran.stderr);
      assert.equal(ran.stderr.includes(key), false);
    }
  });

  it('asks for the model where the tool needs one, and for the key where its file holds it', async () => {
    assert.match((await run(['configure', 'codex', '--yes'])).stderr, /needs a model/);
    assert.match((await run(['configure', 'claude', '--yes'])).stderr, /give a gateway key/);
  });

  it('writes nothing without --yes when nobody can be asked', async () => {
    const before = await everything();
    const ran = await run(['configure', 'codex', '--model', 'auto']);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /--yes/);
    assert.deepEqual(await everything(), before);
  });

  it('shows what a tool needs in its environment', async () => {
    const { environment, changed } = await configure('copilot');
    assert.equal(changed, false);
    assert.deepEqual(
      [environment['COPILOT_PROVIDER_BASE_URL'], environment['COPILOT_PROVIDER_API_KEY']],
      ['http://127.0.0.1:20128/v1', null],
    );
    assert.deepEqual((await configure('codex', '--dry-run')).environment, { MODELGATE_API_KEY: null });
  });

  it('restores a backup, whatever changed since', async () => {
    await put('.claude/settings.json', '{"a": 1}\n');
    const { backup_id } = await configure('claude', '--yes');
    await put('.claude/settings.json', 'nonsense');
    await restore('claude', '--backup', backup_id ?? '');
    assert.equal(await readFile(join(home, '.claude/settings.json'), 'utf8'), '{"a": 1}\n');
    const { backups } = await json(['restore', 'claude', '--list']);
    assert.deepEqual(
      (backups as { action: string }[]).slice(-2).map(({ action }) => action),
      ['configure', 'restore'],
    );
    const unknown = await run(['restore', 'claude', '--backup', 'tbk_none', '--yes']);
    assert.equal(unknown.code, 1);
  });

  it('finds programs, and says what is wrong with those that do not answer', async () => {
    await program('codex', 'exit 3');
    await program('qwen', `echo "$MODELGATE_API_KEY$HOME" > '${join(home, 'seen')}'; echo 0.24.4`);
    const { tools: rows } = await json(['detect'], { MODELGATE_API_KEY: key });
    const of = (name: string) => (rows as { id: string }[]).find(({ id }) => id === name);
    assert.deepEqual(of('claude'), {
      id: 'claude',
      name: 'Claude Code',
      installed: true,
      command: 'claude',
      commandPath: join(home, 'bin/claude'),
      runnable: true,
      version: '1.2.3',
    });
    assert.match(JSON.stringify(of('codex')), /"runnable":false.*exit code 3/);
    const seen = (await readFile(join(home, 'seen'), 'utf8')).trim();
    assert.notEqual(seen, '');
    assert.equal(seen.includes(key), false, 'it gets no secrets');
    assert.equal(seen.startsWith(`${home}/`) || seen === home, false, 'it gets a home of its own');
    assert.equal((await statusOf('codex'))?.config.status, 'unknown');
  });

  it('reads the models of a remote gateway, and refuses another server', async () => {
    const serving = await sandbox.serve();
    try {
      const change = await configure('opencode', '--remote', `${serving.url}/v1/`, '--yes');
      assert.match(await readFile(change.path, 'utf8'), new RegExp(`"baseURL": "${serving.url}/v1"`));
      assert.equal((await statusOf('opencode'))?.config.status, 'configured');
      await restore('opencode');
      const wrong = await run([
        'configure',
        'opencode',
        '--model',
        'm',
        '--remote',
        serving.url,
        '--api-key',
        'sk-no',
      ]);
      assert.equal(wrong.code, 4, wrong.stderr);
    } finally {
      await serving.stop();
    }
    const gone = await run([
      'configure',
      'opencode',
      '--model',
      'm',
      '--remote',
      serving.url,
      '--api-key',
      key,
    ]);
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /No gateway answers/);
  });
});
