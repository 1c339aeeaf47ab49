import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answers,
  conversations,
  settled,
  withoutRawReasons,
} from '../../../test/support/formats/arbitrary.ts';
import { assertRefusedByPath, replaced } from '../../../test/support/formats/damaged-requests.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { listOf, objectOf } from '../json/values.ts';
import type { Conversation, Message, Part, Reasoning, ToolChoice } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { encodeFrames } from '../stream/frames.ts';
import { assemble } from './answer/assemble.ts';
import { anthropicMessages } from './codec.ts';

const { conversation: codec } = anthropicMessages;
assert.ok(codec !== null);
const { decodeRequest, encodeRequest, reader, writer } = codec;
const encoded = (conversation: Conversation) => encodeRequest(conversation, plainDialect);

const context = { id: 'req_0m1', model: 'a', startedAt: 1_790_000_000_000, includeUsage: true, request: {} };
const written = (parts: readonly StreamPart[]) => {
  const target = writer(context);
  return encodeFrames(parts.flatMap((part) => target.push(part)));
};
const readBack = (stream: string) => {
  const source = reader();
  const { frames } = splitFrames(Buffer.from(stream));
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
};

/** What of a conversation this format can say, in the way that its decoder says it. */
function expressible(whole: Conversation): Conversation {
  const tools = whole.tools.flatMap((tool) => {
    if (tool.kind !== 'function') return [];
    const { namespace: _, ...plain } = tool;
    return [
      { ...plain, schema: plain.schema ?? { type: 'object', properties: {} }, strict: plain.strict || null },
    ];
  });
  const messages = whole.messages.flatMap(sayableMessage);
  const toolChoice = tools.length === 0 ? null : sayableChoice(whole.toolChoice, tools);
  const forced = toolChoice?.kind === 'required' || toolChoice?.kind === 'tool';
  const reasoning = sayableReasoning(whole.reasoning, forced, inUnthoughtLoop(messages));
  const thinks = reasoning !== null && reasoning.mode !== 'off';
  const temperature = thinks || whole.temperature === null ? null : Math.min(1, whole.temperature);
  const budget = reasoning?.budgetTokens ?? 0;
  return {
    ...whole,
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    candidates: null,
    logprobs: null,
    verbosity: null,
    cacheKey: null,
    serviceTier: whole.serviceTier === 'default' ? 'default' : null,
    metadata: null,
    store: null,
    messages,
    tools,
    toolChoice,
    parallelToolCalls: toolChoice === null || toolChoice.kind === 'none' ? null : whole.parallelToolCalls,
    maxOutputTokens: budget + (whole.maxOutputTokens ?? 100),
    temperature,
    topP: temperature !== null || thinks ? null : whole.topP,
    topK: thinks ? null : whole.topK,
    reasoning,
    output:
      whole.output.kind === 'schema'
        ? { ...whole.output, name: null, description: null, strict: null, schema: { type: 'string' } }
        : { kind: 'text' },
    includeUsage: true,
  };
}

function inUnthoughtLoop(messages: readonly Message[]): boolean {
  const parts = messages.findLast(({ role }) => role === 'assistant')?.parts ?? [];
  return parts.some(({ type }) => type === 'tool-call') && parts[0]?.type !== 'reasoning';
}

function sayableReasoning(whole: Reasoning | null, forced: boolean, unthought: boolean): Reasoning | null {
  if (whole === null) return null;
  const effort = whole.effort === 'minimal' ? 'low' : whole.effort;
  const display = whole.display === 'omitted' || whole.display === 'summarized' ? whole.display : null;
  const budgetTokens = whole.mode === 'on' ? whole.budgetTokens : null;
  if (whole.mode === 'off' || forced || (unthought && budgetTokens !== null))
    return { mode: 'off', effort, budgetTokens: null, display: null };
  return { mode: budgetTokens === null ? 'adaptive' : 'on', effort, budgetTokens, display };
}

