import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../lib/error.ts';
import { failureOf } from './failure.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`socket ${code}`), { code });
}

test('a transport failure before the first byte may be tried once more, one after it may not', () => {
  for (const code of [
    'ENOTFOUND',
    'ECONNREFUSED',
    'ECONNRESET',
    'UND_ERR_SOCKET',
    'UND_ERR_CONNECT_TIMEOUT',
    'EPIPE',
  ]) {
    assert.equal(failureOf(systemError(code), 'host', false).safeToRetry, true, code);
    assert.equal(failureOf(systemError(code), 'host', true).safeToRetry, false, code);
  }
});

test('a damaged answer is not requested again', () => {
  for (const code of ['HPE_INVALID_CONSTANT', 'Z_DATA_ERROR', 'UND_ERR_HEADERS_OVERFLOW']) {
    const failure = failureOf(systemError(code), 'host', false);
    assert.equal(failure.error.code, 'upstream_protocol', code);
    assert.equal(failure.safeToRetry, false, code);
  }
});

test('the first cause of a failed happy-eyeballs connect is the one that is named', () => {
  const both = new AggregateError([systemError('ECONNREFUSED'), systemError('ENETUNREACH')]);
  const { error } = failureOf(both, 'models.example:443', false);
  assert.equal(error.code, 'upstream_unreachable');
  assert.match(error.message, /models\.example:443.*refused.*ECONNREFUSED/);
});

test('an error that already is one of ours stays as it is', () => {
  const own = new GatewayError('upstream_redirect', 'moved');
  assert.equal(failureOf(own, 'host', false).error, own);
});
