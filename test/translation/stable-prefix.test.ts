import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/codecs/json/values.ts';
import { objectOf } from '../../src/codecs/json/values.ts';
import type { Conversation, Message, Part } from '../../src/codecs/model/conversation.ts';
import { type Dialect, plainDialect } from '../../src/codecs/model/dialect.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { translateRequest } from '../../src/proxy/translate/request.ts';
import { vendorTarget } from '../support/formats/answer-chain.ts';
import { conversations } from '../support/formats/arbitrary.ts';
import { type Conversing, conversing } from '../support/formats/formats-matrix.ts';
import { translating } from '../support/formats/translating.ts';
import { fc } from '../support/machine/properties.ts';

/**
 * Prompt caches hit where a request begins with the very bytes of an earlier one: a conversation with one more turn
 * is the same list of messages and that turn, and the same tools and instructions, in every pair.
 */
const listOf: Readonly<Record<Conversing, string>> = {
  'openai-chat': 'messages',
  'openai-completions': 'prompt',
  'openai-responses': 'input',
  'anthropic-messages': 'messages',
  gemini: 'contents',
  ollama: 'messages',
};

/** Members that are part of what a cache is found by. */
const fixed = ['system', 'systemInstruction', 'instructions', 'tools'] as const;

const models: Readonly<Record<Conversing, readonly string[]>> = {
  'openai-chat': ['gpt-5.4'],
  'openai-completions': ['m'],
  'openai-responses': ['gpt-5.4'],
  'anthropic-messages': ['claude-sonnet-5', 'claude-3-7-sonnet'],
  gemini: ['gemini-2.5-pro', 'gemini-3-pro'],
  ollama: ['m'],
};

/** Rounds of a user and an answer that a client of the format can write, the last of them the user's. */
function turnsOf({ messages, ...whole }: Conversation): [Conversation, Conversation] | null {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const user: Message = {
    role: 'user',
    parts: [...resultsFor(messages[last]), { type: 'text', text: 'And now?' }],
  };
  const later = [...messages.slice(0, last + 1), user];
  const before = messages.slice(0, last);
  if (before.at(-1)?.role !== 'user') return null;
  return [
    { ...whole, messages: before },
    { ...whole, messages: later },
  ];
}

function resultsFor(message: Message | undefined): Part[] {
  return (message?.parts ?? []).flatMap((part): Part[] =>
    part.type === 'tool-call'
      ? [
          {
            type: 'tool-result',
            callId: part.id,
            isError: false,
            kind: part.kind,
            parts: [{ type: 'text', text: 'done' }],
          },
        ]
      : [],
  );
}

function sent(whole: Conversation, from: Conversing, target: Target): JsonObject | null {
  const dialect: Dialect = { ...plainDialect, vendorFields: true, customTools: true };
  try {
    const request = translating(from).conversation.encodeRequest({ ...whole, stream: false }, dialect);
    const named = from === 'gemini' ? { model: 'm', stream: false, array: false } : null;
    const body = [Buffer.from(JSON.stringify({ ...request, ...(named === null ? { model: 'm' } : {}) }))];
    const sent = translateRequest({ body, named, target }, from);
    return JSON.parse(Buffer.concat(sent.body).toString()) as JsonObject;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return null;
  }
}

/** The value without the marks of a prompt cache, which move along on purpose. */
function unmarked(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (key, one) => (key === 'cache_control' ? undefined : one)));
}

/**
 * The request without what is said of the next answer alone, for an instruction about it stands last, behind all that a
 * cache could hold.
 */
function steady(whole: Conversation): Conversation {
  const toolChoice = whole.toolChoice?.kind === 'allowed' ? null : whole.toolChoice;
  return { ...whole, toolChoice, candidates: null, logprobs: null };
}

/** Everything but what the last message adds to the one before, where the wire makes one of neighbours. */
function assertPrefix(before: JsonObject, after: JsonObject, to: Conversing): void {
  for (const name of fixed) assert.deepEqual(unmarked(after[name]), unmarked(before[name]), name);
  const [earlier, later] = [before[listOf[to]], after[listOf[to]]];
  if (typeof earlier === 'string' || typeof later === 'string') {
    // The transcript ends in the label of whose turn it is.
    assert.ok(String(later).startsWith(String(earlier)));
    return;
  }
  const lists = [earlier, later].map((list) => (unmarked(list) as unknown[]).map(objectOf));
  const [start = [], whole = []] = lists;
  if (start.length === 0) return;
  const kept = start.length - 1;
  assert.deepEqual(whole.slice(0, kept), start.slice(0, kept));
  const [last, same] = [objectOf(start[kept]), objectOf(whole[kept])];
  const content = 'parts' in last ? 'parts' : 'content';
  const [said, grown] = [last[content], same[content]];
  if (!Array.isArray(said) || !Array.isArray(grown)) {
    assert.deepEqual(same, last);
    return;
  }
  // Neighbours of one role are one turn: of the last one, what was said first stays as it was.
  assert.deepEqual({ ...same, [content]: grown.slice(0, said.length) }, last);
}

for (const from of conversing.filter((format) => format !== 'openai-completions')) {
  for (const to of conversing) {
    describe(`a conversation from ${from} to ${to}`, () => {
      it('that goes on begins with the same bytes', () => {
        let tried = 0;
        fc.assert(
          fc.property(conversations(from), fc.constantFrom(...models[to]), (whole, model) => {
            const turns = turnsOf(steady(whole));
            if (turns === null) return;
            const target = { ...vendorTarget(to), model };
            const [before, after] = turns.map((one) => sent(one, from, target));
            if (!before || !after) return;
            tried += 1;
            assertPrefix(before, after, to);
          }),
          { numRuns: 100 },
        );
        assert.ok(tried > 0 || to === 'openai-completions', 'some were translated');
      });
    });
  }
}
