import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../lib/error.ts';
import { continueResponse, itemOf, referenceOf, responseOf, withIds } from './continuation.ts';

const userMessage = (text: string) => ({ type: 'message', role: 'user', content: text });
const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] };

describe('a continued request', () => {
  it('shows earlier input, earlier output and new input, in this order', () => {
    const request = { model: 'm', previous_response_id: 'resp_1', input: 'three', instructions: 'new' };
    assert.deepEqual(continueResponse({ input: 'one', output: [answer] }, request), {
      model: 'm',
      instructions: 'new',
      input: [userMessage('one'), answer, userMessage('three')],
    });
  });

  it('inherits nothing but the items', () => {
    const result = continueResponse(
      { input: [userMessage('one')], output: [] },
      { model: 'm', previous_response_id: 'r' },
    );
    assert.deepEqual(result, { model: 'm', input: [userMessage('one')] });
  });

  it('does not repeat what a compaction replaces', () => {
    const compaction = { type: 'compaction', encrypted_content: 'x' };
    const { input } = continueResponse({ input: 'long', output: [answer, compaction] }, { input: 'next' });
    assert.deepEqual(input, [compaction, userMessage('next')]);
  });

  it('leaves the earlier turn as it was', () => {
    const previous = { input: [userMessage('one')], output: [answer] };
    const before = structuredClone(previous);
    continueResponse(previous, { input: [userMessage('two')] });
    assert.deepEqual(previous, before);
  });

  it('refuses an input that is neither a text nor a list', () => {
    assert.throws(
      () => continueResponse({ input: [], output: [] }, { input: 7 }),
      (error) => error instanceof GatewayError && error.code === 'invalid_request' && error.param === 'input',
    );
  });
});

describe('a reference', () => {
  it('is recognized with and without its type', () => {
    assert.equal(referenceOf({ type: 'item_reference', id: 'msg_a_0' }), 'msg_a_0');
    assert.equal(referenceOf({ id: 'msg_a_0' }), 'msg_a_0');
    assert.equal(referenceOf({ type: null, id: 'msg_a_0' }), 'msg_a_0');
  });

  it('is not confused with an item', () => {
    for (const item of [null, 'x', { role: 'user', id: 'a', content: 'b' }, { type: 'reasoning', id: 'a' }])
      assert.equal(referenceOf(item), null);
  });

  it('leads by its name to the response that it came from', () => {
    const input = withIds([userMessage('one'), { type: 'function_call_output', call_id: 'c' }], 'resp_0abC1');
    assert.deepEqual(
      input.map((item) => (item as { id: string }).id),
      ['msg_0abC1_i0', 'fco_0abC1_i1'],
    );
    for (const id of ['msg_0abC1_i0', 'fco_0abC1_i1', 'rs_0abC1_12'])
      assert.equal(responseOf(id), 'resp_0abC1');
    for (const id of ['msg_68af', 'x', '', 'msg__0', 'resp_0abC1']) assert.equal(responseOf(id), null);
    assert.deepEqual(itemOf({ input, output: [answer] }, 'msg_0abC1_i0'), {
      ...userMessage('one'),
      id: 'msg_0abC1_i0',
    });
    assert.equal(itemOf({ input, output: [answer] }, 'msg_0abC1_i9'), null);
  });

  it('keeps the ids that items have', () => {
    assert.deepEqual(withIds([{ id: 'own', type: 'message' }, 'odd'], 'resp_1'), [
      { id: 'own', type: 'message' },
      'odd',
    ]);
  });
});
