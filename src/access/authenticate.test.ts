import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { authenticate, presentedKeys } from './authenticate.ts';
import { createKey } from './keys/keys.ts';
import type { KeyRecord } from './schema.ts';

const made = createKey();
const other = createKey();

function table(patch: Partial<KeyRecord> = {}): Map<string, KeyRecord> {
  const record: KeyRecord = {
    id: 'key_1',
    name: 'laptop',
    prefix: made.prefix,
    hash: made.hash,
    models: null,
    createdAt: 0,
    expiresAt: null,
    lastUsedAt: null,
    disabled: false,
    cacheTtlSeconds: null,
    owner: null,
    ownerUserId: null,
    team: null,
    labels: {},
    ...patch,
  };
  return new Map([[record.hash, record]]);
}

describe('authentication', () => {
  it('finds the principal of a key by its hash', () => {
    assert.deepEqual(authenticate(table({ models: ['a/*'] }), [made.key], 1), {
      keyId: 'key_1',
      name: 'laptop',
      models: ['a/*'],
    });
  });

  it('finds nobody for another key, the hash, a part of the key, or a longer text', () => {
    const wrong = [
      other.key,
      made.hash,
      made.key.slice(0, -1),
      `${made.key}x`,
      made.key.slice(3),
      '',
      'x'.repeat(1e6),
    ];
    for (const key of wrong) assert.equal(authenticate(table(), [key], 1), null, key.slice(0, 50));
    assert.equal(authenticate(table(), [], 1), null);
    assert.equal(authenticate(new Map(), [made.key], 1), null);
  });

  it('takes the first valid one of several, wherever it stands', () => {
    assert.equal(authenticate(table(), [other.key, 'sk-ant-something', made.key], 1)?.keyId, 'key_1');
  });

  it('ends at the moment of expiry', () => {
    assert.notEqual(authenticate(table({ expiresAt: 1000 }), [made.key], 999), null);
    assert.equal(authenticate(table({ expiresAt: 1000 }), [made.key], 1000), null);
  });

  it('refuses a disabled key', () => {
    assert.equal(authenticate(table({ disabled: true }), [made.key], 1), null);
  });

  it('reads a key from each header that tools use, and from several at once', () => {
    assert.deepEqual(presentedKeys({ authorization: 'Bearer a' }), ['a']);
    assert.deepEqual(presentedKeys({ authorization: 'bearer  a ' }), ['a']);
    assert.deepEqual(presentedKeys({ authorization: 'Basic YTpi' }), []);
    for (const name of ['x-api-key', 'api-key', 'x-goog-api-key'])
      assert.deepEqual(presentedKeys({ [name]: 'a' }), ['a']);
    assert.deepEqual(
      presentedKeys({ authorization: 'Bearer a', 'x-api-key': 'b', 'api-key': 'c', 'x-goog-api-key': 'd' }),
      ['a', 'b', 'c', 'd'],
    );
    assert.deepEqual(presentedKeys({ authorization: '', 'x-api-key': '' }), []);
  });
});
