import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { LONGEST_WAIT_MS, parseRetryTime, retryAt } from './wait.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

describe('what an upstream says about waiting', () => {
  const cases: readonly [
    what: string,
    headers: Record<string, string>,
    message: string,
    ms: number | null,
  ][] = [
    ['seconds', { 'retry-after': '17' }, '', 17_000],
    ['parts of seconds', { 'retry-after': '0.25' }, '', 250],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT' }, '', 60_000],
    ['a date that is past', { 'retry-after': 'Sat, 21 Nov 2026 11:59:00 GMT' }, '', null],
    ['milliseconds', { 'retry-after-ms': '2100', 'retry-after': '3' }, '', 2100],
    ['Azure', { 'x-ms-retry-after-ms': '900' }, '', 900],
    ['seconds since the epoch', { 'retry-after': String(now / 1000 + 90) }, '', 90_000],
    ['a negative number', { 'retry-after': '-5' }, '', null],
    ['nothing', { 'retry-after': '' }, '', null],
    ['zero', { 'retry-after': '0' }, '', null],
    ['no number', { 'retry-after': 'soon' }, '', null],
    ['infinity', { 'retry-after': '1e999' }, '', null],
    ['an hour', { 'retry-after': '3600' }, '', 3_600_000],
    ['OpenAI in words', {}, 'Rate limit reached. Please try again in 20ms. Visit …', 20],
    ['Groq in words', {}, 'Please try again in 1m26.4s. Need more tokens?', 86_400],
    ['words with blanks', {}, 'please try again in 5 minutes', 300_000],
    ['words without a time', {}, 'please try again later', null],
  ];
  for (const [what, headers, message, ms] of cases) {
    it(`is read from ${what}`, () => {
      assert.equal(retryAt(headers, message, null, now), ms === null ? null : now + ms);
    });
  }

  it('is taken from the body where the headers are silent', () => {
    assert.equal(retryAt({}, '', 12, now), now + 12_000);
  });

  it('is never longer than a month, whatever is said', () => {
    const far = LONGEST_WAIT_MS;
    for (const huge of [
      '99999999999999',
      '9e15',
      '1e300',
      '999999999',
      'Fri, 31 Dec 9999 23:59:59 GMT',
      '99999999d',
    ])
      assert.equal(retryAt({ 'retry-after': huge }, '', null, now), now + far, huge);
    assert.equal(retryAt({ 'retry-after-ms': '99999999999999' }, '', null, now), now + far);
    assert.equal(retryAt({}, 'try again in 99999999999 days', null, now), now + far);
    assert.equal(retryAt({}, '', Number.MAX_SAFE_INTEGER, now), now + far);
    const anything = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.bigInt().map(String),
      fc.integer().map((amount) => `${amount}d`),
      fc.constantFrom('NaN', 'Infinity', '-Infinity', '-0', '0x7fffffffffffffff'),
    );
    fc.assert(
      fc.property(anything, anything, fc.option(fc.double()), (header, message, body) => {
        const errorText = { 'retry-after': header, 'retry-after-ms': message };
        for (const until of [
          retryAt(errorText, '', body, now),
          retryAt({ 'retry-after': header }, `try again in ${message}s`, body, now),
          parseRetryTime(header, now),
        ]) {
          if (until === null) continue;
          assert.ok(until >= now && until <= now + far, String(until));
          new Date(until).toISOString();
        }
      }),
    );
  });

  it('is read from every format of reset times', () => {
    const at = (text: string) => (parseRetryTime(text, now) ?? Number.NaN) - now;
    assert.equal(at('6m0s'), 360_000);
    assert.equal(at('2m59.56s'), 179_560);
    assert.equal(at('20ms'), 20);
    assert.equal(at('33011.382867'), 33_011_383);
    assert.equal(at('2026-11-21T12:00:30Z'), 30_000);
    assert.equal(at(String(now + 5000)), 5000);
    assert.ok(Number.isNaN(at('never')));
  });
});
