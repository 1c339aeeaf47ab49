import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PartReader, StreamPart } from '../model/stream-part.ts';
import { onlyAllowedCalls } from './allowed-tools.ts';

const called = (block: number, name: string): StreamPart[] => [
  { type: 'tool-call-start', block, id: `call_${block}`, name, kind: 'function' },
  { type: 'tool-call-delta', block, text: '{}' },
  { type: 'tool-call-end', block, complete: true },
];
const end: StreamPart = {
  type: 'message-end',
  reason: 'tool-calls',
  rawFinishReason: null,
  stopSequence: null,
  usage: null,
};

function allowedParts(parts: StreamPart[]): StreamPart[] {
  const reader: PartReader = { push: () => parts, end: () => [] };
  return onlyAllowedCalls(reader, new Set(['a'])).push({ event: '', data: '' });
}

describe('an answer that may call some of the tools', () => {
  it('keeps calls of these tools', () => {
    const parts = [...called(0, 'a'), end];
    assert.deepEqual(allowedParts(parts), parts);
  });

  it('has a sentence instead of any other call', () => {
    const parts = allowedParts([...called(0, 'b'), ...called(1, 'a'), end]);
    assert.deepEqual(
      parts.map(({ type }) => type),
      [
        'text-start',
        'text-delta',
        'text-end',
        'tool-call-start',
        'tool-call-delta',
        'tool-call-end',
        'message-end',
      ],
    );
    assert.match(JSON.stringify(parts[1]), /called the tool \\"b\\"/);
    assert.deepEqual(parts.at(-1), end);
  });

  it('separates the sentence from the text of the model', () => {
    const textParts: StreamPart[] = [
      { type: 'text-start', block: 0 },
      { type: 'text-delta', block: 0, text: 'Let me see.' },
      { type: 'text-end', block: 0 },
    ];
    const text = allowedParts([...textParts, ...called(1, 'b'), end])
      .map((part) => (part.type === 'text-delta' ? part.text : ''))
      .join('');
    assert.match(text, /^Let me see\.\n\n\[The model called/);
  });

  it('does not end with the reason tool-calls if no call is left', () => {
    assert.deepEqual(allowedParts([...called(0, 'b'), end]).at(-1), { ...end, reason: 'stop' });
  });
});
