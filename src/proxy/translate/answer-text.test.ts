import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerText } from './answer-text.ts';

describe('the text of a complete answer', () => {
  it('is its JSON, however often the tools of its request were written', () => {
    const request = { tools: [{ type: 'function', name: 'a' }] };
    for (const id of ['one', 'two', 'three']) {
      const answer = { id, tools: [{ type: 'function', name: 'a', strict: null }], text: '"tools":[] $& é' };
      assert.equal(answerText(answer, request), JSON.stringify(answer));
    }
  });

  it('has the tools of its own request', () => {
    for (const name of ['a', 'b']) {
      const answer = { tools: [{ name }] };
      assert.equal(answerText(answer, { tools: [{ name }] }), JSON.stringify(answer));
    }
  });

  it('is its JSON if it does not repeat tools', () => {
    for (const answer of [{ id: 'a' }, { tools: [] }, { tools: null }])
      assert.equal(answerText(answer, { tools: [] }), JSON.stringify(answer));
  });
});
