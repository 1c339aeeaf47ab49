import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripEncryptedReasoning } from '../../../test/support/formats/strip-reasoning.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { adapt } from '../adapt/adapt.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import {
  type EncryptedReasoning,
  emptyConversation,
  type Message,
  type Part,
} from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { encodeFrames } from '../stream/frames.ts';
import { assemble } from './answer/assemble.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { openaiChat } from './codec.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';

const data = (delta: object, finish: string | null = null) => ({
  event: '',
  data: JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] }),
});
function parts(...deltas: object[]): StreamPart[] {
  const source = reader();
  const frames = [...deltas.map((delta) => data(delta)), data({}, 'stop'), { event: '', data: '[DONE]' }];
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
}
const contentParts = (...deltas: object[]) =>
  parts(...deltas).filter(({ type }) => type !== 'message-start' && type !== 'message-end');
/** The lists of details that are encrypted, in order. */
const reasoningIn = (all: readonly StreamPart[]) =>
  all.flatMap((part) =>
    part.type === 'reasoning-end' && part.encrypted !== null ? [JSON.parse(part.encrypted.value)] : [],
  );
const text = (index: number, piece: object) => ({ type: 'reasoning.text', index, ...piece });
const encryptedDetail = (index: number, blob: string, id: string) => ({
  type: 'reasoning.encrypted',
  index,
  data: blob,
  id,
  format: 'openai-responses-v1',
});

describe('encrypted reasoning of a chat upstream', () => {
  it('is assembled by its index, and attached at the end of its block', () => {
    const all = contentParts(
      { reasoning: 'Let ', reasoning_details: [text(0, { text: 'Let ', signature: null })] },
      { reasoning: 'me.', reasoning_details: [text(0, { text: 'me.' })] },
      { reasoning_details: [text(0, { signature: 'sig', format: 'anthropic-claude-v1' })] },
      { content: 'Yes' },
    );
    assert.deepEqual(reasoningIn(all), [
      [text(0, { text: 'Let me.', signature: 'sig', format: 'anthropic-claude-v1' })],
    ]);
    assert.deepEqual(
      all.map(({ type }) => type),
      ['reasoning-start', 'reasoning-delta', 'reasoning-delta', 'reasoning-end'].concat([
        'text-start',
        'text-delta',
        'text-end',
      ]),
    );
  });

  it('keeps several pieces with one index separate, and drops repeated ones', () => {
    const all = contentParts(
      { reasoning_details: [encryptedDetail(0, 'a', 't1'), encryptedDetail(0, 'b', 't2')] },
      { reasoning_details: [encryptedDetail(0, 'b', 't2')] },
    );
    assert.deepEqual(reasoningIn(all), [[encryptedDetail(0, 'a', 't1'), encryptedDetail(0, 'b', 't2')]]);
  });

  it('has its own block before the call or at the end if it follows the text', () => {
    const all = contentParts(
      { reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.', index: 0 }] },
      { content: 'Yes' },
      { reasoning_details: [encryptedDetail(1, 'a', 'rs')] },
      { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'list', arguments: '{}' } }] },
      { reasoning_details: [encryptedDetail(2, 'b', 'rs2')] },
    );
    assert.deepEqual(reasoningIn(all), [
      [{ type: 'reasoning.summary', summary: 'Hm.', index: 0 }, encryptedDetail(1, 'a', 'rs')],
      [encryptedDetail(2, 'b', 'rs2')],
    ]);
    const order = all.flatMap(({ type, ...part }) =>
      type.endsWith('-start') && 'block' in part ? [[type, part.block]] : [],
    );
    assert.deepEqual(order, [
      ['reasoning-start', 0],
      ['text-start', 1],
      ['reasoning-start', 2],
      ['tool-call-start', 3],
      ['reasoning-start', 4],
    ]);
  });

  it('is not made of reasoning that is readable', () => {
    assert.deepEqual(reasoningIn(contentParts({ reasoning_details: [text(0, { text: 'Hm.' })] })), []);
    const read = decodeRequest({
      model: 'm',
      messages: [{ role: 'assistant', content: 'a', reasoning_details: [text(0, { text: 'Hm.' })] }],
    });
    assert.deepEqual(read.messages[0]?.parts[0], {
      type: 'reasoning',
      text: 'Hm.',
      summary: false,
      encrypted: null,
    });
  });

  it('is sent back as it was, in the place of its text', () => {
    const details = [text(0, { text: 'Hm.', signature: 's' }), encryptedDetail(1, 'a', 'rs')];
    const reasoningOf: EncryptedReasoning[] = details.map((detail) => ({
      format: 'openai-chat',
      kind: 'encrypted',
      value: JSON.stringify([detail]),
    }));
    const turn: Part[] = [
      { type: 'reasoning', text: 'Hm.', summary: false, encrypted: reasoningOf[0] ?? null },
      { type: 'text', text: 'Yes' },
      { type: 'reasoning', text: '', summary: false, encrypted: reasoningOf[1] ?? null },
    ];
    const dialect = { ...plainDialect, reasoningField: 'reasoning' as const };
    const messages: Message[] = [{ role: 'assistant', parts: turn }];
    const body = encodeRequest({ ...emptyConversation('m'), messages }, dialect);
    assert.deepEqual(body['messages'], [{ role: 'assistant', content: 'Yes', reasoning_details: details }]);
    const again = decodeRequest(body).messages[0]?.parts[0];
    const encrypted = { ...reasoningOf[0], value: JSON.stringify(details) };
    assert.deepEqual(again, { type: 'reasoning', text: 'Hm.', summary: false, encrypted });
  });

  it('of Google is before the call that contains it, and is sent back on the call', () => {
    const extra_content = { google: { thought_signature: 'c2ln' } };
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'list', arguments: '{}' } };
    const encrypted = { format: 'gemini', kind: 'signature', value: 'c2ln' } as const;
    assert.deepEqual(
      contentParts({ tool_calls: [{ ...call, extra_content }] }).filter(({ type }) =>
        type.startsWith('reasoning'),
      ),
      [
        { type: 'reasoning-start', block: 0, summary: false },
        { type: 'reasoning-end', block: 0, encrypted },
      ],
    );
    const { index: _, ...written } = call;
    const message = { role: 'assistant', content: null, tool_calls: [{ ...written, extra_content }] };
    const read = decodeRequest({ model: 'm', messages: [message] });
    assert.deepEqual(listOf(encodeRequest(read, plainDialect)['messages'])[0], message);
  });
});