function sayableChoice(choice: ToolChoice | null, tools: readonly { name: string }[]): ToolChoice | null {
  if (choice === null || choice.kind === 'none' || choice.kind === 'required') return choice;
  if (choice.kind === 'tool' && tools.some(({ name }) => name === choice.name)) return choice;
  return { kind: 'auto' };
}

function sayableMessage({ parts, role }: Message): Message[] {
  if (role === 'system') return [];
  const sayableParts = parts.flatMap(sayablePart);
  return [{ role, parts: sayableParts.length > 0 ? sayableParts : [{ type: 'text', text: 'Well.' }] }];
}

function sayablePart(part: Part): Part[] {
  switch (part.type) {
    case 'audio':
    case 'refusal':
      return [];
    case 'image': {
      const { detail: _, ...image } = part;
      return [image];
    }
    case 'tool-call': {
      const { namespace: _, ...call } = part;
      return [{ ...call, kind: 'function', input: part.kind === 'custom' ? '{}' : part.input }];
    }
    case 'tool-result':
      return [{ ...part, kind: 'function', parts: part.parts.flatMap(sayablePart) as typeof part.parts }];
    case 'reasoning':
      if (part.encrypted === null) return [];
      return [{ ...part, summary: false, text: part.encrypted.kind === 'redacted' ? '' : part.text }];
    default:
      return [part];
  }
}

const anyConversation = conversations('anthropic-messages');

describe('any messages request', () => {
  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(anyConversation.map(expressible), (conversation) => {
        assert.deepEqual(decodeRequest(encoded(conversation)), conversation);
      }),
    );
  });

  it('is encoded to what was decoded, also if parts of it cannot be expressed', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const body = encoded(conversation);
        assert.equal(JSON.stringify(encoded(decodeRequest(body))), JSON.stringify(body));
      }),
    );
  });

  it('has its turns in the order that the vendor requires', () => {
    const shuffled = anyConversation.chain((conversation) =>
      fc.shuffledSubarray(conversation.messages).map((messages) => encoded({ ...conversation, messages })),
    );
    fc.assert(
      fc.property(shuffled, (body) => {
        let open: string[] = [];
        const turns = listOf(body['messages']).map(objectOf);
        for (const [index, { content, role }] of turns.entries()) {
          assert.equal(role, index % 2 === 0 ? 'user' : 'assistant');
          const blocks = listOf(content).map(objectOf);
          const results = blocks.filter(({ type }) => type === 'tool_result');
          assert.deepEqual(results, blocks.slice(0, results.length), 'results come first');
          assert.deepEqual(results.map(({ tool_use_id: id }) => id).sort(), open.sort());
          assert.ok(blocks.every(({ text, type }) => type !== 'text' || String(text).trim() !== ''));
          open = blocks.flatMap(({ id, type }) => (type === 'tool_use' ? [String(id)] : []));
        }
        assert.deepEqual(open, [], 'every call has its result');
        assert.ok(turns.length > 0);
      }),
    );
  });

  it('is refused with the path of the invalid field, and never fails in another way', () => {
    assertRefusedByPath(anyConversation, {
      numRuns: 500,
      wire: encoded,
      roundTrip: (body) => encoded(decodeRequest(body)),
    });
  });
});

/** An answer with what this format alone can say of it. */
function sayableAnswer(parts: readonly StreamPart[]): StreamPart[] {
  return parts.map((part) => {
    switch (part.type) {
      case 'message-start':
        return { ...part, id: 'msg_0m1', model: context.model };
      case 'refusal-start':
      case 'refusal-end':
        return { type: part.type === 'refusal-start' ? 'text-start' : 'text-end', block: part.block };
      case 'refusal-delta':
        return { ...part, type: 'text-delta' };
      case 'reasoning-start':
        return { ...part, summary: false };
      case 'reasoning-end':
        return part.encrypted?.kind === 'redacted' ? { ...part, encrypted: null } : part;
      default:
        return part;
    }
  });
}

