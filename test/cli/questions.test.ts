import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import { createIo } from '../../src/cli/terminal/io.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { PATIENCE_MS } from '../support/machine/patience.ts';

it('a refused secret must be typed again, because it is not visible', async () => {
  // Node.js reads no single keys on a terminal that calls itself dumb, as those of some test runners do.
  process.env['TERM'] = 'xterm';
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let shown = '';
  const refused = new Promise<void>((resolve) => {
    stdout.on('data', (piece: Buffer) => {
      shown += piece.toString('utf8');
      if (shown.includes('not that')) resolve();
    });
  });
  const io = createIo({
    json: false,
    nonInteractive: false,
    readsKeys: true,
    stdin,
    stdout,
    stderr: stdout,
    onBrokenPipe: () => {},
  });
  const answer = io.ask.secret('Password', { check: (text) => (text === 'right' ? undefined : 'not that') });
  // The prompt library is loaded with the first question and reads from then on; a stream keeps what came before.
  stdin.write('wrong');
  stdin.write('\r');
  await refused;
  stdin.write('right');
  stdin.write('\r');
  assert.equal(await answer, 'right');
  assert.equal(shown.includes('right'), false);
});

const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

it('asks nothing on a terminal without raw input, and names the flags to use instead', {
  skip: hasTerminals ? false : 'there is no program `script`',
}, (test) => {
  const program = resolve(import.meta.dirname, '../../src/cli/main.ts');
  const env = { ...process.env, TERM: 'dumb', DATA_DIR: temporaryFolder(test) };
  const added = spawnSync(process.execPath, [program, 'keys', 'add', 'ci'], { env });
  assert.equal(added.status, 0);
  const command = `${process.execPath} ${program} keys remove ci`;
  const { error, status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    input: '',
    env,
    timeout: PATIENCE_MS,
  });
  assert.equal(error, undefined, 'it does not wait for an answer');
  assert.equal(status, 2);
  assert.match(stdout, /--yes/);
});
