import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { objectOf } from '../codecs/json/values.ts';
import { emptyConversation } from '../codecs/model/conversation.ts';
import type { EndReason, PartReader, StreamPart } from '../codecs/model/stream-part.ts';
import { summaryIn } from '../codecs/openai-responses/request/compaction.ts';
import { compactedResponse, compacting, withSummaryRequest } from './compact.ts';
import { summaryPrompt } from './summary-prompt.ts';

/** A reader that brings these parts with its first frame. */
const bringing = (parts: readonly StreamPart[]): PartReader => ({ push: () => [...parts], end: () => [] });
const read = (parts: readonly StreamPart[]) =>
  compacting(bringing(parts), 'req_1').push({ event: '', data: '' });
const start: StreamPart = { type: 'message-start', id: 'a', model: 'm', usage: null };
const end = (reason: EndReason): StreamPart => ({
  type: 'message-end',
  reason,
  rawFinishReason: null,
  stopSequence: null,
  usage: null,
});
const words: StreamPart[] = [
  { type: 'reasoning-start', block: 0, summary: false },
  { type: 'reasoning-delta', block: 0, text: 'thinking' },
  { type: 'reasoning-end', block: 0, encrypted: null },
  { type: 'text-start', block: 1 },
  { type: 'text-delta', block: 1, text: 'So ' },
  { type: 'text-delta', block: 1, text: 'far.' },
  { type: 'text-end', block: 1 },
];

describe('a compaction by the gateway', () => {
  it('asks for a summary last, with the tools declared but not callable', () => {
    const tool = { kind: 'function', name: 'ls', description: null, schema: null, strict: null } as const;
    const before = {
      ...emptyConversation('m'),
      tools: [tool],
      toolChoice: { kind: 'required' } as const,
      output: { kind: 'json' } as const,
      maxOutputTokens: 16,
      messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }],
    };
    const after = withSummaryRequest(before);
    assert.deepEqual(after.messages, [
      ...before.messages,
      { role: 'user', parts: [{ type: 'text', text: summaryPrompt }] },
    ]);
    assert.deepEqual(
      [after.tools, after.toolChoice, after.output],
      [[tool], { kind: 'none' }, { kind: 'text' }],
    );
    assert.equal(after.maxOutputTokens, null);
    assert.equal(before.messages.length, 1);
    assert.equal(withSummaryRequest(emptyConversation('m')).toolChoice, null);
  });

  it('turns the answer into exactly one item', () => {
    const parts = read([start, ...words, end('stop')]);
    assert.deepEqual(
      parts.map(({ type }) => type),
      ['message-start', 'native', 'message-end'],
    );
    const item = parts[1]?.type === 'native' ? parts[1].value : {};
    assert.deepEqual([item['id'], item['type'], summaryIn(item)], ['cmp_1_0', 'compaction', 'So far.']);
  });

  it('leaves out an unrequested call', () => {
    const call: StreamPart[] = [
      { type: 'tool-call-start', block: 2, id: 'c', name: 'ls', kind: 'function' },
      { type: 'tool-call-end', block: 2, complete: true },
    ];
    const parts = read([start, ...words, ...call, end('tool-calls')]);
    const last = parts.at(-1);
    assert.deepEqual([parts.length, last?.type === 'message-end' && last.reason], [3, 'stop']);
  });

  for (const [what, parts] of [
    ['empty', [start, end('stop')]],
    ['cut', [start, ...words, end('length')]],
    ['refused', [start, end('policy')]],
  ] as const) {
    it(`fails with a summary that is ${what}`, () => {
      const last = read(parts).at(-1);
      assert.ok(last?.type === 'error');
      assert.equal(last.error.status, 502);
    });
  }

  it('passes on an error', () => {
    const error: StreamPart = { type: 'error', error: { status: 529, message: 'busy' } };
    assert.deepEqual(read([start, error]), [start, error]);
  });
});

describe('the answer of /responses/compact', () => {
  it('contains all messages of the user and then the one compaction', () => {
    const compaction = { id: 'cmp_1_0', type: 'compaction', encrypted_content: 'mgc1.eA' };
    const usage = { input_tokens: 1 };
    const answered = compactedResponse(
      [
        { role: 'user', content: 'one' },
        { type: 'message', role: 'assistant', content: 'two' },
        { type: 'compaction', encrypted_content: 'mgc1.eQ' },
        { type: 'message', id: 'own', role: 'user', content: [{ type: 'input_image', image_url: 'x' }] },
        { type: 'function_call_output', call_id: 'c', output: 'x' },
      ],
      { id: 'resp_1', object: 'response', created_at: 5, output: [compaction], usage, model: 'm' },
    );
    assert.deepEqual(answered, {
      id: 'resp_1',
      object: 'response.compaction',
      created_at: 5,
      output: [
        {
          id: 'msg_1_i0',
          type: 'message',
          status: 'completed',
          role: 'user',
          content: [{ type: 'input_text', text: 'one' }],
        },
        {
          id: 'own',
          type: 'message',
          status: 'completed',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'x' }],
        },
        compaction,
      ],
      usage,
    });
    assert.equal(objectOf(answered)['model'], undefined);
  });
});
