import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conversations } from '../../../test/support/formats/arbitrary.ts';
import { assertRefusedByPath } from '../../../test/support/formats/damaged-requests.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { filesAsResultText } from '../files/text-file.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import type { Conversation, Message, Part, Reasoning, ToolChoice } from '../model/conversation.ts';
import { effortOfBudget } from '../model/effort.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';

/** One model for each way of being told how much to think. */
const LEVELS = 'gemini-3-flash-preview';
const BUDGETS = 'gemini-2.5-flash';
const NONE = 'gemini-2.0-flash';
const models = fc.constantFrom(LEVELS, BUDGETS, NONE);

const anyConversation = fc
  .tuple(conversations('gemini'), models)
  .map(([conversation, model]) => ({ ...conversation, model }));

/** The request as `decodeRequest` gets it: with what the wire says in its path. */
function wire(conversation: Conversation): JsonObject {
  return { ...encodeRequest(conversation), model: conversation.model, stream: conversation.stream };
}

/** What of a conversation this format can say, in the way that its decoder says it. */
function expressible(whole: Conversation): Conversation {
  const tools = whole.tools.flatMap((tool) => {
    if (tool.kind !== 'function') return [];
    const { cache: _, namespace: __, ...plain } = tool;
    return [{ ...plain, strict: null }];
  });
  return {
    ...whole,
    parallelToolCalls: null,
    verbosity: null,
    userId: null,
    cacheKey: null,
    metadata: null,
    store: null,
    system: whole.system.map(({ text }) => ({ type: 'text', text })),
    messages: whole.messages.flatMap((message) => sayableMessage(message, whole.model)),
    tools,
    toolChoice: sayableChoice(whole.toolChoice, new Set(tools.map(({ name }) => name))),
    reasoning: sayableReasoning(whole.reasoning, whole.model),
    output:
      whole.output.kind === 'schema'
        ? { ...whole.output, name: null, description: null, strict: null }
        : whole.output,
    serviceTier: whole.serviceTier === 'auto' ? null : whole.serviceTier,
    includeUsage: true,
  };
}

function sayableChoice(choice: ToolChoice | null, toolNames: ReadonlySet<string>): ToolChoice | null {
  if (choice === null || toolNames.size === 0) return null;
  if (choice.kind !== 'tool' && choice.kind !== 'allowed') return choice;
  const required = choice.kind === 'tool' || choice.required;
  const names = (choice.kind === 'tool' ? [choice.name] : choice.names).filter((name) => toolNames.has(name));
  if (names.length === 0) return { kind: required ? 'required' : 'auto' };
  const [first = ''] = names;
  if (required && names.length === 1) return { kind: 'tool', name: first };
  return { kind: 'allowed', names, required };
}

const budgets: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

function sayableReasoning(whole: Reasoning | null, model: string): Reasoning | null {
  if (whole === null || model === NONE) return null;
  const silent = { effort: null, budgetTokens: null, display: 'omitted' } as const;
  const display = whole.display === 'omitted' ? 'omitted' : 'summarized';
  const { budgetTokens, effort, mode } = whole;
  if (mode === 'off')
    return model === LEVELS ? { ...silent, mode: 'on', effort: 'minimal' } : { ...silent, mode };
  if (model === LEVELS) {
    const word = effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
    if (word === null) return display === 'omitted' ? null : { ...silent, mode: 'adaptive', display };
    const level = word === 'xhigh' || word === 'max' ? 'high' : word;
    return { mode: 'on', effort: level, budgetTokens: null, display };
  }
  const tokens = budgetTokens ?? budgets[effort ?? ''];
  if (tokens === undefined) return { ...silent, mode: 'adaptive', display };
  return { mode: 'on', effort: null, budgetTokens: Math.min(24_576, tokens), display };
}

function sayableMessage({ parts, role }: Message, model: string): Message[] {
  if (role === 'system') return [];
  const sayableParts = parts.flatMap((part) => sayablePart(part));
  const beside = model === LEVELS ? [] : sayableParts.flatMap(besideResult);
  const results = sayableParts.flatMap((part) =>
    part.type === 'tool-result' ? [withoutShown(part, model)] : [],
  );
  const rest = sayableParts.filter(({ type }) => type !== 'tool-result');
  const all = [...results, ...beside, ...rest];
  return [{ role, parts: all.length > 0 ? all : [{ type: 'text', text: 'Well.' }] }];
}

type Result = Extract<Part, { type: 'tool-result' }>;

function withoutShown(result: Result, model: string): Part {
  if (model === LEVELS) return result;
  return { ...result, parts: result.parts.filter(({ type }) => type === 'text') };
}

