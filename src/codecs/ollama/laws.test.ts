import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  answers,
  conversations,
  settled,
  withoutRawReasons,
} from '../../../test/support/formats/arbitrary.ts';
import { assertRefusedByPath, replaced } from '../../../test/support/formats/damaged-requests.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import {
  type Conversation,
  emptyConversation,
  type Message,
  type Part,
  type Reasoning,
  type Tool,
} from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import { effortOfBudget } from '../model/effort.ts';
import type { EndReason, StreamPart } from '../model/stream-part.ts';
import { encodeLines } from './answer/json-lines.ts';
import { ollama } from './codec.ts';
import { choiceWords } from './request/tools-encode.ts';

const { conversation: codec, readUsage, responseTextBytes, stream } = ollama;
assert.ok(codec !== null && stream !== null);
const { decodeRequest, encodeRequest, reader, writer } = codec;
const { assemble, classify, encodeFramesOf, readStream, split, textBytes } = stream;
const encoded = (conversation: Conversation) => encodeRequest(conversation, plainDialect);

const context = { id: 'req_0m1', model: 'a', startedAt: 1_790_000_000_000, includeUsage: true, request: {} };
const written = (parts: readonly StreamPart[]) => {
  const target = writer(context);
  return Buffer.from(encodeLines(parts.flatMap((part) => target.push(part))));
};
/** The parts of a stream that comes in `pieces`, its last line perhaps without an end. */
const readBack = (bytes: Buffer, pieces: readonly Buffer[] = [bytes]) => {
  const source = reader();
  const parts: StreamPart[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for (const piece of [...pieces, Buffer.from('\n\n')]) {
    const cut = split(Buffer.concat([rest, piece]));
    rest = cut.rest;
    parts.push(...cut.frames.flatMap((frame) => source.push(frame)));
  }
  return [...parts, ...source.end()];
};

const folder = join(import.meta.dirname, 'fixtures');
const fixtures = readdirSync(folder)
  .filter((name) => name.endsWith('.ndjson'))
  .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));

const joined = (texts: readonly string[]) => texts.filter((text) => text !== '').join('\n\n');
const textPart = (text: string): Part[] => (text === '' ? [] : [{ type: 'text', text }]);

/** What of a conversation this format can say, in the way that its decoder says it. */
function expressible(whole: Conversation): Conversation {
  const system = joined([...whole.system.map(({ text }) => text), ...choiceWords(whole)]);
  return {
    ...whole,
    toolChoice: null,
    parallelToolCalls: null,
    candidates: null,
    verbosity: null,
    userId: null,
    cacheKey: null,
    serviceTier: null,
    metadata: null,
    store: null,
    includeUsage: true,
    system: system === '' ? [] : [{ type: 'text', text: system }],
    messages: sayableMessages(whole.messages),
    tools: sayableTools(whole),
    reasoning: sayableReasoning(whole.reasoning),
    output:
      whole.output.kind === 'schema'
        ? { ...whole.output, name: null, description: null, strict: null }
        : whole.output,
  };
}

function sayableTools({ toolChoice, tools }: Conversation): Tool[] {
  const only = toolChoice?.kind === 'tool' ? [toolChoice.name] : null;
  return tools.flatMap((tool): Tool[] => {
    if (tool.kind !== 'function' || toolChoice?.kind === 'none') return [];
    if (only !== null && !only.includes(tool.name)) return [];
    const { description, name, schema } = tool;
    return [
      {
        kind: 'function',
        description,
        name,
        schema: schema ?? { type: 'object', properties: {} },
        strict: null,
      },
    ];
  });
}

function sayableReasoning(whole: Reasoning | null): Reasoning | null {
  if (whole === null) return null;
  const unset = { budgetTokens: null, display: null };
  if (whole.mode === 'off') return { mode: 'off', effort: null, ...unset };
  const word = whole.effort ?? (whole.budgetTokens === null ? null : effortOfBudget(whole.budgetTokens));
  const steps: Record<string, string> = { minimal: 'low', xhigh: 'high', max: 'high' };
  if (word === null && whole.mode === 'adaptive') return null;
  return { mode: 'on', effort: word === null ? null : (steps[word] ?? word), ...unset };
}

