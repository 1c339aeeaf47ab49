import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutSecrets } from './account.ts';

describe('a text without secrets', () => {
  it('has none of them left, whatever stands beside', () => {
    const secret = 'sk-0123/456789';
    for (const text of [`key=${secret};`, `\\n${secret}`, `a${secret}b`, `"sk-0123\\/456789"`])
      assert.doesNotMatch(withoutSecrets(text, [secret]), /456789/);
  });

  it('keeps its words where the secret is what a local server is content with', () => {
    const said = 'Extra inputs are not permitted: max, xml';
    assert.equal(withoutSecrets(said, ['x']), said);
    assert.equal(
      withoutSecrets('The key x is wrong ("x")', ['x']),
      'The key [redacted] is wrong ("[redacted]")',
    );
    assert.equal(withoutSecrets('none', ['none']), '[redacted]');
  });
});
