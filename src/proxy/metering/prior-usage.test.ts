import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noUsage } from '../../codecs/wire-format.ts';
import { openai } from '../../providers/openai.ts';
import { noAnswerUsage } from '../request/answer-usage.ts';
import { totalUsage } from './prior-usage.ts';

const priced = (usd: number | null) => () => ({
  usd,
  saved: usd === null ? null : usd / 4,
  source: usd === null ? null : 'table',
});
const usage = { ...noUsage, input: 10, output: 5 };
const target = { provider: openai, model: 'm' };
const estimated = { usage, estimated: true, tier: null };
const reported = { usage, estimated: false, tier: null };

describe('what several targets used for one answer', () => {
  it('is the sum, each at its own price', () => {
    const first = totalUsage(priced(0.25), target, estimated, null);
    assert.deepEqual(first, { usage, estimated: true, usd: 0.25, saved: 0.0625, source: 'table' });
    const both = totalUsage(priced(0.5), target, reported, first);
    assert.deepEqual(both, {
      usage: { ...noUsage, input: 20, output: 10 },
      estimated: true,
      usd: 0.75,
      saved: 0.1875,
      source: 'table',
    });
  });

  it('has no known cost where one of them has none, and nothing for one that wrote nothing', () => {
    const first = totalUsage(priced(0.25), target, estimated, null);
    assert.equal(totalUsage(priced(null), target, reported, first).usd, null);
    assert.deepEqual(totalUsage(priced(null), target, noAnswerUsage, first), first);
  });
});
