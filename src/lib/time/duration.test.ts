import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Temporal } from 'temporal-polyfill';
import { fc } from '../../../test/support/machine/properties.ts';
import { parseDuration } from './duration.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const durations: readonly [text: string, milliseconds: number][] = [
  ['PT6S', 6 * second],
  ['PT0S', 0],
  ['PT1M30S', 90 * second],
  ['PT1H', hour],
  ['P1D', day],
  ['P2W', 14 * day],
  ['P1W2DT3H4M5S', 9 * day + 3 * hour + 4 * minute + 5 * second],
  ['PT0.25S', 250],
  ['PT0,25S', 250],
  ['PT1.5M', 90 * second],
  ['P0.5D', 12 * hour],
  ['P1DT0.5H', day + hour / 2],
  ['PT36H', 36 * hour],
];

const others = [
  '',
  'P',
  'PT',
  'P1DT',
  'T1S',
  '6',
  'PT',
  'P6S',
  'P6M',
  'P1Y',
  'P1M1D',
  'pt6s',
  'PT6s',
  '-PT6S',
  '+PT6S',
  'PT-6S',
  'PT6',
  'PT1S1M',
  'PT1M1H',
  'P1D1W',
  'PT1D',
  'P1H',
  'PT1.S',
  'PT.5S',
  'PT1.5M1S',
  'P1.5DT1H',
  'PT1S ',
  ' PT1S',
  'PT1ST1S',
  'PT1S1S',
  'PT9999999999999999S',
  'PT999999999999999H',
  'PT1e3S',
  'PT٣S',
];

describe('a duration of ISO 8601', () => {
  for (const [text, milliseconds] of durations)
    it(`${text} is ${milliseconds} ms`, () =>
      assert.deepEqual(parseDuration(text), { ok: true, milliseconds }));

  for (const text of others)
    it(`${JSON.stringify(text)} is none`, () => assert.equal(parseDuration(text).ok, false));

  it('is what Temporal takes it for', () => {
    const part = (unit: string) =>
      fc.oneof(
        fc.constant(''),
        fc.nat({ max: 9_999 }).map((count) => `${count}${unit}`),
      );
    const fraction = fc.oneof(
      fc.constant(''),
      fc.nat({ max: 999 }).map((digits) => `7.${digits}S`),
    );
    const texts = fc
      .tuple(part('W'), part('D'), part('H'), part('M'), fraction)
      .map(([weeks, days, hours, minutes, seconds]) => {
        const time = `${hours}${minutes}${seconds}`;
        return `P${weeks}${days}${time === '' ? '' : `T${time}`}`;
      })
      .filter((text) => text !== 'P');
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseDuration(text);
        assert.ok(parsed.ok, text);
        const other = Temporal.Duration.from(text).total({ unit: 'millisecond', relativeTo: '2024-01-01' });
        assert.ok(
          Math.abs(parsed.milliseconds - other) < 1e-3,
          `${text}: ${parsed.milliseconds} and ${other}`,
        );
      }),
    );
  });

  it('is invalid where Temporal says so, except for fractions of days and weeks', () => {
    const text = fc.string({ unit: fc.constantFrom(...'PPTTWDHMS0123456789.,'), maxLength: 10 });
    fc.assert(
      fc.property(text, (candidate) => {
        if (/[.,]\d+[WD]/.test(candidate)) return;
        if (parseDuration(candidate).ok)
          assert.doesNotThrow(() => Temporal.Duration.from(candidate), candidate);
      }),
      { numRuns: 5_000 },
    );
  });
});
