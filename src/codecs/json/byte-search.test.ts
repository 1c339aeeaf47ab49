import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anywhere, containNeedle, indexOfNeedle } from './byte-search.ts';
import { needleOf } from './needle.ts';

describe('searching a text in bytes', () => {
  it('finds what indexOf finds, wherever it stands', () => {
    const texts = ['"service_tier"', '"data"', 'mg1.', 'bWcxL', 'a', 'aa', '"signature"', '_x_', 'é→'];
    const fillers = ['', 'a', '_', 'x', '"', '"service_tie', 'ervice_tier"', 'aaaa', 'mg1', '"data', ' é→ '];
    for (const text of texts)
      for (const before of fillers)
        for (const after of fillers)
          for (const body of [before + text + after, before + after, text + before + text + after]) {
            const bytes = Buffer.from(body);
            const needle = needleOf(text);
            for (let from = 0; from <= bytes.length; from += 1)
              assert.equal(
                indexOfNeedle(bytes, needle, from),
                bytes.indexOf(text, from),
                `${text} in ${body}`,
              );
          }
  });

  it('finds a text that continues from one piece to the next, in pieces of any length', () => {
    const texts = ['"service_tier"', 'mg1.', 'a', 'é→'];
    for (const text of texts)
      for (const body of [
        `{"x":1,${text}:2}`,
        text,
        `${text}`.repeat(2),
        text.slice(1),
        `a${text.slice(0, -1)}`,
      ]) {
        const bytes = Buffer.from(body);
        const isThere = bytes.includes(text);
        for (let length = 1; length <= bytes.length + 1; length += 1) {
          const pieces: Buffer[] = [];
          for (let at = 0; at < bytes.length; at += length)
            pieces.push(bytes.subarray(at, at + length), Buffer.alloc(0));
          assert.equal(containNeedle(pieces, needleOf(text)), isThere, `${text} in ${body} by ${length}`);
        }
      }
  });

  it('shows the requested number of bytes before and after a boundary, however short the pieces are', () => {
    const pieces = [...'abcdefgh'].map((letter) => Buffer.from(letter));
    const seen: string[] = [];
    anywhere(pieces, 3, (bytes) => seen.push(bytes.toString()) === 0);
    assert.ok(seen.includes('cdefgh'), seen.join(' '));
    assert.ok(
      seen.every((bytes) => bytes.length <= 6),
      seen.join(' '),
    );
  });
});
