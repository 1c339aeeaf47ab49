import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasSecretForm, isSecretName, withoutSecretForms, withoutSecrets } from './secrets.ts';

describe('a text without secrets', () => {
  it('contains none of them, whatever surrounds them', () => {
    const secret = 'sk-0123/456789';
    for (const text of [`key=${secret};`, `\\n${secret}`, `a${secret}b`, `"sk-0123\\/456789"`])
      assert.doesNotMatch(withoutSecrets(text, [secret]), /456789/);
  });

  it('keeps its words when the secret is a placeholder for a local server', () => {
    const said = 'Extra inputs are not permitted: max, xml';
    assert.equal(withoutSecrets(said, ['x']), said);
    assert.equal(
      withoutSecrets('The key x is wrong ("x")', ['x']),
      'The key [redacted] is wrong ("[redacted]")',
    );
    assert.equal(withoutSecrets('none', ['none']), '[redacted]');
  });
});

describe('a secret in another spelling', () => {
  it('is found as JSON and as URLs write it', () => {
    const secret = 'pass"wörd\n/with?all';
    for (const text of [JSON.stringify({ secret }), `https://user:${encodeURIComponent(secret)}@host/`])
      assert.doesNotMatch(withoutSecrets(text, [secret]), /pass|all/);
  });

  it('is removed whole, even if another secret is a part of it', () => {
    assert.equal(
      withoutSecrets('a sk-12345678-rest b', ['sk-12345678', 'sk-12345678-rest']),
      'a [redacted] b',
    );
  });
});

describe('what looks like a secret', () => {
  for (const secret of [
    'sk-ant-abcdefgh1234',
    'AIzaSyA-0123456789',
    'Bearer abcdefgh',
    'ghp_abcdefghijkl1234',
  ])
    it(`${secret.slice(0, 6)}… is left out`, () => {
      assert.equal(withoutSecretForms(`said ${secret}, no more`), 'said [redacted], no more');
      assert.equal(hasSecretForm(secret), true);
    });

  it('is not what only begins like one', () => {
    assert.equal(withoutSecretForms('sk-… is the form of a key'), 'sk-… is the form of a key');
    assert.equal(hasSecretForm('use sk-ant-abcdefgh1234'), false);
  });

  it('is the user and the password of an address', () => {
    assert.equal(withoutSecretForms('amqp://me:word@host/path'), 'amqp://[redacted]@host/path');
  });
});

it('a name of a secret is told from the names of what is known about one', () => {
  for (const name of ['api_key', 'apiKey', 'refresh_token', 'Authorization', 'password'])
    assert.ok(isSecretName(name), name);
  for (const name of ['key_id', 'tokens_at', 'model', 'key_hint', 'author'])
    assert.ok(!isSecretName(name), name);
});
