import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withQuery } from './query.ts';

describe('the query of an upstream request', () => {
  it("keeps what belongs to the format's API", () => {
    assert.equal(withQuery('/v1/messages', 'beta=true', 'anthropic-messages'), '/v1/messages?beta=true');
    assert.equal(
      withQuery('/v1/messages?region=eu', 'x=1&beta=a%26b', 'anthropic-messages'),
      '/v1/messages?region=eu&beta=a%26b',
    );
  });

  it('removes everything else, which may be a credential of the client', () => {
    for (const query of ['', 'key=sk-1&api_key=sk-2&token=beta', '&&'])
      assert.equal(withQuery('/v1/messages', query, 'anthropic-messages'), '/v1/messages');
    assert.equal(withQuery('/v1/responses', 'beta=true', 'openai-responses'), '/v1/responses');
  });
});
