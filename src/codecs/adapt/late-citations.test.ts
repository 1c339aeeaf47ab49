import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translating } from '../../../test/support/formats/translating.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import type { StreamPart } from '../model/stream-part.ts';
import type { WireFormat } from '../wire-format.ts';

const halvesOf = (format: WireFormat) => {
  const { conversation, stream } = translating(format);
  return { ...conversation, ...stream };
};
const start: StreamPart = { type: 'message-start', id: 'r', model: 'm', usage: null };
const end: StreamPart = {
  type: 'message-end',
  reason: 'stop',
  rawFinishReason: null,
  stopSequence: null,
  usage: null,
};
const citation = (url: string, title: string | null = null): StreamPart => ({
  type: 'citation',
  block: 0,
  citation: {
    url,
    title,
    text: 'Sun',
    start: null,
    end: null,
    native: { format: 'openai-chat', value: {} },
  },
});
const text: StreamPart[] = [
  { type: 'text-start', block: 0 },
  { type: 'text-delta', block: 0, text: 'Sun.' },
  { type: 'text-end', block: 0 },
];

/** The answer that a client puts together. */
function written(format: WireFormat, parts: readonly StreamPart[], request: JsonObject = {}): JsonObject {
  const { assemble, encode, writer } = halvesOf(format);
  const target = writer({ id: 'req_1', model: 'm', startedAt: 0, includeUsage: true, request });
  const stream = encode([start, ...parts, end].flatMap((part) => target.push(part)));
  return assemble(splitFrames(Buffer.from(stream)).frames) ?? assert.fail('no answer');
}

function read(format: WireFormat, events: readonly object[]): StreamPart[] {
  const source = halvesOf(format).reader();
  const frames = events.map((event) => ({ event: '', data: JSON.stringify(event) }));
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
}

describe('a source that arrives after its text', () => {
  const late = [
    ...text,
    citation('https://a.test', 'A'),
    citation('https://b.test'),
    citation('https://a.test', 'A'),
  ];
  const words = 'Sources:\n- [A](https://a.test)\n- https://b.test';

  it('is in a separate text block in Anthropic’s format', () => {
    const [, sources, ...others] = listOf(written('anthropic-messages', late)['content']).map(objectOf);
    assert.deepEqual(others, []);
    assert.equal(sources?.['text'], words);
    assert.deepEqual(
      listOf(sources?.['citations']).map((one) => objectOf(one)['url']),
      ['https://a.test', 'https://b.test', 'https://a.test'],
    );
  });

  it('is in a separate message in the responses format, at its line', () => {
    const output = listOf(written('openai-responses', late)['output']).map(objectOf);
    assert.equal(output.length, 2);
    const [part] = listOf(output[1]?.['content']).map(objectOf);
    assert.equal(part?.['text'], words);
    const cited = listOf(part?.['annotations'])
      .map(objectOf)
      .map(({ end_index, start_index }) => words.slice(Number(start_index), Number(end_index)));
    assert.deepEqual(cited, ['[A](https://a.test)', 'https://b.test', '[A](https://a.test)']);
  });

  it('stays with its text while the block is open', () => {
    const [begun, ...rest] = [...text.slice(0, 2), citation('https://a.test', 'A'), ...text.slice(2)];
    assert.ok(begun !== undefined);
    for (const [format, list] of [
      ['anthropic-messages', 'content'],
      ['openai-responses', 'output'],
    ] as const)
      assert.equal(listOf(written(format, [begun, ...rest])[list]).length, 1, format);
  });
});

describe('a source without a URL', () => {
  const passage = `The sun ${'x'.repeat(300)}`;
  const unaddressed = (title: string | null, words: string | null): StreamPart => ({
    type: 'citation',
    block: 0,
    citation: {
      url: null,
      title,
      text: words,
      start: 0,
      end: 3,
      native: { format: 'gemini', value: {} },
    },
  });
  const [begun, ...rest] = text;
  assert.ok(begun !== undefined);
  const cited = [
    begun,
    unaddressed('Manual', 'Sun'),
    unaddressed('Manual', 'Moon'),
    unaddressed(null, passage),
    unaddressed(null, null),
    ...rest,
  ];
  const words = `Sources:\n- Manual\n- ${passage.slice(0, 200)}…\n- a source without a name`;
  const chatText = (answer: JsonObject) =>
    objectOf(objectOf(listOf(answer['choices'])[0])['message'])['content'];
  const responsesTexts = (answer: JsonObject) =>
    listOf(answer['output']).map((item) => objectOf(listOf(objectOf(item)['content'])[0])['text']);

  it('is named in the text, once, if a format can only express URLs', () => {
    assert.equal(chatText(written('openai-chat', cited)), `Sun.\n\n${words}`);
    assert.deepEqual(responsesTexts(written('openai-responses', cited)), ['Sun.', words]);
  });

  it('begins the text if there is no other', () => {
    assert.equal(chatText(written('openai-chat', [unaddressed('Manual', null)])), 'Sources:\n- Manual');
  });

  it('is left out if the client asked for JSON, as is a late source', () => {
    const late = [...cited, citation('https://a.test')];
    const format = { type: 'json_schema' };
    assert.equal(chatText(written('openai-chat', late, { response_format: format })), 'Sun.');
    assert.deepEqual(responsesTexts(written('openai-responses', late, { text: { format } })), ['Sun.']);
    const claude = written('anthropic-messages', late, { output_config: { format } });
    assert.equal(listOf(claude['content']).length, 1);
    const plain = written('openai-chat', late, { response_format: { type: 'text' } });
    assert.match(String(chatText(plain)), /Sources/);
  });
});

describe('a source is not lost', () => {
  const annotation = {
    type: 'url_citation',
    url: 'https://a.test',
    title: 'A',
    start_index: 0,
    end_index: 4,
  };
  const sources = (parts: readonly StreamPart[]) =>
    parts.flatMap((part) => (part.type === 'citation' ? [[part.block, part.citation.url]] : []));

  it('if a chat upstream sends it before any text, or without text', () => {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    const annotations = [{ type: 'url_citation', url_citation: annotation }];
    const named = read('openai-chat', [
      chunk({ annotations }),
      chunk({ content: 'Sun.' }),
      chunk({}, 'stop'),
    ]);
    assert.deepEqual(sources(named), [[0, 'https://a.test']]);
    assert.deepEqual(named.map(({ type }) => type).slice(1, -1), [
      'text-start',
      'text-delta',
      'citation',
      'text-end',
    ]);
    assert.deepEqual(sources(read('openai-chat', [chunk({ annotations }), chunk({}, 'stop')])), [
      [0, 'https://a.test'],
    ]);
  });

  it('if a responses upstream sends it before the text, after it, or only in the finished item', () => {
    const at = { output_index: 0, content_index: 0 };
    const added = { type: 'response.output_text.annotation.added', ...at, annotation };
    const item = (annotations: object[]) => ({
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Sun.', annotations }],
    });
    const done = (annotations: object[]) => ({
      type: 'response.output_item.done',
      output_index: 0,
      item: item(annotations),
    });
    const ended = { type: 'response.completed', response: { output: [], status: 'completed' } };
    const delta = { type: 'response.output_text.delta', ...at, delta: 'Sun.' };
    for (const events of [
      [added, delta, done([])],
      [delta, added, done([annotation])],
      [delta, done([annotation])],
      [delta, done([]), added],
    ])
      assert.deepEqual(sources(read('openai-responses', [...events, ended])), [[0, 'https://a.test']]);
  });
});