const withoutStartUsage = (parts: readonly StreamPart[]) =>
  parts.map((part) => (part.type === 'message-start' ? { ...part, usage: null } : part));

describe('any messages stream', () => {
  it('is read as it was written, block by block', () => {
    const answer = answers('anthropic-messages', { interleave: true }).map(sayableAnswer);
    fc.assert(
      fc.property(answer, (parts) => {
        const read = withoutRawReasons(withoutStartUsage(readBack(written(parts))));
        assert.deepEqual(settled(read), settled(parts));
        assert.deepEqual(settled(read).length, settled(settled(read)).length);
      }),
    );
  });

  it('has one open block at a time, numbered without gaps, and one end', () => {
    fc.assert(
      fc.property(answers('openai-responses', { interleave: true }), (parts) => {
        const { frames } = splitFrames(Buffer.from(written(parts)));
        let open: unknown = null;
        let next = 0;
        const types = frames.map(({ data, event }) => {
          const { index, type } = objectOf(JSON.parse(data));
          assert.equal(type, event);
          if (type === 'content_block_start') {
            assert.equal(open, null);
            assert.equal(index, next);
            open = index;
            next += 1;
          } else if (index !== undefined) assert.equal(index, open);
          if (type === 'content_block_stop') open = null;
          return event;
        });
        assert.equal(open, null);
        assert.equal(types[0], 'message_start');
        assert.deepEqual(types.slice(-2), ['message_delta', 'message_stop']);
        assert.equal(types.filter((type) => type.startsWith('message_')).length, 3);
      }),
    );
  });

  it('assembles into a message with everything that was written', () => {
    fc.assert(
      fc.property(answers('openai-responses', { interleave: true }), (parts) => {
        const message = assemble(splitFrames(Buffer.from(written(parts))).frames);
        assert.ok(message !== null);
        const { content, id, model, role, stop_reason, type } = message;
        assert.deepEqual(
          { id, model, role, type },
          { id: 'msg_0m1', model: 'a', role: 'assistant', type: 'message' },
        );
        const calls = parts.filter((part) => part.type === 'tool-call-start');
        const uses = listOf(content)
          .map(objectOf)
          .filter((block) => block['type'] === 'tool_use');
        assert.deepEqual(
          uses.map(({ id: use, name }) => [use, name]),
          calls.map(({ id: call, name }) => [call, name]),
        );
        assert.equal(typeof stop_reason, 'string');
      }),
    );
  });

  it('starts once, ends once and closes every block, whatever its events contain', () => {
    const records = answers('anthropic-messages').chain((parts) => {
      const events = splitFrames(Buffer.from(written(parts))).frames.map(({ data }) =>
        objectOf(JSON.parse(data)),
      );
      const change = fc.tuple(fc.nat(), fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }), fc.jsonValue());
      return fc.array(change, { maxLength: 3 }).map((changes) => {
        const damaged = [...events];
        for (const [at, path, value] of changes) {
          const index = at % damaged.length;
          damaged[index] = replaced(damaged[index] ?? {}, path, value);
        }
        return damaged;
      });
    });
    fc.assert(
      fc.property(records, (events) => {
        const source = reader();
        const parts = [
          ...events.flatMap((event) => source.push({ event: '', data: JSON.stringify(event) })),
          ...source.end(),
        ];
        const ends = parts.filter(({ type }) => type === 'message-end' || type === 'error');
        assert.deepEqual(ends, parts.slice(-1));
        if (ends[0]?.type === 'error') return;
        assert.equal(parts[0]?.type, 'message-start');
        const count = (suffix: string) => parts.filter(({ type }) => type.endsWith(suffix)).length;
        assert.equal(count('-start'), count('-end'));
      }),
      { numRuns: 300 },
    );
  });
});