/** What models that see no images in results are shown after them; the test's tools are told apart by their calls. */
function besideResult(part: Part): Part[] {
  if (part.type !== 'tool-result') return [];
  const shown = part.parts.filter(({ type }) => type !== 'text');
  if (shown.length === 0) return [];
  return [{ type: 'text', text: `Attachment of the result of ${part.callId}:` }, ...shown];
}

function sayablePart(part: Part): Part[] {
  switch (part.type) {
    case 'refusal':
      return [];
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [{ type: 'image', source: part.source }];
    case 'file': {
      const { name, source } = part;
      if (source.kind !== 'text') return [{ type: 'file', source }];
      return [{ type: 'text', text: name === undefined ? source.text : `${name}:\n\n${source.text}` }];
    }
    case 'tool-call': {
      const { cache: _, input, kind, namespace: __, ...call } = part;
      const args = kind === 'custom' ? JSON.stringify({ raw_arguments: input }) : input;
      return [{ ...call, kind: 'function', input: args }];
    }
    case 'tool-result': {
      const { cache: _, ...result } = part;
      const parts = filesAsResultText(part.parts).flatMap(sayablePart);
      const text = parts.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('');
      const shown = parts.filter((one) => one.type === 'image' || one.type === 'file');
      const texts = text === '' ? [] : [{ type: 'text' as const, text }];
      return [{ ...result, kind: 'function', parts: [...texts, ...shown] }];
    }
    case 'reasoning': {
      if (part.encrypted === null) return [];
      return [{ ...part, summary: true, encrypted: { ...part.encrypted, kind: 'signature' } }];
    }
    default:
      return [part];
  }
}

/** Every call of a conversation is of the tool that has its id for a name, so that results can be told apart. */
function namedByIds(whole: Conversation): Conversation {
  const named = (part: Part): Part => (part.type === 'tool-call' ? { ...part, name: part.id } : part);
  return {
    ...whole,
    messages: whole.messages.map(({ parts, role }) => ({ role, parts: parts.map(named) })),
  };
}

describe('any generateContent request', () => {
  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(anyConversation.map(namedByIds).map(expressible), (conversation) => {
        const named = namedByIds(conversation);
        assert.deepEqual(decodeRequest(wire(named)), named);
      }),
      { numRuns: 300 },
    );
  });

  it('is encoded to what was decoded, also if parts of it cannot be expressed', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const body = wire(conversation);
        const again = wire(decodeRequest(body));
        assert.equal(JSON.stringify(again), JSON.stringify(body));
      }),
      { numRuns: 300 },
    );
  });

  it('has its turns in the order that the vendor requires', () => {
    const shuffled = anyConversation.chain((conversation) =>
      fc.shuffledSubarray(conversation.messages).map((messages) => wire({ ...conversation, messages })),
    );
    fc.assert(
      fc.property(shuffled, (body) => {
        let open: unknown[] = [];
        const turns = listOf(body['contents']).map(objectOf);
        for (const [index, { parts, role }] of turns.entries()) {
          assert.equal(role, index % 2 === 0 ? 'user' : 'model');
          const list = listOf(parts).map(objectOf);
          assert.ok(list.length > 0);
          const results = list.filter((part) => 'functionResponse' in part);
          assert.deepEqual(results, list.slice(0, results.length), 'results come first');
          assert.deepEqual(
            results.map(({ functionResponse: one }) => objectOf(one)['id']),
            open,
            'results come in the order of the calls',
          );
          assert.ok(
            list.every(({ text, thoughtSignature }) => text !== '' || thoughtSignature !== undefined),
          );
          open = list.flatMap(({ functionCall: call }) => (call === undefined ? [] : [objectOf(call)['id']]));
        }
        assert.deepEqual(open, [], 'every call has its result');
        assert.ok(turns.length > 0);
      }),
    );
  });

  it('has a signature wherever a third-generation model requires one', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const { contents } = encodeRequest({ ...conversation, model: LEVELS });
        const turns = listOf(contents).map(objectOf);
        const partsIn = ({ parts }: JsonObject) => listOf(parts).map(objectOf);
        const isResults = (turn: JsonObject) => partsIn(turn).some((part) => 'functionResponse' in part);
        const began = turns.findLastIndex((turn) => turn['role'] === 'user' && !isResults(turn));
        for (const turn of turns.slice(began)) {
          const first = partsIn(turn).find((part) => 'functionCall' in part);
          if (first !== undefined) assert.equal(typeof first['thoughtSignature'], 'string');
        }
      }),
    );
  });

  it('is refused with the path of the invalid field, and never fails in another way', () => {
    assertRefusedByPath(anyConversation, {
      numRuns: 10_000,
      wire: wire,
      roundTrip: (body) => encodeRequest(decodeRequest(body)),
    });
  });
});
