import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { wholeCharacters } from './join-surrogates.ts';

type Delta = Extract<StreamPart, { text: string }>;
const kinds = ['text', 'refusal', 'reasoning', 'tool-call'] as const;

/** Texts of code units, so that pairs are cut and halves stand alone. */
const text = fc
  .array(fc.oneof(fc.constantFrom(0xd83d, 0xde42, 0x61), fc.nat(0xffff)), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));
/** The deltas of some blocks, each of one kind, in any order. */
const deltas = fc.array(fc.record({ block: fc.nat(3), text }), { maxLength: 20 }).map((list) =>
  list.map(
    ({ block, text: delta }): StreamPart => ({
      block,
      text: delta,
      type: `${kinds[block] ?? 'text'}-delta` as Delta['type'],
    }),
  ),
);
const ends: StreamPart[] = [
  { type: 'text-end', block: 0 },
  { type: 'refusal-end', block: 1 },
  { type: 'reasoning-end', block: 2, encrypted: null },
  { type: 'tool-call-end', block: 3, complete: true },
];

function through(parts: readonly StreamPart[], last: readonly StreamPart[]): StreamPart[] {
  const whole = wholeCharacters({ push: (frame) => [JSON.parse(frame.data)], end: () => [...last] });
  const pushed = parts.flatMap((part) => whole.push({ event: '', data: JSON.stringify(part) }));
  return [...pushed, ...whole.end()];
}

const saidIn = (parts: readonly StreamPart[], block: number) =>
  parts.map((part) => ('text' in part && part.block === block ? part.text : '')).join('');

describe('surrogate pairs', () => {
  it('are complete in every delta, wherever the text was cut, and nothing is lost', () => {
    fc.assert(
      fc.property(deltas, (parts) => {
        const whole = through(parts, ends);
        for (const part of whole) if ('text' in part) assert.ok(part.text.isWellFormed());
        for (const block of [0, 1, 2, 3])
          assert.equal(saidIn(whole, block), saidIn(parts, block).toWellFormed());
        assert.deepEqual(
          whole.filter((part) => !('text' in part)),
          ends,
        );
      }),
    );
  });

  it('leave parts unchanged that have nothing to join', () => {
    const parts: StreamPart[] = [{ type: 'text-delta', block: 0, text: 'a🙂' }];
    const whole = wholeCharacters({ push: () => parts, end: () => [] });
    assert.equal(whole.push({ event: '', data: '' }), parts);
  });
});
