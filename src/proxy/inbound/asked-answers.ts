import { OPEN_LIST, QUOTE } from '../../codecs/json/bytes.ts';
import { JsonCursor } from '../../codecs/json/cursor.ts';
import { fieldsOf } from '../../codecs/json/fields.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { joined } from '../json/joined.ts';
import { largestNumber } from './asked-output.ts';

/** The members of the request in which each format says how many answers it wants; of several the largest counts. */
const counts: Partial<Record<WireFormat, readonly string[]>> = {
  'openai-chat': ['n'],
  // All of `best_of` are made, and paid for.
  'openai-completions': ['n', 'best_of'],
  'openai-images': ['n'],
};

const candidateCounts = ['candidateCount', 'candidate_count'].map((name) => Buffer.from(`"${name}"`));

/**
 * How many answers a request asks for, each as long as it may be: 1 where it says nothing. The body is read only where it
 * has a member of such a name somewhere.
 * @throws GatewayError `invalid_json`
 */
export function askedAnswers(format: WireFormat, body: readonly Buffer[]): number {
  if (format === 'gemini') return Math.max(1, largestNumber(candidateCounts, body) ?? 1);
  const names = counts[format];
  if (names === undefined) return 1;
  const whole = joined(body);
  const prompts = format === 'openai-completions' ? 'prompt' : null;
  const mentioned = (name: string | null) => name !== null && whole.includes(`"${name}"`);
  if (!names.some(mentioned) && !mentioned(prompts)) return 1;
  let most = 1;
  let each = 1;
  for (const { end, name, value } of fieldsOf(whole)) {
    if (names.includes(name)) most = Math.max(most, numberIn(whole.toString('latin1', value, end)));
    if (name === prompts) each = Math.max(each, promptsIn(whole, value));
  }
  return most * each;
}

function numberIn(literal: string): number {
  return /^\d{1,9}$/.test(literal) ? Number(literal) : 1;
}

const MAX_DEPTH = 2;

/** How many prompts a list has: of texts or of lists of tokens. One that has tokens itself is one. */
function promptsIn(body: Buffer, start: number): number {
  if (body[start] !== OPEN_LIST) return 1;
  const cursor = new JsonCursor(body, start, MAX_DEPTH);
  let found = 0;
  while (cursor.next() && isPrompt(body[cursor.start]) && cursor.end() !== -1) found += 1;
  return Math.max(1, found);
}

function isPrompt(first: number | undefined): boolean {
  return first === QUOTE || first === OPEN_LIST;
}