/** Turns in the order of the wire: an answer, its results, images in them, and what the user says next. */
function sayableMessages(messages: readonly Message[]): Message[] {
  const result: Message[] = [];
  let calls = new Map<string, string>();
  for (const { parts, role } of messages) {
    if (role === 'assistant') {
      calls = new Map(parts.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name]] : [])));
      const answerParts = sayableAnswer(parts);
      if (answerParts.length > 0) result.push({ role, parts: answerParts });
    } else if (role === 'system') {
      const systemText = textPart(joined(textsIn(parts)));
      if (systemText.length > 0) result.push({ role, parts: systemText });
    } else {
      const turnParts = sayableTurn(parts, calls);
      const last = result.at(-1);
      // Where nothing was said in between, the user goes on behind the results.
      if (last?.role === 'user' && last.parts.at(-1)?.type === 'tool-result') last.parts.push(...turnParts);
      else if (turnParts.length > 0) result.push({ role, parts: turnParts });
    }
  }
  return result;
}

const textsIn = (parts: readonly Part[]) =>
  parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : []));

function sayableAnswer(parts: readonly Part[]): Part[] {
  const thought = joined(parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])));
  return [
    ...(thought === ''
      ? []
      : [{ type: 'reasoning' as const, text: thought, summary: false, encrypted: null }]),
    ...textPart(textsIn(parts).join('')),
    ...parts.flatMap((part): Part[] => {
      if (part.type !== 'tool-call') return [];
      const { id, input, kind, name, type } = part;
      return [
        {
          type,
          id,
          name,
          kind: 'function',
          input: kind === 'custom' ? JSON.stringify({ raw_arguments: input }) : input,
        },
      ];
    }),
  ];
}

/** Images whose bytes are there: the type is read off them, and nothing stands beside. */
function imagesIn(parts: readonly Part[]): Part[] {
  return parts.flatMap((part): Part[] =>
    part.type === 'image' && part.source.kind === 'data'
      ? [{ type: 'image', source: { ...part.source, mediaType: 'image/png' } }]
      : [],
  );
}

function sayableTurn(parts: readonly Part[], calls: ReadonlyMap<string, string>): Part[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  const shown = results.flatMap((part): Part[] => {
    const images = part.parts.filter(({ type }) => type === 'image');
    if (images.length === 0) return [];
    const text = `Attachment of the result of ${calls.get(part.callId)} (${part.callId}):`;
    return [{ type: 'text', text }, ...images];
  });
  const rest = [...shown, ...parts.filter(({ type }) => type !== 'tool-result')];
  return [
    ...results.map((part): Part => {
      const text = textsIn(part.parts).join('');
      const words = text === '' && part.parts.length > 0 ? '[see the attachment]' : text;
      return { ...resultWithoutMarks(part), parts: textPart(words) as typeof part.parts };
    }),
    ...imagesIn(rest),
    ...textPart(joined(textsIn(rest))),
  ];
}

function resultWithoutMarks({ callId, isError, parts, type }: Extract<Part, { type: 'tool-result' }>) {
  return { type, callId, isError, parts, kind: 'function' as const };
}

/** Where the user shows what is refused before it comes here, words stand instead: a turn without anything is no turn. */
const anyConversation = conversations('openai-chat').map((whole) => ({
  ...whole,
  messages: whole.messages.map(({ parts, role }) => {
    const sayableParts = parts.filter((part) => !['audio', 'file'].includes(part.type) && !isAddress(part));
    return { role, parts: sayableParts.length === 0 ? textPart('Well?') : sayableParts };
  }),
}));

function isAddress(part: Part): boolean {
  return part.type === 'image' && part.source.kind === 'url';
}

