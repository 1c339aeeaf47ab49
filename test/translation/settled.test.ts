import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, listOf, objectOf } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { translateRequest } from '../../src/proxy/translate/request.ts';
import { createSettledTurns, type SettledTurns } from '../../src/proxy/translate/settled.ts';
import { vendorTarget } from '../support/formats/answer-chain.ts';
import { type Chance, chanceOf, mutated, oneOf } from '../support/formats/mutate.ts';

/**
 * A request that goes on with a conversation of which the beginning was translated before becomes the very bytes that it becomes
 * alone: in every pair, turn by turn, whatever a client writes into its history, cuts off it or says in another way.
 */
const formats = ['anthropic-messages', 'openai-chat', 'openai-responses', 'gemini'] as const;
type Format = (typeof formats)[number];

const lists = {
  'anthropic-messages': 'messages',
  'openai-chat': 'messages',
  'openai-responses': 'input',
  gemini: 'contents',
} as const;

const models: Readonly<Record<Format, readonly string[]>> = {
  'anthropic-messages': ['claude-sonnet-5', 'claude-opus-4-6', 'm'],
  'openai-chat': ['gpt-5.4', 'anthropic/claude-opus-4-6'],
  'openai-responses': ['gpt-5.4'],
  gemini: ['gemini-2.5-pro', 'gemini-3-pro'],
};

function targetOf(format: Format, chance: Chance): Target {
  const target = vendorTarget(format);
  const model = oneOf(chance, models[format]);
  if (format !== 'openai-chat' || chance(2) === 0) return { ...target, model };
  const dialect = {
    cacheFields: true,
    textParts: chance(2) === 0,
    reasoningField: oneOf(chance, [null, 'reasoning_content'] as const),
    noReasoning: oneOf(chance, [null, ' ']),
    callIds: oneOf(chance, ['any', 'any', 'short'] as const),
    serviceTier: true,
  };
  return { ...target, model, provider: { ...target.provider, dialect } };
}

const words = ['a', '"', '\\', '\n', '\u0001', '\ud800', 'é', '東', '😀', '/', 'const x = `a`;\t'];

function text(chance: Chance, length: number): string {
  let made = '';
  while (made.length < length) made += oneOf(chance, words).repeat(1 + chance(9));
  return made;
}

const tools = ['Read', 'Bash', 'web.search'].map((name) => ({
  name,
  description: `Does "${name}".`,
  input_schema: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1 }, n: { type: 'integer', exclusiveMinimum: 0 } },
    required: ['path'],
  },
}));

/** One answer with its calls, and what they gave back; seldom something that only some formats have. */
function exchange(chance: Chance, number: number, odds: number): JsonObject[] {
  const odd = chance(4) === 0 ? odds : 0;
  const calls = Array.from({ length: chance(4) === 0 ? chance(3) : 1 }, (_, index) => ({
    type: 'tool_use',
    id: odd === 1 ? 'toolu_again' : odd === 2 ? `toolu/${number}` : `toolu_${number}_${index}`,
    name: odd === 3 ? 'Gone' : oneOf(chance, ['Read', 'Bash', 'web.search']),
    input: odd === 4 ? { n: 1, path: '' } : { path: text(chance, 9), new: text(chance, 300) },
    ...(odd === 5 ? { cache_control: { type: 'ephemeral' } } : {}),
  }));
  const said = [
    ...(chance(3) === 0 ? [{ type: 'thinking', thinking: text(chance, 20), signature: 'c2ln' }] : []),
    ...(chance(2) === 0 || calls.length === 0
      ? [{ type: 'text', text: odd === 6 ? ' ' : text(chance, 30) }]
      : []),
    ...calls,
  ];
  const results = calls.slice(odd === 7 ? 1 : 0).map(({ id }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content:
      odd === 8
        ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }]
        : chance(3) === 0
          ? [{ type: 'text', text: text(chance, 900) }]
          : text(chance, 900),
    ...(chance(5) === 0 ? { is_error: true } : {}),
  }));
  const more =
    odd === 9
      ? [{ type: 'text', text: '' }]
      : chance(3) === 0
        ? [{ type: 'text', text: text(chance, 20) }]
        : [];
  const told = [...(odd === 10 ? results.toReversed() : results), ...more];
  return [
    { role: 'assistant', content: said, ...(odd === 11 ? { safeguards: {} } : {}) },
    ...(odd === 12 ? [{ role: 'system', content: 'Be quick.' }] : []),
    { role: 'user', content: told.length === 0 ? 'And now?' : told },
    ...(chance(5) === 0 ? [{ role: 'system', content: text(chance, 30) }] : []),
  ];
}

function request(messages: readonly JsonObject[], marks: boolean): JsonObject {
  return {
    model: 'm',
    max_tokens: 100,
    system: [{ type: 'text', text: `You are an agent. ${'Rules. '.repeat(400)}`, ...mark(marks) }],
    messages,
    tools,
    stream: true,
  };
}

