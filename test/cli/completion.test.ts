import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { groups } from '../../src/cli/commands/groups.ts';
import { commandList } from '../../src/cli/commands/index.ts';
import { type Candidate, candidates } from '../../src/cli/completion/candidates.ts';
import { childEnv } from '../support/gateway/child-env.ts';
import { program as tested } from '../support/gateway/program.ts';
import { createSandbox, type Sandbox } from './run.ts';

/** In `.ci/run` all of these shells are there. */
const has = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

describe('candidates of a command line', () => {
  const names: Readonly<Record<string, readonly Candidate[]>> = {
    key: [
      { value: 'laptop', summary: 'sk-1' },
      { value: 'ci', summary: 'sk-2' },
    ],
    model: [{ value: 'auto', summary: 'the active combo' }],
  };
  const after = async (...words: string[]): Promise<string[]> => {
    const input = { commands: commandList, groups, namesOf: async (kind: string) => names[kind] ?? [] };
    return (await candidates(words, input)).map(({ value }) => value);
  };

  it('offers every first word, and the second words of a group', async () => {
    const first = await after('');
    for (const { name } of commandList) assert.ok(first.includes(name.split(' ')[0] ?? ''), name);
    assert.deepEqual(await after('keys', 'a'), ['add']);
    assert.deepEqual(await after('key'), ['keys']);
  });

  it('offers names for arguments and for the values of flags', async () => {
    assert.deepEqual(await after('keys', 'rotate', ''), ['laptop', 'ci']);
    assert.deepEqual(await after('keys', 'rotate', 'l'), ['laptop']);
    assert.deepEqual(await after('test', '--model', ''), ['auto']);
    assert.deepEqual(await after('test', '--model=a'), ['--model=auto']);
    assert.deepEqual(await after('completion', 'f'), ['fish']);
    assert.ok((await after('combo', 'create', 'x', '--strategy', 'pri')).includes('priority'));
  });

  it('takes no value of a flag for an argument', async () => {
    assert.deepEqual(await after('--data-dir', '/tmp/x', 'keys', 'rotate', 'c'), ['ci']);
    assert.deepEqual(await after('keys', '--port', '1', 'rotate', 'c'), ['ci']);
  });

  it('offers flags where one begins, and where no argument is left', async () => {
    assert.deepEqual(await after('keys', 'add', '--mod'), ['--models']);
    assert.ok((await after('keys', 'rotate', 'ci', '')).includes('--json'));
    assert.deepEqual(await after('keys', 'rotate', '--he'), ['--help']);
  });

  it('offers nothing where file names or another program follow', async () => {
    assert.deepEqual(await after('backup', '--output', ''), []);
    assert.deepEqual(await after('run', '--', ''), []);
    assert.deepEqual(await after('nonsense', ''), []);
  });
});

describe('completion', () => {
  let sandbox: Sandbox;
  let folder = '';
  /** With `gateway` on PATH, as an installation has it. */
  let env: NodeJS.ProcessEnv = {};
  before(async () => {
    sandbox = await createSandbox();
    folder = dirname(sandbox.dataDir);
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const program = `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${tested}' "$@"\n`;
    await writeFile(join(bin, 'gateway'), program, { mode: 0o755 });
    const path = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
    env = childEnv({ HOME: folder, DATA_DIR: sandbox.dataDir, PATH: path, TERM: 'dumb' });
    for (const name of ['laptop', 'build-server']) {
      assert.equal((await sandbox.run(['keys', 'add', name])).code, 0);
    }
  });
  after(() => sandbox.close());

  /** The script, written where a shell can read it. */
  const scriptOf = async (shell: string): Promise<string> => {
    const { code, stdout } = await sandbox.run(['completion', shell]);
    assert.equal(code, 0);
    const path = join(folder, `completion.${shell}`);
    await writeFile(path, stdout);
    return path;
  };
  const runShell = (shell: string, args: readonly string[]): string => {
    const { status, stderr, stdout } = spawnSync(shell, args, { encoding: 'utf8', env });
    assert.equal(status, 0, stderr);
    return stdout;
  };

  it('offers the names of this installation in bash', { skip: !has('bash') }, async () => {
    const path = await scriptOf('bash');
    const offered = (...words: string[]): string[] => {
      const line = ['gateway', ...words].map((word) => `'${word}'`).join(' ');
      const program = `source '${path}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _gateway; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return runShell('bash', ['-c', program])
        .split('\n')
        .filter((word) => word !== '');
    };
    assert.deepEqual(offered('keys', 'rotate', ''), ['laptop', 'build-server']);
    // bash splits the line at these, and replaces what follows the last one.
    assert.deepEqual(offered('budgets', 'set', '--key', '=', 'l'), ['laptop']);
    assert.deepEqual(offered('backup', '--output', ''), []);
  });

  it('completes a name in zsh, also before compinit', { skip: !has('zsh') }, async () => {
    const path = await scriptOf('zsh');
    // A shell on a terminal of its own: after the Tab, Ctrl+X prints what stands on its line.
    const program = `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "PS1= PS2=; report() { print -r -- \\"<\\$BUFFER>\\" }; zle -N report; bindkey '^X' report; source '${path}'; print ready-now"
zpty -r inner seen '*ready-now*'
zpty -w -n inner $'gateway keys rotate bu\\t\\x18'
zpty -r inner seen '*<*>*'
print -r -- "$seen"
zpty -d inner`;
    assert.match(runShell('zsh', ['-f', '-c', program]), /<gateway keys rotate build-server ?>/);
  });

  it('offers names and what they mean in fish', { skip: !has('fish') }, async () => {
    const path = await scriptOf('fish');
    const seen = runShell('fish', [
      '--no-config',
      '-c',
      `source '${path}'; complete -C 'gateway keys rotate l'`,
    ]);
    assert.match(seen, /^laptop\tsk-/m);
  });

  it('tells PowerShell how to ask', async () => {
    const { stdout } = await sandbox.run(['completion', 'powershell']);
    assert.match(stdout, /Register-ArgumentCompleter -Native -CommandName gateway, modelgate/);
    const asked = await sandbox.run([
      'completion',
      'powershell',
      '--candidates',
      '--',
      'keys',
      'rotate',
      'l',
    ]);
    assert.match(asked.stdout, /^laptop\tsk-\S+\n$/);
  });

  it('refuses another shell (exit 2)', async () => {
    assert.equal((await sandbox.run(['completion', 'tcsh'])).code, 2);
  });
});
