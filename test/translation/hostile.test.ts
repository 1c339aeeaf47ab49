import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/codecs/json/values.ts';
import type { StreamPart } from '../../src/codecs/model/stream-part.ts';
import { encodeFrame } from '../../src/codecs/stream/frames.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';
import { formats } from '../support/formats/fuzz.ts';
import { withinCpu } from '../support/machine/cpu.ts';

/**
 * Requests and answers that nobody sends by chance. Each must be translated or refused, in time that grows with its
 * size and no faster: one thread serves everybody. The bound is above what it takes; what grows with the square of the
 * size takes longer.
 */
const BOUND_MS = 4_000;

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const timed = <T>(what: string, run: () => T): T => withinCpu(BOUND_MS, what, run);

function translated(from: WireFormat, to: WireFormat, body: JsonObject): JsonObject | string {
  const connection = { id: 'c', name: 'c' } as Target['connection'];
  const target = { connection, provider: openaiCompatible, model: 't', format: to };
  const bytes = Buffer.from(JSON.stringify({ model: 'm', ...body }));
  try {
    const request = translateRequest({ body: [bytes], named: null, target }, from);
    return JSON.parse(Buffer.concat(request.body).toString());
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    assert.equal(error.status, 400);
    return error.code;
  }
}

const question = { role: 'user', content: 'x' };
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const chatCall = (id: string, name = 'f', args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const chatTool = (name: string) => ({ type: 'function', function: { name, parameters: schema } });
const oddNames = [
  '😀',
  '😀😀',
  'a b',
  'ä',
  'ö',
  '',
  '__proto__',
  'constructor',
  '.',
  'x'.repeat(300),
  `${'x'.repeat(300)}y`,
];

const hostileChat: Record<string, JsonObject> = {
  'a megabyte of arguments and of their result': {
    messages: [
      question,
      { role: 'assistant', tool_calls: [chatCall('a', 'f', JSON.stringify({ a: 'x'.repeat(1_000_000) }))] },
      { role: 'tool', tool_call_id: 'a', content: 'x'.repeat(1_000_000) },
    ],
  },
  'ten thousand tools': { messages: [question], tools: many(10_000, (index) => chatTool(`t${index}`)) },
  'ten thousand tools of one name once they are legal': {
    messages: [question],
    tools: many(10_000, (index) => chatTool(String.fromCodePoint(0x4e00 + index))),
  },
  'names with emoji, and without anything': {
    messages: [
      question,
      { role: 'assistant', tool_calls: oddNames.map((name, index) => chatCall(`c${index}`, name)) },
    ],
    tools: oddNames.map(chatTool),
  },
  'twenty thousand calls of one id': {
    messages: [
      question,
      { role: 'assistant', tool_calls: many(20_000, () => chatCall('a')) },
      ...many(20_000, () => ({ role: 'tool', tool_call_id: 'a', content: '1' })),
    ],
  },
  'results before their calls': {
    messages: [
      { role: 'tool', tool_call_id: 'a', content: 'r' },
      { role: 'assistant', tool_calls: [chatCall('a')] },
    ],
  },
  'messages that say nothing': {
    messages: [
      { role: 'system', content: null },
      { role: 'user', content: '' },
      { role: 'assistant', content: [] },
    ],
  },
  'no messages': { messages: [] },
  'halves of characters': {
    messages: [
      { role: 'user', content: 'a\ud83d' },
      { role: 'assistant', tool_calls: [chatCall('\udc00', 'f\ud800', '{"a":"\ud800"}')] },
    ],
  },
  'an image of twenty megabytes': {
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${'A'.repeat(20_000_000)}` },
          },
        ],
      },
    ],
  },
};

describe('a hostile client', () => {
  for (const [name, body] of Object.entries(hostileChat)) {
    it(`may send ${name} (3.3 items 29, 33, 35)`, () => {
      for (const to of formats.filter((format) => format !== 'openai-chat'))
        timed(to, () => translated('openai-chat', to, body));
    });
  }

  it('may send ten thousand deferred tools', () => {
    const tools = many(10_000, (index) => ({ name: `t${index}`, input_schema: schema, defer_loading: true }));
    const body = { max_tokens: 5, messages: [question], tools };
    for (const to of formats.filter((format) => format !== 'anthropic-messages'))
      timed(to, () => translated('anthropic-messages', to, body));
  });

  it('gets a unique name for every tool, whatever they were called', () => {
    for (const to of ['anthropic-messages', 'openai-responses'] as const) {
      const { tools } = translated(
        'openai-chat',
        to,
        hostileChat['names with emoji, and without anything'] ?? {},
      ) as {
        tools: { name: string }[];
      };
      const names = tools.map(({ name }) => name);
      assert.equal(new Set(names).size, oddNames.length);
      for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,128}$/);
    }
  });
});

const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
  encodeFrame('', { id: 'x', choices: [{ index: 0, delta, finish_reason }] });
const growing = (index: number, rest: JsonObject) => chunk({ tool_calls: [{ index, ...rest }] });
const event = (data: JsonObject & { type: string }) => encodeFrame(data.type, data);

function read(format: WireFormat, text: string): StreamPart[] {
  const { conversation, stream } = conversationCodec(format);
  const reader = conversation.reader();
  const parts = stream.split(Buffer.from(`${text}\n\n`)).frames.flatMap((frame) => reader.push(frame));
  return [...parts, ...reader.end()];
}

const ends = (parts: readonly StreamPart[]) =>
  parts.flatMap((part) => (part.type === 'message-end' || part.type === 'error' ? [part.type] : []));

/** The recorded streams of a format, again and again: each time one number in them is another one. */
function* renumbered(format: WireFormat): Generator<string> {
  const folder = join(import.meta.dirname, '../../src/codecs', format, 'fixtures');
  for (const name of readdirSync(folder).filter((file) => /\.(?:sse|ndjson)$/.test(file))) {
    const text = readFileSync(join(folder, name), 'utf8');
    const seen = new Set<string>();
    for (const { 0: member, 1: key = '', index } of text.matchAll(/"([a-zA-Z_]+)":-?\d+/g)) {
      // The first and the second of a name: what is announced, and what grows.
      const place = seen.has(key) ? `${key} again` : key;
      if (seen.has(place)) continue;
      seen.add(place);
      for (const value of ['1790000000', '4294967294', '-7', '0.5', '1e308'])
        yield `${text.slice(0, index)}"${key}":${value}${text.slice(index + member.length)}`;
    }
  }
}

/** Answers of one text with `count` sources. */
function citedOften(count: number): Partial<Record<WireFormat, string>> {
  const url = 'https://source.example';
  const annotation = { type: 'url_citation', url, title: 't', start_index: 0, end_index: 1 };
  const place = { item_id: 'm', output_index: 0, content_index: 0 };
  const item = { id: 'm', type: 'message', role: 'assistant', content: [] };
  const citation = { type: 'web_search_result_location', url, title: 't', cited_text: 'x' };
  const delta = (value: JsonObject) => event({ type: 'content_block_delta', index: 0, delta: value });
  return {
    'openai-chat': [
      chunk({ role: 'assistant', content: 'x' }),
      ...many(count, () =>
        chunk({ annotations: [{ type: 'url_citation', url_citation: { url, title: 't' } }] }),
      ),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ].join(''),
    'openai-responses': [
      event({ type: 'response.output_item.added', output_index: 0, item }),
      event({ type: 'response.output_text.delta', ...place, delta: 'x' }),
      ...many(count, (index) =>
        event({
          type: 'response.output_text.annotation.added',
          ...place,
          annotation_index: index,
          annotation,
        }),
      ),
      event({ type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } }),
    ].join(''),
    'anthropic-messages': [
      event({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      delta({ type: 'text_delta', text: 'x' }),
      ...many(count, () => delta({ type: 'citations_delta', citation })),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
      event({ type: 'message_stop' }),
    ].join(''),
  };
}

describe('a hostile upstream', () => {
  it('may begin thousands of calls and finish none (3.3 item 10)', () => {
    const open = (args: string) =>
      many(4_000, (index) => growing(index, chatCall(`c${index}`, 'f', args))).join('');
    for (const args of ['{"a"}', '{']) {
      const parts = timed(args, () =>
        read('openai-chat', `${open(args)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`),
      );
      assert.equal(parts.filter(({ type }) => type === 'tool-call-end').length, 4_000);
      assert.deepEqual(ends(parts), ['message-end']);
    }
  });

  it('may begin a block repeatedly, end one that never began, and end the message twice', () => {
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } };
    const stop = { type: 'content_block_stop', index: 7 };
    const end =
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) + event({ type: 'message_stop' });
    const text = many(4_000, () => event(start) + event(stop)).join('') + end + end;
    const parts = timed('blocks', () => read('anthropic-messages', text));
    const count = (type: StreamPart['type']) => parts.filter((part) => part.type === type).length;
    assert.deepEqual([count('text-start'), count('text-end'), count('message-start')], [4_000, 4_000, 1]);
    assert.deepEqual(ends(parts), ['message-end']);
  });

  it('may leave out starts and stops', () => {
    const bare =
      event({ type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'a' } }) +
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) +
      event({ type: 'message_stop' });
    assert.deepEqual(
      read('anthropic-messages', bare).map(({ type }) => type),
      ['message-start', 'text-start', 'text-delta', 'text-end', 'message-end'],
    );
  });

  for (const format of formats) {
    it(`may number what it sends as it likes in ${format}`, () => {
      const { stream } = conversationCodec(format);
      timed('numbers', () => {
        for (const text of renumbered(format)) {
          const { frames } = stream.split(Buffer.from(text));
          const whole = stream.assemble(frames);
          if (whole !== null) stream.encodeFramesOf(whole);
          read(format, text);
        }
      });
    });
  }

  it('may cite a source with every word', () => {
    for (const [format, text] of Object.entries(citedOften(40_000))) {
      const { stream } = conversationCodec(format as WireFormat);
      const whole = timed(format, () => stream.assemble(stream.split(Buffer.from(text)).frames));
      assert.equal(JSON.stringify(whole).split('https://source.example').length - 1, 40_000, format);
      timed(`${format}, read`, () => read(format as WireFormat, text));
    }
  });

  for (const format of formats) {
    it(`causes no empty answer from ${format} with an answer of another kind (3.3 item 21)`, () => {
      const { conversation, stream } = conversationCodec(format);
      const others: JsonObject[] = formats
        .filter((other) => other !== format)
        .map((other) =>
          JSON.parse(
            readFileSync(join(import.meta.dirname, `../../src/codecs/${other}/fixtures/answer.json`), 'utf8'),
          ),
        );
      for (const answer of [...others, {}, { detail: 'Not Found' }, { data: [] }, { choices: null }]) {
        const reader = conversation.reader();
        const { frames } = stream.split(Buffer.from(stream.encodeFramesOf(answer)));
        const parts = [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
        assert.deepEqual(ends(parts), ['error'], JSON.stringify(answer).slice(0, 100));
      }
    });
  }
});