describe('encrypted reasoning of another vendor', () => {
  const context = { id: 'resp_0m1', model: 'asked', startedAt: 0, includeUsage: false };
  const reasoningOf = {
    signature: { format: 'anthropic-messages', kind: 'signature', value: 'EqQB', owner: 'here:claude' },
    redacted: { format: 'anthropic-messages', kind: 'redacted', value: 'AAAA', owner: 'here:claude' },
    encrypted: {
      format: 'openai-responses',
      kind: 'encrypted',
      value: 'gAAA',
      id: 'rs_1',
      owner: 'here:gpt',
    },
    google: { format: 'gemini', kind: 'signature', value: 'c2ln', owner: 'here:gemini' },
  } as const satisfies Record<string, EncryptedReasoning>;
  const thought = (block: number, text: string, encrypted: EncryptedReasoning): StreamPart[] => [
    { type: 'reasoning-start', block, summary: false },
    ...(text === '' ? [] : [{ type: 'reasoning-delta', block, text } as const]),
    { type: 'reasoning-end', block, encrypted },
  ];
  const called = (block: number, id: string): StreamPart[] => [
    { type: 'tool-call-start', block, id, name: 'list', kind: 'function' },
    { type: 'tool-call-end', block, complete: true },
  ];
  const text = (block: number): StreamPart[] => [
    { type: 'text-start', block },
    { type: 'text-delta', block, text: 'Yes' },
    { type: 'text-end', block },
  ];
  const end: StreamPart = {
    type: 'message-end',
    reason: 'stop',
    rawFinishReason: null,
    stopSequence: null,
    usage: null,
  };
  /** What a client got as a whole answer, and sends back as it is. */
  const message = (request: JsonObject, ...all: StreamPart[][]): JsonObject => {
    const written = writer({ ...context, request });
    const start: StreamPart = { type: 'message-start', id: 'x', model: 'm', usage: null };
    const stream = encodeFrames([start, ...all.flat(), end].flatMap((part) => written.push(part)));
    const answer = assemble(splitFrames(Buffer.from(stream)).frames);
    return objectOf(objectOf(listOf(answer?.['choices'])[0])['message']);
  };
  const comesBack = (sent: JsonObject): Part[] =>
    decodeRequest({ model: 'm', messages: [sent] }).messages[0]?.parts ?? [];
  const reasoning = (words: string, summary: boolean, encrypted: EncryptedReasoning): Part => ({
    type: 'reasoning',
    text: words,
    summary,
    encrypted,
  });

  it('is returned before what followed it, with the exact text that a signature requires', () => {
    const sent = message(
      {},
      thought(0, 'One.\n', reasoningOf.signature),
      thought(1, '', reasoningOf.redacted),
      text(2),
      thought(3, 'Two.', reasoningOf.signature),
      called(4, 'call_a'),
      called(5, 'call_b'),
    );
    assert.equal(sent['reasoning_content'], 'One.\n\n\nTwo.');
    const parts = comesBack(sent);
    assert.deepEqual(parts, [
      reasoning('One.\n', false, reasoningOf.signature),
      reasoning('', false, reasoningOf.redacted),
      { type: 'text', text: 'Yes' },
      reasoning('Two.', false, reasoningOf.signature),
      { type: 'tool-call', id: 'call_a', name: 'list', input: '{}', kind: 'function' },
      { type: 'tool-call', id: 'call_b', name: 'list', input: '{}', kind: 'function' },
    ]);
    const { reasoning_content: _, ...quiet } = sent;
    assert.deepEqual(comesBack(quiet), parts, 'also from a client that sends no thoughts back');
  });

  it('keeps its id, and the summary that the client received', () => {
    const sent = message({}, thought(0, 'Sum.', reasoningOf.encrypted), called(1, 'call_a'));
    assert.deepEqual(comesBack(sent)[0], reasoning('Sum.', true, reasoningOf.encrypted));
    const { reasoning_content: _, ...quiet } = sent;
    assert.deepEqual(comesBack(quiet)[0], reasoning('Sum.', true, reasoningOf.encrypted));
  });

  it('of Google is returned if no call contains it', () => {
    const sent = message({}, text(0), thought(1, '', reasoningOf.google));
    assert.deepEqual(comesBack(sent), [
      reasoning('', true, reasoningOf.google),
      { type: 'text', text: 'Yes' },
    ]);
  });

  it('is also sent to clients of functions, and never shown as text', () => {
    const functions = [{ name: 'list' }];
    const sent = message({ functions }, thought(0, 'Hm.', reasoningOf.signature), called(1, 'call_a'));
    const [detail] = listOf(sent['reasoning_details']).map(objectOf);
    assert.equal(detail?.['text'], '');
    assert.deepEqual(comesBack(sent)[0], reasoning('Hm.', false, reasoningOf.signature));
  });

  it('is plain text for a server of the same format', () => {
    const sent = message({}, thought(0, 'Hm.', reasoningOf.signature), text(1));
    const conversation = decodeRequest({ model: 'm', messages: [sent] });
    const chat = { ...openaiChat, conversation: openaiChat.conversation ?? assert.fail() };
    const dialect = { ...plainDialect, reasoningField: 'reasoning_content' as const };
    const route = { from: chat, to: chat, dialect, model: 'm', owner: 'here:claude' };
    const body = encodeRequest(adapt(conversation, route).conversation, dialect);
    assert.deepEqual(body['messages'], [{ role: 'assistant', content: 'Yes', reasoning_content: 'Hm.' }]);
  });
});

