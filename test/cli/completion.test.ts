import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commandList } from '../../src/cli/commands/index.ts';
import { createSandbox, type Sandbox } from './run.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

describe('completion', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  /** The script, written where a shell can read it. */
  const scriptOf = async (shell: string): Promise<string> => {
    const { code, stdout } = await sandbox.run(['completion', shell]);
    assert.equal(code, 0);
    const path = join(dirname(sandbox.dataDir), `completion.${shell}`);
    await writeFile(path, stdout);
    return path;
  };

  it('offers commands, their second words, flags and values in bash', { skip: !has('bash') }, async () => {
    const path = await scriptOf('bash');
    const offered = (...words: string[]): string[] => {
      const line = ['gateway', ...words].map((word) => `'${word}'`).join(' ');
      const program = `source '${path}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _gateway; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['-c', program], { encoding: 'utf8' });
      assert.equal(stderr, '');
      return stdout.split('\n').filter((word) => word !== '');
    };
    const first = offered('');
    for (const { name } of commandList) assert.ok(first.includes(name.split(' ')[0] ?? ''), name);
    assert.deepEqual(offered('keys', 'a'), ['add']);
    assert.deepEqual(offered('keys', 'add', 'laptop', '--mod'), ['--models']);
    assert.deepEqual(offered('completion', ''), ['bash', 'zsh', 'fish', ...offered('completion', '--')]);
    assert.ok(offered('keys', 'add', '--').includes('--rpm'));
  });

  it('is valid zsh', { skip: !has('zsh') }, async () => {
    assert.equal(spawnSync('zsh', ['-n', await scriptOf('zsh')]).status, 0);
  });

  it('is valid fish', { skip: !has('fish') }, async () => {
    assert.equal(spawnSync('fish', ['--no-execute', await scriptOf('fish')]).status, 0);
  });

  it('names every command in every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await sandbox.run(['completion', shell]);
      for (const { name } of commandList) {
        for (const word of name.split(' ')) assert.ok(stdout.includes(word), `${shell}: ${name}`);
      }
    }
  });

  it('refuses another shell (exit 2)', async () => {
    assert.equal((await sandbox.run(['completion', 'tcsh'])).code, 2);
  });
});
