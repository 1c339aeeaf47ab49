import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { emptyConversation } from '../model/conversation.ts';
import type { PartReader, StreamPart } from '../model/stream-part.ts';
import { AnswerPrefix, continued, continuing, isContinuable } from './continuation.ts';

/** A reader that brings one part for each frame. */
function scripted(parts: readonly StreamPart[]): PartReader {
  const left = [...parts];
  return { push: () => left.splice(0, 1), end: () => left.splice(0) };
}

function begunWith(parts: readonly StreamPart[]): AnswerPrefix {
  const begun = new AnswerPrefix();
  for (const part of parts) begun.note(part);
  return begun;
}

function all(reader: PartReader, count: number): StreamPart[] {
  const frame = { event: '', data: '' };
  return [...Array.from({ length: count }, () => reader.push(frame)).flat(), ...reader.end()];
}

const text = (block: number, delta: string): StreamPart => ({ type: 'text-delta', block, text: delta });
const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n') }), { maxLength: 6 });

describe('an answer that continues a partial one', () => {
  it('has the text of both, however they were cut, and text that is repeated only once', () => {
    fc.assert(
      fc.property(pieces, pieces, fc.boolean(), (before, after, repeated) => {
        const begunText = before.join('');
        const rest = after.join('').trim();
        fc.pre(begunText.trim() !== '' && rest !== '');
        const begun = begunWith([{ type: 'text-start', block: 0 }, ...before.map((one) => text(0, one))]);
        const space = begunText.slice(begunText.trimEnd().length);
        // It was told the text without the space at its end, and writes that itself.
        const whole = `${repeated ? begunText.trimEnd() : ''}${space}${rest}`;
        const cuts = [...whole].map((one) => text(0, one));
        const parts: StreamPart[] = [
          { type: 'message-start', id: '', model: '', usage: null },
          { type: 'text-start', block: 0 },
          ...cuts,
          { type: 'text-end', block: 0 },
        ];
        const continuation = all(continuing(scripted(parts), begun, repeated), parts.length);
        const acceptedOnly = continuation
          .map((part) => (part.type === 'text-delta' ? part.text : ''))
          .join('');
        assert.equal(begunText + acceptedOnly, begunText + rest);
        assert.ok(continuation.every((part) => !('block' in part) || part.block === 0));
        assert.equal(continuation.filter(({ type }) => type === 'text-start').length, 0);
      }),
    );
  });

  it('numbers its blocks after those of the partial answer, and closes an open reasoning block', () => {
    const begun = begunWith([
      { type: 'reasoning-start', block: 0, summary: false },
      { type: 'reasoning-end', block: 0, encrypted: null },
      { type: 'reasoning-start', block: 1, summary: false },
    ]);
    const parts: StreamPart[] = [
      { type: 'reasoning-start', block: 0, summary: false },
      { type: 'text-start', block: 1 },
      text(1, ' a'),
    ];
    assert.deepEqual(all(continuing(scripted(parts), begun, false), 3), [
      { type: 'reasoning-end', block: 1, encrypted: null },
      { type: 'reasoning-start', block: 2, summary: false },
      { type: 'text-start', block: 3 },
      text(3, ' a'),
    ]);
  });

  it('consists of text and reasoning only', () => {
    assert.equal(begunWith([{ type: 'text-start', block: 0 }, text(0, 'a')]).continuable, true);
    const call: StreamPart = { type: 'tool-call-start', block: 1, id: 'a', name: 'f', kind: 'function' };
    assert.equal(begunWith([text(0, 'a'), call]).continuable, false);
    assert.equal(begunWith([{ type: 'refusal-start', block: 0 }]).continuable, false);
    const conversation = emptyConversation('m');
    assert.equal(isContinuable(conversation), true);
    assert.equal(isContinuable({ ...conversation, candidates: 2 }), false);
    assert.equal(isContinuable({ ...conversation, output: { kind: 'json' } }), false);
  });
});

describe('a conversation with a partial answer', () => {
  const conversation = {
    ...emptyConversation('m'),
    messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }],
    maxOutputTokens: 100,
    reasoning: { mode: 'on' as const, effort: 'high', budgetTokens: null, display: null },
  };

  it('ends with it, has a lower token limit, and no more thinking', () => {
    const whole = continued(conversation, 'One two \n', 30);
    assert.deepEqual(whole.messages.at(-1), {
      role: 'assistant',
      parts: [{ type: 'text', text: 'One two' }],
    });
    assert.deepEqual([whole.maxOutputTokens, whole.reasoning], [70, null]);
    assert.equal(continued(conversation, 'One', 300).maxOutputTokens, 1);
  });

  it('appends it to the answer that the client had begun', () => {
    const prefilled = {
      ...conversation,
      messages: [
        ...conversation.messages,
        { role: 'assistant' as const, parts: [{ type: 'text' as const, text: '{' }] },
      ],
    };
    const { messages } = continued(prefilled, '"a"', 1);
    assert.equal(messages.length, 2);
    assert.deepEqual(messages.at(-1)?.parts, [
      { type: 'text', text: '{' },
      { type: 'text', text: '"a"' },
    ]);
  });

  it('is unchanged if the partial answer is empty', () => {
    assert.equal(continued(conversation, ' \n', 1), conversation);
  });
});
