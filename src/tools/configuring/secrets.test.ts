import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secretsIn } from './secrets.ts';

const key = 'sk-0123456789abcdefghijklmnopqrstuv';

describe('secrets of a configuration', () => {
  it('are found by the name of their entry, or by their form', () => {
    assert.deepEqual(secretsIn({ apiKey: 'abc', auth: { key: 'def', type: 'api' } }), ['abc', 'def']);
    assert.deepEqual(secretsIn({ env: { WHATEVER: key } }), [key]);
    assert.deepEqual(secretsIn(['x', { list: [key] }]), [key]);
  });

  it('are not confused with names of variables', () => {
    const references = ['MODELGATE_API_KEY', '$MODELGATE_API_KEY', '{env:MODELGATE_API_KEY}'];
    for (const apiKey of references) assert.deepEqual(secretsIn({ apiKey, keyboard: 'qwerty' }), []);
  });
});
