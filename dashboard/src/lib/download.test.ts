import assert from 'node:assert/strict';
import { it } from 'node:test';
import { csvText } from './download.ts';

it('quotes what needs it, and disarms formulas', () => {
  const text = csvText([
    ['a', 'b'],
    ['plain', 'with "quotes", and\nlines'],
    [null, 0.5],
    ['=1+1', -5],
  ]);
  assert.equal(text, 'a,b\r\nplain,"with ""quotes"", and\nlines"\r\n,0.5\r\n\'=1+1,-5\r\n');
});
