import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Failure } from '../request/failure.ts';
import { Attempt, type AttemptReader, type Upstream } from './attempt.ts';

/** An upstream that answers at once, in plain bytes or compressed. */
const upstream = (encoding: 'identity' | 'gzip'): Upstream => ({
  dispatch(_, handler) {
    const controller = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} };
    const chunk = Buffer.from('chunk');
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, { 'content-encoding': encoding });
    handler.onResponseData?.(controller, encoding === 'gzip' ? gzipSync(chunk) : chunk);
    handler.onResponseEnd?.(controller, {});
    return true;
  },
});

const timeouts = { connectMs: 1e6, headersMs: 1e6, firstByteMs: 1e6, idleMs: 1e6, totalMs: 1e6 };

const faults: [string, Error, [string, number, boolean]][] = [
  ['a fault', new TypeError('a bug'), ['internal_error', 500, false]],
  ['JSON deeper than the stack', new RangeError('Maximum call stack'), ['upstream_protocol', 502, false]],
];

for (const encoding of ['identity', 'gzip'] as const) {
  for (const place of ['onHead', 'onData', 'onEnd'] as const) {
    for (const [what, fault, expected] of faults) {
      it(`reports ${what} in the reader's own ${place} once (${encoding}), instead of leaving the client waiting`, async () => {
        const failures: Failure[] = [];
        const failed = Promise.withResolvers<void>();
        const reader: AttemptReader = {
          onHead: () => {},
          onData: () => true,
          onEnd: () => {},
          onFailure: (failure) => {
            failures.push(failure);
            failed.resolve();
          },
          [place]: () => {
            throw fault;
          },
        };
        const attempt = new Attempt('host', reader, timeouts);
        attempt.start({
          upstream: upstream(encoding),
          origin: 'http://host',
          host: 'host',
          path: '/',
          headers: [],
          body: [Buffer.from('{}')],
        });
        await failed.promise;
        assert.deepEqual(
          failures.map(({ error, safeToRetry }) => [error.code, error.status, safeToRetry]),
          [expected],
        );
      });
    }
  }
}
