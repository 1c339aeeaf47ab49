import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../support/machine/folder.ts';

const program = resolve(import.meta.dirname, '../../../bin/gateway.js');

interface Start {
  code: number | null;
  /** Whether it said that it listens. */
  ready: boolean;
  stdout: string;
  stderr: string;
}

/** Starts the gateway as its users do, and stops it once it listens. The test's own time ends one that hangs. */
async function start(test: TestContext, env: Record<string, string>, limit = ''): Promise<Start> {
  const command = [process.execPath, program, 'serve', '--port', '0'];
  const [file = '', ...args] =
    limit === '' ? command : ['sh', '-c', `${limit} && exec "$@"`, 'sh', ...command];
  const child = spawn(file, args, {
    // Without the cache of the test run: where there is one is asked here.
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  test.after(() => child.kill('SIGKILL'));
  const started = { code: null as number | null, ready: false, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    started.stdout += text;
    if (!/listening on/.test(started.stdout) || started.ready) return;
    started.ready = true;
    child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    started.stderr += text;
  });
  [started.code] = (await once(child, 'close')) as [number | null];
  return started;
}

/** Exit 1 and one line that names the folder and what to do. */
function refused({ code, ready, stderr, stdout }: Start, folder: string): void {
  assert.deepEqual([code, ready, stdout], [1, false, ''], stderr);
  assert.match(stderr, /^gateway: [^\n]+\n$/);
  assert.ok(stderr.includes(folder), stderr);
}

const linux = { skip: process.platform === 'linux' ? false : 'needs /proc and /sys' };

describe('a start', () => {
  it('in a home where nothing can be made says so', linux, async (test) => {
    const file = join(temporaryFolder(test), 'file');
    writeFileSync(file, '');
    for (const home of ['/proc', '/sys', file]) {
      const started = await start(test, { HOME: home });
      refused(started, join(home, '.local/share/modelgate'));
      assert.match(started.stderr, /--data-dir or DATA_DIR/);
    }
    refused(await start(test, { HOME: '/nowhere', XDG_DATA_HOME: '/proc' }), '/proc/modelgate');
  });

  it('without a home makes no data directory where it happens to stand', async (test) => {
    refused(await start(test, { HOME: '' }), 'DATA_DIR');
    assert.equal(existsSync('.local'), false);
  });

  it('with a data directory that cannot be one says so', linux, async (test) => {
    const file = join(temporaryFolder(test), 'file');
    writeFileSync(file, 'mine');
    for (const dataDir of ['/proc/modelgate', '/proc/1', file]) {
      refused(await start(test, { HOME: temporaryFolder(test), DATA_DIR: dataDir }), dataDir);
    }
  });

  it('goes on without a cache, a home and a folder for temporary files', linux, async (test) => {
    const broken: Record<string, string>[] = [
      { HOME: '/proc' },
      { HOME: '', XDG_CACHE_HOME: 'relative' },
      { HOME: temporaryFolder(test), XDG_CACHE_HOME: '/proc', TMPDIR: '/proc' },
    ];
    for (const env of broken) {
      const { code, ready, stderr } = await start(test, { ...env, DATA_DIR: temporaryFolder(test) });
      assert.deepEqual([code, ready], [0, true], stderr);
    }
    assert.equal(existsSync('relative'), false);
  });

  it('in a folder that its user may not write to says so', async (test) => {
    if (process.getuid?.() === 0) return test.skip('the superuser may write everywhere');
    const dataDir = join(temporaryFolder(test), 'data');
    mkdirSync(dataDir, { mode: 0o500 });
    refused(await start(test, { HOME: temporaryFolder(test), DATA_DIR: dataDir }), dataDir);
    assert.deepEqual(readdirSync(dataDir), []);
  });

  it('on a full disk says so', linux, async (test) => {
    // Blocks of 512 bytes (POSIX) or 1024 (bash): files may not grow beyond.
    for (const blocks of [0, 64]) {
      const dataDir = temporaryFolder(test);
      refused(await start(test, { HOME: '/proc', DATA_DIR: dataDir }, `ulimit -f ${blocks}`), dataDir);
    }
  });
});
