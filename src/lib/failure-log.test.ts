import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from './error.ts';
import { logFailure } from './failure-log.ts';
import { createLog } from './log.ts';

test('a failure that has a code is a warning of one line without a stack', () => {
  const [line] = logged(new GatewayError('store_unavailable', 'The database does not answer'));
  const { level, code, reason, task, msg, error } = JSON.parse(line ?? '');
  assert.deepEqual(
    { level, code, reason, task, msg, error },
    {
      level: 'warn',
      code: 'store_unavailable',
      reason: 'The database does not answer',
      task: 'kept answers',
      msg: 'a periodic task failed',
      error: undefined,
    },
  );
});

test('a fault is an error with where it came from', () => {
  const [line] = logged(new TypeError('no such thing'));
  const { level, error } = JSON.parse(line ?? '');
  assert.equal(level, 'error');
  assert.match(error, /TypeError: no such thing\n\s+at /);
});

function logged(error: unknown): string[] {
  const lines: string[] = [];
  const log = createLog({ level: 'info', pretty: false, write: (line) => lines.push(line) });
  logFailure(log, error, 'a periodic task failed', { task: 'kept answers' });
  return lines;
}
