import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { indexOfSought, sought } from './byte-search.ts';

describe('looking for a text in bytes', () => {
  it('finds what indexOf finds, wherever it stands', () => {
    const texts = ['"service_tier"', '"data"', 'mg1.', 'bWcxL', 'a', 'aa', '"signature"', '_x_', 'é→'];
    const fillers = ['', 'a', '_', 'x', '"', '"service_tie', 'ervice_tier"', 'aaaa', 'mg1', '"data', ' é→ '];
    for (const text of texts)
      for (const before of fillers)
        for (const after of fillers)
          for (const body of [before + text + after, before + after, text + before + text + after]) {
            const bytes = Buffer.from(body);
            const found = sought(text);
            for (let from = 0; from <= bytes.length; from += 1)
              assert.equal(
                indexOfSought(bytes, found, from),
                bytes.indexOf(text, from),
                `${text} in ${body}`,
              );
          }
  });
});
