import { codecOf } from '../../codecs/index.ts';
import { indexOfNeedle } from '../../codecs/json/byte-search.ts';
import { OPEN_LIST, QUOTE } from '../../codecs/json/bytes.ts';
import { JsonCursor } from '../../codecs/json/cursor.ts';
import { fieldsOf } from '../../codecs/json/fields.ts';
import { keptFieldNeedle } from '../../codecs/json/needle.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { joined } from '../json/joined.ts';
import { largestNumber } from './requested-output.ts';

/**
 * How many answers a request asks for, each as long as it may be: 1 where it says nothing. The body is read only where it
 * has a field of such a name somewhere.
 * @throws GatewayError `invalid_json`
 */
export function requestedAnswers(format: WireFormat, body: readonly Buffer[]): number {
  const { answers: names = [], prompts = null } = codecOf(format).requestFields;
  if (names.length === 0) return 1;
  if (names.some(isNested)) return Math.max(1, largestNumber(names, body) ?? 1);
  const whole = joined(body);
  const mentioned = (name: string | null) =>
    name !== null && indexOfNeedle(whole, keptFieldNeedle(name)) !== -1;
  if (!names.some(mentioned) && !mentioned(prompts)) return 1;
  let maxAnswers = 1;
  let maxPrompts = 1;
  for (const { end, name, value } of fieldsOf(whole)) {
    if (names.includes(name))
      maxAnswers = Math.max(maxAnswers, numberIn(whole.toString('latin1', value, end)));
    if (name === prompts) maxPrompts = Math.max(maxPrompts, promptsIn(whole, value));
  }
  return maxAnswers * maxPrompts;
}

function isNested(path: string): boolean {
  return path.includes('.');
}

function numberIn(literal: string): number {
  return /^\d{1,9}$/.test(literal) ? Number(literal) : 1;
}

const MAX_DEPTH = 2;

/** How many prompts a list has: of texts or of lists of tokens. One that has tokens itself is one. */
function promptsIn(body: Buffer, start: number): number {
  if (body[start] !== OPEN_LIST) return 1;
  const cursor = new JsonCursor(body, start, MAX_DEPTH);
  let count = 0;
  while (cursor.next() && isPrompt(body[cursor.start]) && cursor.end() !== -1) count += 1;
  return Math.max(1, count);
}

function isPrompt(first: number | undefined): boolean {
  return first === QUOTE || first === OPEN_LIST;
}
