import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Attempt, type AttemptReader, type Upstream } from './attempt.ts';
import type { Failure } from './failure.ts';

/** An upstream that answers at once. */
const upstream: Upstream = {
  dispatch(_, handler) {
    const controller = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} };
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, {});
    handler.onResponseData?.(controller, Buffer.from('chunk'));
    handler.onResponseEnd?.(controller, {});
    return true;
  },
};

const timeouts = { connectMs: 1e6, headersMs: 1e6, firstByteMs: 1e6, idleMs: 1e6, totalMs: 1e6 };

for (const place of ['onHead', 'onData', 'onEnd'] as const) {
  it(`tells its reader of a fault in the reader's own ${place}, once, instead of leaving the caller waiting`, () => {
    const failures: Failure[] = [];
    const reader: AttemptReader = {
      onHead: () => {},
      onData: () => true,
      onEnd: () => {},
      onFailure: (failure) => failures.push(failure),
      [place]: () => {
        throw new TypeError('a bug');
      },
    };
    const attempt = new Attempt('host', reader, timeouts);
    attempt.start({
      upstream,
      origin: 'http://host',
      host: 'host',
      path: '/',
      headers: [],
      body: [Buffer.from('{}')],
    });
    assert.deepEqual(
      failures.map(({ error, safeToRetry }) => [error.code, error.status, safeToRetry]),
      [['internal_error', 500, false]],
    );
  });
}
