import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestedTier } from './requested-tier.ts';

const body = Buffer.from('{"model":"m","service_tier":"priority","messages":[]}');

describe('the service tier that a request asks for', () => {
  it('is found wherever the body was cut into pieces', () => {
    for (let first = 0; first <= body.length; first += 1)
      for (const second of [first, first + 1, first + 5]) {
        const pieces = [body.subarray(0, first), body.subarray(first, second), body.subarray(second)];
        assert.equal(requestedTier('openai-chat', pieces, {}), 'priority', `${first}, ${second}`);
      }
    assert.equal(
      requestedTier(
        'openai-chat',
        [...body].map((byte) => Buffer.from([byte])),
        {},
      ),
      'priority',
    );
  });

  it('is none where no field names one', () => {
    assert.equal(
      requestedTier('openai-chat', [Buffer.from('{"model":"m","user":"service_tier"}')], {}),
      null,
    );
    assert.equal(requestedTier('ollama', [body], {}), null);
  });

  it('may stand in a header of a cloud', () => {
    assert.equal(requestedTier('openai-chat', [], { 'x-amzn-bedrock-service-tier': 'flex' }), 'flex');
  });
});
