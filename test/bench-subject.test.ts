import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { childrenOf } from '../bench/subject.ts';

describe('the processes that the bench counts', { skip: process.platform !== 'linux' }, () => {
  it('are those that a thread started', () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    try {
      assert.ok(childrenOf(process.pid, String(process.pid)).includes(child.pid ?? 0));
    } finally {
      child.kill();
    }
  });

  it('do not include those of a thread that has ended', () => {
    assert.deepEqual(childrenOf(process.pid, '0'), []);
  });
});