describe('any Ollama request', () => {
  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        assert.deepEqual(decodeRequest(encoded(conversation)), expressible(conversation));
      }),
    );
  });

  it('has no message for an empty answer, and joins the turns beside it', () => {
    const silent: Part = { type: 'reasoning', text: '', summary: false, encrypted: null };
    const call: Part = { type: 'tool-call', id: 'call_0', name: 'a', input: '{}', kind: 'function' };
    const result: Part = {
      type: 'tool-result',
      callId: 'call_0',
      parts: [],
      isError: false,
      kind: 'function',
    };
    const messages: Message[] = [
      { role: 'user', parts: textPart('Well?') },
      { role: 'assistant', parts: [call] },
      { role: 'user', parts: [result] },
      { role: 'assistant', parts: [silent] },
      { role: 'user', parts: textPart('Well?') },
    ];
    const read = decodeRequest(encoded({ ...emptyConversation('m'), messages }));
    assert.deepEqual(read.messages.slice(1), [
      { role: 'assistant', parts: [call] },
      { role: 'user', parts: [result, ...textPart('Well?')] },
    ]);
    assert.deepEqual(read.messages, sayableMessages(messages));
  });

  it('is encoded to what was decoded, also if parts of it cannot be expressed', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const body = encoded(conversation);
        assert.equal(JSON.stringify(encoded(decodeRequest(body))), JSON.stringify(body));
      }),
    );
  });

  it('has the results of all calls after their answer, in the order of the calls', () => {
    const shuffled = anyConversation.chain((conversation) =>
      fc
        .shuffledSubarray(conversation.messages, { minLength: 1 })
        .map((messages) => encoded({ ...conversation, messages })),
    );
    fc.assert(
      fc.property(shuffled, ({ messages }) => {
        let open: unknown[] = [];
        for (const { role, tool_call_id, tool_calls } of listOf(messages).map(objectOf)) {
          if (role === 'tool') assert.equal(tool_call_id, open.shift());
          else {
            assert.deepEqual(open, []);
            open = listOf(tool_calls).map((call) => objectOf(call)['id']);
          }
        }
        assert.deepEqual(open, []);
      }),
    );
  });

  it('pairs calls with results if neither has an id', () => {
    const withoutIds = (body: JsonObject): JsonObject => ({
      ...body,
      messages: listOf(body['messages']).map((value) => {
        const { tool_call_id: _, tool_calls, ...message } = objectOf(value);
        if (tool_calls === undefined) return message;
        return {
          ...message,
          tool_calls: listOf(tool_calls).map((call) => ({ function: objectOf(call)['function'] })),
        };
      }),
    });
    fc.assert(
      fc.property(anyConversation.map(encoded), (body) => {
        const parts = (request: JsonObject) =>
          decodeRequest(request).messages.flatMap((message) => message.parts);
        const order = (all: readonly Part[]) => {
          const ids = all.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []));
          assert.equal(new Set(ids).size, ids.length);
          return all.flatMap((part) => (part.type === 'tool-result' ? [ids.indexOf(part.callId)] : []));
        };
        assert.deepEqual(order(parts(withoutIds(body))).sort(), order(parts(body)).sort());
        assert.deepEqual(decodeRequest(withoutIds(body)), decodeRequest(withoutIds(body)));
      }),
    );
  });

  it('is refused with the path of the invalid field, and never fails in another way', () => {
    assertRefusedByPath(anyConversation, {
      numRuns: 10_000,
      wire: encoded,
      roundTrip: (body) => encoded(decodeRequest(body)),
    });
  });
});

const endReasons: Partial<Record<EndReason, EndReason>> = { 'context-full': 'length' };

