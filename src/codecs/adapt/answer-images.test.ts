import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translating } from '../../../test/support/formats/translating.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import { emptyConversation, type Part } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { ImageSource, StreamPart } from '../model/stream-part.ts';
import type { WireFormat } from '../wire-format.ts';
import { adapt } from './adapt.ts';

const base64 = 'iVBORw0KGgo=';
const bytes: ImageSource = { kind: 'data', mediaType: 'image/png', base64 };
const address: ImageSource = { kind: 'url', url: 'https://a.test/b.png' };

/** What clients of a format put together of an answer that is one picture, and how the format's reader reads it. */
function shown(format: WireFormat, source: ImageSource): { answer: JsonObject; read: StreamPart[] } {
  const { conversation, stream } = translating(format);
  const context = { id: 'req_1', model: 'm', startedAt: 0, includeUsage: true, request: {} };
  const writer = conversation.writer(context);
  const parts: StreamPart[] = [
    { type: 'message-start', id: 'r', model: 'm', usage: null },
    { type: 'image', block: 0, source },
    { type: 'message-end', reason: 'stop', rawFinishReason: null, stopSequence: null, usage: null },
  ];
  const text = Buffer.from(stream.encode(parts.flatMap((part) => writer.push(part))));
  const { frames } = stream.split(text);
  const reader = conversation.reader();
  return {
    answer: stream.assemble(frames) ?? assert.fail('no answer'),
    read: [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()],
  };
}

describe('an image that a model made', () => {
  for (const format of ['openai-chat', 'openai-responses', 'gemini', 'ollama'] as const)
    it(`is an image for clients of ${format}, and is read as one`, () => {
      const images = shown(format, bytes).read.filter(({ type }) => type === 'image');
      assert.deepEqual(images, [{ type: 'image', block: 0, source: bytes }]);
    });

  it('is in the place where clients of each format expect it', () => {
    const chat = objectOf(objectOf(listOf(shown('openai-chat', bytes).answer['choices'])[0])['message']);
    assert.deepEqual(chat['images'], [
      { index: 0, type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
    ]);
    const [item] = listOf(shown('openai-responses', bytes).answer['output']).map(objectOf);
    assert.deepEqual(
      [item?.['type'], item?.['result'], item?.['output_format'], item?.['status']],
      ['image_generation_call', base64, 'png', 'completed'],
    );
    assert.deepEqual(objectOf(shown('ollama', bytes).answer['message'])['images'], [base64]);
  });

  it('is described in text if there is no place for it, with its URL if it has one', () => {
    for (const format of ['anthropic-messages', 'openai-completions'] as const) {
      assert.match(
        JSON.stringify(shown(format, bytes).answer),
        /made a picture \(image\/png, 1 kB\)/,
        format,
      );
      assert.doesNotMatch(JSON.stringify(shown(format, bytes).answer), /iVBOR/, format);
      assert.match(JSON.stringify(shown(format, address).answer), /!\[image\]\(https:\/\/a\.test\/b\.png\)/);
    }
    for (const format of ['openai-responses', 'ollama'] as const)
      assert.match(JSON.stringify(shown(format, address).answer), /!\[image\]\(https:/, format);
    assert.deepEqual(
      shown('openai-chat', address).read.filter(({ type }) => type === 'image'),
      [{ type: 'image', block: 0, source: address }],
    );
  });
});

describe('an image in an answer of an earlier turn', () => {
  const parts: Part[] = [
    { type: 'text', text: 'Here:' },
    { type: 'image', source: bytes },
  ];
  const messages = [
    { role: 'assistant' as const, parts },
    { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Brighter' }] },
  ];
  const adapted = (to: WireFormat, history = messages) => {
    const route = { from: translating('gemini'), to: translating(to), dialect: plainDialect, owner: null };
    const conversation = { ...emptyConversation('m'), messages: history };
    return adapt(conversation, { ...route, model: 'm' }).conversation.messages;
  };

  it('is moved after the next text of the user, if answers cannot contain images', () => {
    for (const to of ['openai-chat', 'openai-responses', 'anthropic-messages'] as const) {
      const [answer, next, ...others] = adapted(to);
      assert.deepEqual(
        [answer, next].map((message) => message?.parts.map(({ type }) => type)),
        [
          ['text', 'text'],
          ['text', 'text', 'image'],
        ],
        to,
      );
      assert.deepEqual(others, []);
    }
    assert.equal(adapted('openai-chat', messages.slice(0, 1)).at(-1)?.role, 'user');
  });

  it('stays in its place for formats whose answers can contain images', () => {
    for (const to of ['gemini', 'ollama'] as const) assert.deepEqual(adapted(to), messages, to);
  });

  it('is an image, and never base64 in a text, in every format that has images', () => {
    const read = (format: WireFormat, body: JsonObject) =>
      translating(format)
        .conversation.decodeRequest({ model: 'm', ...body })
        .messages.flatMap((message) => message.parts);
    const image = { type: 'image', source: bytes };
    const url = `data:image/png;base64,${base64}`;
    const message = { role: 'assistant', content: 'a', images: [{ type: 'image_url', image_url: { url } }] };
    assert.deepEqual(read('openai-chat', { messages: [message] })[1], image);
    const item = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: base64 };
    assert.deepEqual(read('openai-responses', { input: [item] }), [image]);
    const assistantMessage = { role: 'assistant', content: '', images: [base64] };
    assert.deepEqual(read('ollama', { messages: [assistantMessage] }), [image]);
  });

  it('keeps Google’s signature', () => {
    const part = { inlineData: { mimeType: 'image/png', data: base64 }, thoughtSignature: 'c2ln' };
    const { decodeRequest, encodeRequest } = translating('gemini').conversation;
    const body = {
      model: 'm',
      contents: [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [part] },
      ],
    };
    assert.deepEqual(listOf(encodeRequest(decodeRequest(body), plainDialect)['contents'])[1], {
      role: 'model',
      parts: [part],
    });
  });
});
