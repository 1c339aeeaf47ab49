import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stub } from '../../../test/support/machine/stub.ts';
import type { RequestHead } from '../../http/exchange.ts';
import { allowedHosts } from '../../http/server/allowed-hosts.ts';
import { GatewayError } from '../../lib/error.ts';
import { checkOrigin } from './origin.ts';

const allowed = allowedHosts('127.0.0.1', ['gateway.lan']);
const isRefusal = (error: unknown) => error instanceof GatewayError && error.code === 'origin_not_allowed';

function check(
  origin: string | null,
  { host = '127.0.0.1:20128', method = 'POST', mints = false } = {},
): void {
  const rawHeaders = ['Host', host, ...(origin === null ? [] : ['Origin', origin])];
  checkOrigin(stub<RequestHead>({ method, rawHeaders }), allowed, mints);
}

describe('the origin of a request', () => {
  it('is that of the gateway itself, or none', () => {
    check(null);
    check('http://127.0.0.1:20128');
    check('https://gateway.lan', { host: 'gateway.lan' });
  });

  it('is compared as a whole', () => {
    for (const origin of [
      'http://x127.0.0.1:20128',
      'http://127.0.0.1.evil.example:20128',
      'http://127.0.0.1:20128.evil.example',
      'http://127.0.0.1:201280',
      'http://127.0.0.1',
      'http://localhost:20128',
      'http://127.0.0.1:20128/',
      'http://evil.example@127.0.0.1:20128',
      'ftp://127.0.0.1:20128',
      'null',
      '',
    ])
      assert.throws(() => check(origin), isRefusal, origin);
  });

  it('is not the name of a page, also where the page is asked for under that name', () => {
    assert.throws(() => check('http://evil.example', { host: 'evil.example' }), isRefusal);
  });

  it('is checked when something changes or a credential is issued', () => {
    check('https://evil.example', { method: 'GET' });
    assert.throws(() => check('https://evil.example', { method: 'GET', mints: true }), isRefusal);
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      assert.throws(() => check('https://evil.example', { method }), isRefusal);
  });
});
