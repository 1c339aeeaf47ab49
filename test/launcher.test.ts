import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/** `bin/gateway`, as in a clone, with a program in place of the gateway that tells what reached it. */
const bin = fileURLToPath(new URL('../bin', import.meta.url));

const program = `
process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning');
process.emitWarning('of another kind', 'ExperimentalWarning');
if (process.argv.includes('wait')) {
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => {}, 1000);
}
const told: object = { args: process.argv.slice(2), cwd: process.cwd(), pid: process.pid, node: process.execPath };
console.log(JSON.stringify(told));
`;

let folder = '';
let clone = '';
let home = '';

const env = () => ({ PATH: process.env['PATH'] ?? '', HOME: home });
const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd: folder, env: env(), encoding: 'utf8' });

describe('bin/gateway', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'modelgate launcher-'));
    clone = join(folder, 'a clone');
    home = join(folder, 'home');
    for (const path of [home, join(clone, 'src', 'cli'), join(clone, 'node_modules', 'node', 'bin')]) {
      await mkdir(path, { recursive: true });
    }
    await cp(bin, join(clone, 'bin'), { recursive: true });
    const { scripts } = JSON.parse(readFileSync(join(bin, '..', 'package.json'), 'utf8'));
    await writeFile(join(clone, 'package.json'), JSON.stringify({ name: 'clone', type: 'module', scripts }));
    await writeFile(join(clone, 'src', 'cli', 'main.ts'), program);
    // `npm start` builds the pages first.
    await mkdir(join(clone, 'scripts'));
    await writeFile(join(clone, 'scripts', 'build-dashboard.ts'), '');
    await symlink(process.execPath, join(clone, 'node_modules', 'node', 'bin', 'node'));
    await symlink('a clone/bin/gateway', join(folder, 'first'));
    await symlink(join(folder, 'first'), join(folder, 'second'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  it('runs the sources with the pinned Node.js, from any folder, through links', () => {
    const { status, stdout } = run(join(folder, 'second'), 'keys', 'add', 'my laptop', '');
    assert.equal(status, 0);
    const { args, cwd } = JSON.parse(stdout);
    assert.deepEqual({ args, cwd }, { args: ['keys', 'add', 'my laptop', ''], cwd: folder });
  });

  it('hides the one warning about node:sqlite', () => {
    const { stderr } = run(join(clone, 'bin', 'gateway'));
    assert.doesNotMatch(stderr, /SQLite/);
    assert.match(stderr, /of another kind/);
  });

  it('keeps compiled code in the user’s own cache', () => {
    run(join(clone, 'bin', 'gateway'));
    assert.ok(existsSync(join(home, '.cache', 'modelgate', 'compiled')));
  });

  it('prints commands that can be pasted', () => {
    const here = fileURLToPath(new URL('..', import.meta.url));
    const keys = (cwd: string) =>
      spawnSync(join(bin, 'gateway'), ['keys', 'list'], { cwd, env: env(), encoding: 'utf8' }).stdout;
    assert.match(keys(here), /make one with `bin\/gateway keys add NAME`/);
    const elsewhere = keys(folder);
    assert.ok(elsewhere.includes(`make one with \`${join(bin, 'gateway')} keys add NAME\``), elsewhere);
  });

  it('replaces itself by the gateway, so that signals reach it', async () => {
    const child = spawn(join(clone, 'bin', 'gateway'), ['wait'], { env: env() });
    try {
      const [output] = await once(child.stdout, 'data');
      assert.equal(JSON.parse(String(output)).pid, child.pid);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await ended, [7, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('does not keep running when `npm start` is stopped', async () => {
    const child = spawn('npm', ['--silent', 'start', '--', 'wait'], {
      cwd: clone,
      env: { ...env(), PATH: `${dirname(process.execPath)}${delimiter}${env().PATH}` },
    });
    let program = 0;
    try {
      const [output] = await once(child.stdout, 'data');
      program = JSON.parse(String(output)).pid;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await ended, [7, null]);
      assert.throws(() => process.kill(program, 0), { code: 'ESRCH' });
    } finally {
      child.kill('SIGKILL');
      if (program > 0) killIfAlive(program);
    }
  });

  it('says in one line that nothing is installed', async () => {
    const fresh = join(folder, 'fresh');
    await cp(bin, join(fresh, 'bin'), { recursive: true });
    const { status, stderr, stdout } = run(join(fresh, 'bin', 'gateway'), 'doctor');
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^gateway: the Node\.js .* run 'npm install' in .*fresh\n$/);
  });
});

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