describe('a Google signature in a chat request', () => {
  const encrypted = { format: 'gemini', kind: 'signature', value: 'c2ln' } as const;
  const adapted = (owner: string | undefined, googleSignatures: boolean): unknown => {
    const parts: Part[] = [
      {
        type: 'reasoning',
        text: '',
        summary: false,
        encrypted: owner === undefined ? encrypted : { ...encrypted, owner },
      },
      { type: 'tool-call', id: 'call_1', name: 'list', input: '{}', kind: 'function' },
    ];
    const conversation = { ...emptyConversation('m'), messages: [{ role: 'assistant' as const, parts }] };
    const chat = { ...openaiChat, conversation: openaiChat.conversation ?? assert.fail() };
    const route = { from: chat, to: chat, dialect: { ...plainDialect, googleSignatures }, model: 'm' };
    const [first] = adapt(conversation, { ...route, owner: 'here:m' }).conversation.messages[0]?.parts ?? [];
    return first?.type === 'reasoning';
  };

  it('is sent to its owner, and to Google’s own API if the owner is unknown', () => {
    assert.equal(adapted('here:m', false), true);
    assert.equal(adapted('other:m', true), false);
    assert.equal(adapted(undefined, true), true);
    assert.equal(adapted(undefined, false), false);
  });

  it('is removed if it was refused, or replaced on a call of another model', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'list', arguments: '{}' } };
    const extra_content = (thought_signature: string) => ({ google: { thought_signature } });
    const request = (signature: string): JsonObject => ({
      messages: [{ role: 'assistant', tool_calls: [{ ...call, extra_content: extra_content(signature) }] }],
    });
    const message = 'Thought signature is not valid';
    const stripped = request('skip_thought_signature_validator');
    assert.deepEqual(stripEncryptedReasoning('openai-chat', request('c2ln'), message)?.request, stripped);
    assert.equal(stripEncryptedReasoning('openai-chat', stripped, message), null, 'once');
    const details = { role: 'assistant', content: 'a', reasoning_details: [encryptedDetail(0, 'a', 'rs')] };
    const without = stripEncryptedReasoning(
      'openai-chat',
      { messages: [details] },
      'Invalid encrypted content',
    );
    assert.deepEqual(objectOf(listOf(without?.request['messages'])[0]), { role: 'assistant', content: 'a' });
    const ofAnthropic = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    assert.ok(stripEncryptedReasoning('openai-chat', { messages: [details] }, ofAnthropic));
  });
});