function mark(marked: boolean): JsonObject {
  return marked ? { cache_control: { type: 'ephemeral' } } : {};
}

/** The conversation as a client of the format sends it. */
function bodyOf(format: Format, asked: JsonObject, loose: boolean): JsonObject {
  if (format === 'anthropic-messages') return asked;
  const { body } = translateRequest(
    { body: [Buffer.from(JSON.stringify(asked))], named: null, target: vendorTarget(format) },
    'anthropic-messages',
    { cacheMarks: false },
  );
  const made = objectOf(JSON.parse(Buffer.concat(body).toString()));
  return loose ? { ...made, [lists[format]]: listOf(made[lists[format]]).map(loosened) } : made;
}

/** As clients write it that leave out the ids of calls, or repeat what they got. */
function loosened(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { parts, role, type } = entry;
  if (role === 'assistant' && type === undefined) return { ...entry, refusal: null, annotations: [] };
  if (type === 'function_call') return { ...entry, id: 'fc_1', status: 'completed' };
  if (!Array.isArray(parts)) return entry;
  return {
    ...entry,
    parts: parts.map((part) => {
      const own = objectOf(part);
      const { functionCall, functionResponse } = own;
      if (isObject(functionCall)) return { ...own, functionCall: { ...functionCall, id: undefined } };
      if (isObject(functionResponse))
        return { ...own, functionResponse: { ...functionResponse, id: undefined } };
      return part;
    }),
  };
}

function outcome(body: Buffer, from: Format, target: Target, settled: SettledTurns | null): unknown {
  const named = from === 'gemini' ? { model: 'm', stream: true, array: false } : null;
  try {
    const {
      body: made,
      request: _,
      tools: names,
      ...rest
    } = translateRequest({ body: [body], named, target }, from as WireFormat, { settled });
    const wire = tools.map(({ name }) => names.wireName({ name }));
    return { ...rest, wire, body: Buffer.concat(made).toString() };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, message: error.message, param: error.param };
  }
}

/** One conversation of some turns, the whole of it sent with each of them. */
function converse(from: Format, to: Format, seed: number): { turns: number; kept: number } {
  const chance = chanceOf(seed);
  const target = targetOf(to, chance);
  const settled = createSettledTurns();
  const loose = chance(2) === 0;
  // One kind of oddity a conversation; none in every other one.
  const odds = seed % 2 === 1 ? 0 : 1 + chance(12);
  const marks = chance(3) === 0;
  const spaces = chance(4) === 0 ? 1 : undefined;
  let messages: JsonObject[] = [{ role: 'user', content: [{ type: 'text', text: 'Fix it.' }] }];
  const turns = 14;
  let kept = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    messages = [...messages, ...exchange(chance, turn, odds)];
    // What was said is said anew, or forgotten.
    if (chance(25) === 0) messages = messages.with(1 + chance(messages.length - 1), messages[0] ?? {});
    if (chance(25) === 0) messages = messages.slice(0, 1 + chance(messages.length));
    const asked = request(
      messages.map((message, index) =>
        marks && index === messages.length - 1 ? withMark(message) : message,
      ),
      marks,
    );
    const value = bodyOf(from, asked, loose);
    const whole = chance(6) === 0 ? mutated(value, [value], chance) : JSON.stringify(value, null, spaces);
    const body = Buffer.from(whole);
    const expected = outcome(body, from, target, null);
    for (const again of [1, 2]) {
      const actual = outcome(body, from, target, settled);
      const where = `seed ${seed}, turn ${turn}, time ${again}, ${from} to ${to}`;
      // Not by what they are: a report of the difference would be as long as both.
      assert.ok(isDeepStrictEqual(actual, expected), `${where}: ${difference(actual, expected)}`);
    }
    kept = Math.max(kept, settled.exchanges);
  }
  return { turns, kept };
}

/** Where the JSON of two values begins to differ. */
function difference(...values: readonly unknown[]): string {
  const [one = '', other = ''] = values.map((value) => JSON.stringify(value));
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return `…${one.slice(Math.max(0, at - 60), at + 100)}… instead of …${other.slice(at, at + 100)}…`;
}

function withMark(message: JsonObject): JsonObject {
  const blocks = listOf(message['content']);
  const last = blocks.at(-1);
  if (!isObject(last)) return message;
  return { ...message, content: blocks.with(-1, { ...last, ...mark(true) }) };
}

describe('a conversation whose beginning was translated before', () => {
  const seeds = Number(process.env['SETTLED_SEEDS'] ?? 3);
  for (const from of formats)
    for (const to of formats) {
      if (from === to) continue;
      it(`becomes the same bytes: ${from} to ${to}`, () => {
        let most = 0;
        for (let seed = 1; seed <= seeds; seed += 1) most = Math.max(most, converse(from, to, seed).kept);
        assert.ok(most > 3, 'some of it has to be settled');
      });
    }
});