/** An answer as this format tells it: blocks of the same kind in a row are one, and a refusal is text. */
function toldAnswer(parts: readonly StreamPart[]): StreamPart[] {
  const blocks = new Map<number, { kind: 'text' | 'reasoning' | 'call'; text: string; start: StreamPart }>();
  for (const part of parts) {
    if (part.type === 'text-start' || part.type === 'refusal-start')
      blocks.set(part.block, { kind: 'text', text: '', start: part });
    else if (part.type === 'reasoning-start')
      blocks.set(part.block, { kind: 'reasoning', text: '', start: part });
    else if (part.type === 'tool-call-start') blocks.set(part.block, { kind: 'call', text: '', start: part });
    else if ('text' in part && 'block' in part) {
      const block = blocks.get(part.block);
      if (block !== undefined) block.text += part.text;
    }
  }
  const merged: { kind: 'text' | 'reasoning' | 'call'; text: string; start: StreamPart }[] = [];
  let reasoned = false;
  for (const block of blocks.values()) {
    const text = block.kind === 'reasoning' && reasoned ? `\n\n${block.text}` : block.text;
    reasoned ||= block.kind === 'reasoning';
    const last = merged.at(-1);
    if (block.kind !== 'call' && last?.kind === block.kind) last.text += text;
    else merged.push({ ...block, text });
  }
  const end = parts.at(-1);
  assert.ok(end?.type === 'message-end' && end.usage !== null);
  const { cacheRead, cacheWrite5m, input, output, reasoning } = end.usage;
  const usage = {
    ...end.usage,
    cacheRead: 0,
    cacheWrite5m: 0,
    reasoning: 0,
    input: input + cacheRead + cacheWrite5m,
    output: output + reasoning,
  };
  return [
    { type: 'message-start', id: '', model: context.model, usage: null },
    ...merged.flatMap(blockParts),
    { ...end, reason: endReasons[end.reason] ?? end.reason, usage },
  ];
}

function blockParts(
  { kind, start, text }: { kind: 'text' | 'reasoning' | 'call'; text: string; start: StreamPart },
  block: number,
): StreamPart[] {
  if (kind === 'text')
    return [
      { type: 'text-start', block },
      { type: 'text-delta', block, text },
      { type: 'text-end', block },
    ];
  if (kind === 'reasoning')
    return [
      { type: 'reasoning-start', block, summary: false },
      { type: 'reasoning-delta', block, text },
      { type: 'reasoning-end', block, encrypted: null },
    ];
  assert.ok(start.type === 'tool-call-start');
  return [
    { ...start, block },
    { type: 'tool-call-delta', block, text },
    { type: 'tool-call-end', block, complete: true },
  ];
}

