import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { signalChild } from './signal-child.ts';

describe('a signal to a child process', () => {
  it('reaches one that runs', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    assert.equal(signalChild(child, 'SIGKILL'), true);
    assert.deepEqual(await exited, [null, 'SIGKILL']);
  });

  it('is not sent where the program could not be started', () => {
    const kill = () => assert.fail('Node.js would signal another process');
    assert.equal(signalChild({ pid: undefined, kill }, 'SIGKILL'), false);
  });
});
