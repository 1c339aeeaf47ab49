import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compact, duration, exactMoney, money, percent } from './numbers.ts';

describe('numbers as people read them', () => {
  const amounts: readonly [number | null, string][] = [
    [null, '–'],
    [0, '$0.00'],
    [0.00042, '$0.00042'],
    [0.0000012, '$0.0000012'],
    [0.0123456, '$0.0123'],
    [0.5, '$0.50'],
    [12.345, '$12.35'],
    [1234.5, '$1,234.50'],
  ];
  for (const [usd, text] of amounts)
    it(`shows ${usd} USD as ${text}`, () => assert.equal(money(usd, 'en'), text));

  it('never shows a cost as nothing', () => {
    for (const usd of [0.009, 0.0009, 1e-7, 1e-10]) assert.match(money(usd, 'en'), /[1-9]/);
  });

  it('shows all digits where amounts are compared', () => {
    assert.equal(exactMoney(0.000123456789, 'en'), '$0.000123456789');
    assert.equal(exactMoney(3, 'en'), '$3.00');
  });

  it('follows the language', () => {
    assert.equal(money(1234.5, 'de').replace(/\s/g, ' '), '1.234,50 $');
    assert.equal(compact(12_400, 'en'), '12.4K');
    assert.equal(compact(null, 'en'), '–');
  });

  const times: readonly [number | null, string][] = [
    [null, '–'],
    [4, '4 ms'],
    [840.4, '840 ms'],
    [2400, '2.4 s'],
    [185_000, '3 min 5 s'],
    [119_700, '2 min'],
    [43_200_000, '12 h'],
    [45_000_000, '12 h 30 min'],
  ];
  for (const [ms, text] of times)
    it(`shows ${ms} ms as ${text}`, () => assert.equal(duration(ms, 'en').replace(/\s/g, ' '), text));

  it('shows 100 % only for everything, and never for less', () => {
    assert.deepEqual(
      [1, 0.99999, 0.9951, 0.5, 0.004, 0, null].map((share) => percent(share, 'en')),
      ['100%', '99.9%', '99.5%', '50%', '0.4%', '0%', '–'],
    );
  });
});