describe('any Ollama stream', () => {
  const anyAnswer = answers('openai-chat');

  it('is read as it was written', () => {
    fc.assert(
      fc.property(anyAnswer, (parts) => {
        assert.deepEqual(settled(withoutRawReasons(readBack(written(parts)))), settled(toldAnswer(parts)));
      }),
    );
  });

  it('is the same after it was assembled and written as a stream', () => {
    fc.assert(
      fc.property(answers('openai-chat', { interleave: true }), (parts) => {
        const whole = assemble(split(written(parts)).frames);
        assert.ok(whole !== null);
        const again = assemble(split(Buffer.from(encodeFramesOf(whole))).frames);
        assert.equal(JSON.stringify(again), JSON.stringify(whole));
        // A whole answer has its text, its thinking and its calls apart, in no order.
        const texts = (all: readonly StreamPart[], type: StreamPart['type']) =>
          all.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
        const [streamed, wholeParts] = [
          readBack(written(parts)),
          readBack(Buffer.from(encodeFramesOf(whole))),
        ];
        for (const type of ['text-delta', 'reasoning-delta', 'tool-call-delta'] as const)
          assert.equal(texts(wholeParts, type), texts(streamed, type));
        assert.deepEqual(wholeParts.at(-1), streamed.at(-1));
      }),
    );
  });

  it('has one last line, with every count as an integer', () => {
    fc.assert(
      fc.property(answers('openai-chat', { interleave: true }), (parts) => {
        const lines = written(parts)
          .toString()
          .trimEnd()
          .split('\n')
          .map((line) => objectOf(JSON.parse(line)));
        assert.deepEqual(
          lines.map(({ done }) => done),
          lines.map((_, index) => index === lines.length - 1),
        );
        for (const name of ['total', 'load', 'prompt_eval', 'eval'])
          assert.ok(Number.isInteger(lines.at(-1)?.[`${name}_duration`]));
        for (const name of ['prompt_eval_count', 'eval_count'])
          assert.ok(Number.isInteger(lines.at(-1)?.[name]));
      }),
    );
  });

  for (const { bytes, name } of fixtures) {
    it(`is read alike however the bytes of ${name} are split`, () => {
      const whole = readBack(bytes);
      const facts = readStream(bytes, bytes);
      for (let at = 0; at <= bytes.length; at += 1) {
        const [left, right] = [bytes.subarray(0, at), bytes.subarray(at)];
        assert.deepEqual(readBack(bytes, [left, right]), whole);
        const lastLine = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
        if (at <= lastLine) assert.deepEqual(readStream(left, right), facts);
        assert.equal(textBytes(left) <= textBytes(bytes), true);
      }
    });

    it(`is never complete if ${name} is cut or damaged`, () => {
      const { frames } = split(bytes);
      const last = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
      for (let at = 0; at < bytes.length - 1; at += 1) {
        const cut = bytes.subarray(0, at);
        assert.equal(readBack(cut).at(-1)?.type, 'error', `cut at ${at}`);
        if (at <= last) assert.equal(readStream(cut, cut).end, 'cut');
        assert.equal(assemble(split(cut).frames), null);
      }
      for (const garbage of [
        '',
        '{',
        '<html>',
        'null',
        '[]',
        '7',
        '{"message":7}',
        '{"done":"true"}',
        '{}',
      ]) {
        const damaged = [...frames.slice(0, -1), { event: '', data: garbage }];
        const source = reader();
        const parts = [...damaged.flatMap((frame) => source.push(frame)), ...source.end()];
        assert.equal(parts.at(-1)?.type, 'error', garbage);
        assert.equal(assemble(damaged), null);
        for (const frame of damaged) assert.notEqual(classify(frame), 'end');
      }
    });
  }

  it('starts once, ends once and closes every block, whatever its lines contain', () => {
    const damaged = anyAnswer.chain((parts) => {
      const lines = split(written(parts)).frames.map(({ data }) => objectOf(JSON.parse(data)));
      const change = fc.tuple(fc.nat(), fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }), fc.jsonValue());
      return fc.array(change, { maxLength: 3 }).map((changes) => {
        const result = [...lines];
        for (const [at, path, value] of changes) {
          const index = at % result.length;
          result[index] = replaced(result[index] ?? {}, path, value);
        }
        return result;
      });
    });
    fc.assert(
      fc.property(damaged, (lines) => {
        const source = reader();
        const frames = lines.map((line) => ({ event: '', data: JSON.stringify(line) }));
        const parts = [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
        const ends = parts.filter(({ type }) => type === 'message-end' || type === 'error');
        assert.deepEqual(ends, parts.slice(-1));
        assemble(frames);
        for (const frame of frames) classify(frame);
        if (ends[0]?.type === 'error') return;
        assert.equal(parts[0]?.type, 'message-start');
        const count = (suffix: string) => parts.filter(({ type }) => type.endsWith(suffix)).length;
        assert.equal(count('-start'), count('-end'));
      }),
      { numRuns: 1_000 },
    );
  });

  it('has the same usage by its parts, by its facts and by the complete answer', () => {
    fc.assert(
      fc.property(answers('openai-chat', { interleave: true }), (parts) => {
        const bytes = written(parts);
        const body = Buffer.from(JSON.stringify(assemble(split(bytes).frames)));
        const end = readBack(bytes).at(-1);
        assert.ok(end?.type === 'message-end');
        assert.deepEqual(readUsage(body), end.usage);
        assert.deepEqual(readStream(bytes, bytes).usage, end.usage);
        assert.equal(responseTextBytes(body), textBytes(bytes));
      }),
    );
  });
});
