import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/machine/folder.ts';
import { createSandbox, type Sandbox } from './run.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8' }).trim();
}

const hasGit = (() => {
  try {
    return git('/', '--version') !== '';
  } catch {
    return false;
  }
})();

describe('gateway update', { skip: !hasGit && 'git is not installed' }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  it('says whether the repository that a clone came from has another commit', (test) => {
    const origin = join(temporaryFolder(test), 'origin');
    mkdirSync(origin);
    for (const name of ['src', 'bin', 'package.json'])
      cpSync(join(project, name), join(origin, name), { recursive: true });
    git(origin, 'init', '-q', '-b', 'main');
    git(origin, 'add', '.');
    git(origin, 'commit', '-q', '-m', 'first');
    const clone = join(temporaryFolder(test), 'clone');
    git(origin, 'clone', '-q', origin, clone);
    symlinkSync(join(project, 'node_modules'), join(clone, 'node_modules'));
    const update = (): Record<string, unknown> => {
      const args = ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', 'update', '--json'];
      const env = { ...process.env, DATA_DIR: sandbox.dataDir };
      return JSON.parse(execFileSync(process.execPath, args, { cwd: clone, env, encoding: 'utf8' }));
    };
    const { commit, newer, remote_commit } = update();
    assert.deepEqual([newer, remote_commit], [false, commit]);
    git(origin, 'commit', '-q', '--allow-empty', '-m', 'second');
    const then = update();
    assert.deepEqual([then['newer'], then['remote_commit']], [true, git(origin, 'rev-parse', 'HEAD')]);
    git(clone, 'pull', '-q', '--ff-only');
    git(clone, 'commit', '-q', '--allow-empty', '-m', 'my own');
    assert.equal(update()['newer'], false, 'a commit of one’s own is newer still');
  });
});
