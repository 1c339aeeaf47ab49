import assert from 'node:assert/strict';
import { it } from 'node:test';
import { csvOf } from './csv.ts';

it('quotes what needs it, and disarms formulas', () => {
  const text = csvOf(
    ['a', 'b'],
    [
      ['plain', 'with "quotes", and\nlines'],
      [null, { x: 1 }],
      ['=1+1', -5],
    ],
  );
  assert.equal(text, 'a,b\r\nplain,"with ""quotes"", and\nlines"\r\n,"{""x"":1}"\r\n\'=1+1,-5');
});
