import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import { createIo } from '../../src/cli/terminal/io.ts';

it('a secret that was refused is typed anew, for nobody sees what stands there', async () => {
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
