import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Finding, regexCost } from '../scripts/regex-cost.ts';

/** The first three were in the gateway, and took seconds for one header or path. */
const costly: readonly (readonly [RegExp, Finding])[] = [
  [/^[ \t]+|[ \t]+$/g, 'quadratic search'],
  [/^(?:\/v1(?:beta)?)*(?:\/models)?\/(.+):(generateContent|countTokens)$/, 'quadratic'],
  [/\.?0+$/, 'quadratic search'],
  [/(a+)+$/, 'exponential'],
  [/(?:a|a)*$/, 'exponential'],
  [/^(?:a?b?)*(?:a|b)c/, 'exponential'],
  [/(?:a*)*b/, 'exponential'],
  [/^\d+\w+$/, 'quadratic'],
  [/^\s*(?:x\s*)?\s*$/, 'quadratic'],
  [/team .* blocked/i, 'quadratic search'],
  [/gpt(?!.*-chat)/, 'quadratic search'],
  [/\s*,\s*/, 'quadratic search'],
  [/^[\w-]+(?:;.*)?;.*x$/, 'quadratic'],
  [/^(.)\1*$/, 'not decided'],
  [/(?<=a+)b/, 'not decided'],
];

const linear: readonly RegExp[] = [
  /^[ \t]+/,
  /[ \t]+/g,
  /^[^:]+:.*$/,
  /^(?:\/v1)*\/v1beta(?=\/|$)/,
  /"id"\s*:\s*"(resp_[^"\\]{1,200})"/,
  /^(?:[a-z]+,)*[a-z]+$/,
  /team .{1,200} blocked/i,
  /(?<=\/|%2f)sk-[^/?%]+/gi,
  /[ \t]+$/y,
  /\bBearer\s+[A-Za-z0-9]{8,}/g,
  /^\p{L}+\d+$/u,
  /a{1,3}b{2}(?:c|d)*/,
];

describe('the check of regular expressions', () => {
  for (const [regex, finding] of costly)
    it(`finds that ${regex} is ${finding}`, () => {
      assert.equal(regexCost(regex.source, regex.flags), finding);
    });
  for (const regex of linear)
    it(`accepts ${regex}`, () => {
      assert.equal(regexCost(regex.source, regex.flags), null);
    });
});
