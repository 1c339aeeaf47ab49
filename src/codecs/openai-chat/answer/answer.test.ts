import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import {
  answers,
  usage as anyUsage,
  settled,
  withoutRawReasons,
} from '../../../../test/support/formats/arbitrary.ts';
import { fc } from '../../../../test/support/machine/properties.ts';
import { splitFrames } from '../../../lib/streams/sse.ts';
import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type { AnswerContext, EndReason, StreamPart } from '../../model/stream-part.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { noUsage } from '../../wire-format.ts';
import { carriedIn } from '../carried-details.ts';
import { detailsIn } from '../reasoning-details.ts';
import { assemble, encodeFramesOf } from './assemble.ts';
import { reader } from './reader.ts';
import { writer } from './writer.ts';

const context: AnswerContext = {
  id: 'req_0m1',
  model: 'asked/model',
  startedAt: 1_790_000_000_999,
  includeUsage: true,
  request: {},
};

function written(parts: readonly StreamPart[], options: Partial<AnswerContext> = {}): string {
  const target = writer({ ...context, ...options });
  return encodeFrames(parts.flatMap((part) => target.push(part)));
}

function readBack(stream: Buffer | string): StreamPart[] {
  const source = reader();
  const { frames } = splitFrames(Buffer.concat([Buffer.from(stream), Buffer.from('\n\n')]));
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
}

const chunksOf = (stream: string): JsonObject[] =>
  splitFrames(Buffer.from(stream))
    .frames.filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data));

/** An upstream's stream of these choices' fields. */
const sse = (...chunks: object[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify({ id: 'up_1', model: 'up', ...chunk })}\n\n`).join('');
const delta = (value: object, rest: object = {}) =>
  sse({ choices: [{ index: 0, delta: value, finish_reason: null, ...rest }] });
const finish = (reason: string, rest: object = {}) =>
  sse({ choices: [{ index: 0, delta: {}, finish_reason: reason }], ...rest });
const calls = (...deltas: object[]) => delta({ tool_calls: deltas });
const DONE = 'data: [DONE]\n\n';

/** Calls of an answer as what a client makes of them: their ids, names and whole inputs. */
function callsIn(parts: readonly StreamPart[]): [string, string, string][] {
  return parts
    .filter((part) => part.type === 'tool-call-start')
    .map(({ block, id, name }) => {
      const input = parts.map((part) =>
        part.type === 'tool-call-delta' && part.block === block ? part.text : '',
      );
      return [id, name, input.join('')];
    });
}
const textIn = (parts: readonly StreamPart[], type: StreamPart['type']) =>
  parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
const endOf = (parts: readonly StreamPart[]) => parts.at(-1);
const reasonOf = (parts: readonly StreamPart[]) => {
  const end = endOf(parts);
  return end?.type === 'message-end' ? end.reason : end?.type;
};

/** Blocks are numbered, started and ended once, and nothing comes outside of them or after the end. */
function assertBalanced(parts: readonly StreamPart[]): void {
  const open = new Set<number>();
  let started = 0;
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    assert.equal(part.type === 'message-end' || part.type === 'error', last, 'one end, at the end');
    assert.equal(part.type === 'message-start', index === 0 && part.type !== 'error');
    if (!('block' in part) || part.type === 'citation' || part.type === 'native') continue;
    if (part.type.endsWith('-start')) {
      assert.equal(part.block, started);
      started += 1;
      open.add(part.block);
    } else assert.ok(open.has(part.block), `${part.type} of a block that is not open`);
    if (part.type.endsWith('-end')) open.delete(part.block);
  }
  if (endOf(parts)?.type === 'message-end') assert.deepEqual([...open], []);
}

/** What this format can say of an answer: neighbouring blocks of one kind are one, and nothing tells a summary. */
function expressible(parts: readonly StreamPart[]): StreamPart[] {
  const result: StreamPart[] = [];
  const blocks = new Map<number, number>();
  for (const part of settled(parts)) {
    if (part.type === 'message-start') result.push({ ...part, id: 'chatcmpl-0m1', model: context.model });
    else if (!('block' in part)) result.push(part);
    else {
      const before = result.at(-1);
      const kind = part.type.replace('-start', '');
      if (kind !== part.type && kind !== 'tool-call' && before?.type === `${kind}-end` && 'block' in before) {
        result.pop();
        blocks.set(part.block, before.block);
        continue;
      }
      if (kind !== part.type) blocks.set(part.block, new Set(blocks.values()).size);
      const block = blocks.get(part.block) ?? 0;
      if (part.type === 'reasoning-start') result.push({ ...part, block, summary: false });
      else result.push({ ...part, block });
    }
  }
  return settled(result);
}

/** A part with the encrypted reasoning that a client would send back in it. */
function unpacked(part: StreamPart): StreamPart {
  if (part.type !== 'reasoning-end' || part.encrypted === null) return part;
  const [carried] = carriedIn({ reasoning_details: detailsIn(part.encrypted) }, new Set()).get(null) ?? [];
  return { ...part, encrypted: carried?.encrypted ?? part.encrypted };
}

/** Two reasonings are two paragraphs here, so that only answers with one are read as they were written. */
const plainAnswers = answers('anthropic-messages').filter(
  (parts) => parts.filter(({ type }) => type === 'reasoning-start').length < 2,
);
const interleaved = answers('openai-responses', { interleave: true });

describe('any chat stream', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(plainAnswers, (parts) => {
        const read = readBack(written(parts));
        assertBalanced(read);
        assert.deepEqual(settled(withoutRawReasons(read)).map(unpacked), expressible(parts));
      }),
    );
  });

  it('loses nothing if its blocks are open at the same time', () => {
    fc.assert(
      fc.property(interleaved, (parts) => {
        const read = readBack(written(parts));
        assertBalanced(read);
        const [before, after] = [callsIn(parts), callsIn(read)];
        assert.deepEqual(after, before);
        const text = (all: readonly StreamPart[], type: StreamPart['type']) => textIn(all, type);
        assert.equal(text(read, 'text-delta'), text(parts, 'text-delta'));
        assert.equal(text(read, 'refusal-delta'), text(parts, 'refusal-delta'));
        assert.equal(
          text(read, 'reasoning-delta').replaceAll('\n\n', ''),
          text(parts, 'reasoning-delta').replaceAll('\n\n', ''),
        );
      }),
    );
  });

  it('begins with its role, numbers its calls, and ends once', () => {
    fc.assert(
      fc.property(interleaved, fc.boolean(), (parts, includeUsage) => {
        const stream = written(parts, { includeUsage });
        assert.ok(stream.endsWith(DONE));
        const chunks = chunksOf(stream);
        const choices = chunks.flatMap((chunk) => listOf(chunk['choices']).map(objectOf));
        assert.equal(objectOf(choices[0]?.['delta'])['role'], 'assistant');
        assert.deepEqual([...new Set(chunks.map(({ id }) => id))], ['chatcmpl-0m1']);
        assert.deepEqual([...new Set(chunks.map(({ model }) => model))], ['asked/model']);
        assert.deepEqual([...new Set(chunks.map(({ created }) => created))], [1_790_000_000]);
        const finished = choices.filter((choice) => choice['finish_reason'] !== null);
        assert.deepEqual(finished, choices.slice(-1));
        assert.equal(
          chunks.filter((chunk) => listOf(chunk['choices']).length === 0).length,
          includeUsage ? 1 : 0,
        );
        assert.ok(chunks.every((chunk) => !('error' in chunk)));
        const indices = choices
          .flatMap((choice) => listOf(objectOf(choice['delta'])['tool_calls']).map(objectOf))
          .filter((call) => 'id' in call)
          .map(({ index }) => index);
        assert.deepEqual(indices, [...indices.keys()]);
      }),
    );
  });

  it('assembles into a complete answer with everything that was written, which gives the same parts', () => {
    fc.assert(
      fc.property(interleaved, (parts) => {
        const stream = written(parts);
        const whole = assemble(splitFrames(Buffer.from(stream)).frames);
        assert.ok(whole !== null);
        assert.equal(whole['object'], 'chat.completion');
        const [choice] = listOf(whole['choices']).map(objectOf);
        const message = objectOf(choice?.['message']);
        assert.equal(message['role'], 'assistant');
        assert.equal(message['content'] ?? '', textIn(parts, 'text-delta'));
        assert.equal(message['refusal'] ?? '', textIn(parts, 'refusal-delta'));
        assert.ok('refusal' in message && 'content' in message);
        const calls = listOf(message['tool_calls'])
          .map(objectOf)
          .map(({ function: called, id }) => [id, objectOf(called)['name'], objectOf(called)['arguments']]);
        assert.deepEqual(calls, callsIn(parts));
        const again = readBack(encodeFramesOf(whole));
        assertBalanced(again);
        assert.deepEqual(callsIn(again), callsIn(parts));
        assert.deepEqual(endOf(again), endOf(readBack(stream)));
      }),
    );
  });

  it('reports usage as the format does, and reads the same counts from it', () => {
    fc.assert(
      fc.property(
        anyUsage.map((counts) => ({ ...counts })),
        (usage) => {
          const end: StreamPart = {
            type: 'message-end',
            reason: 'stop',
            rawFinishReason: null,
            stopSequence: null,
            usage,
          };
          const stream = written([{ type: 'message-start', id: 'm', model: 'm', usage: null }, end]);
          const reported = objectOf(chunksOf(stream).at(-1)?.['usage']);
          const { cached_tokens, cache_write_tokens = 0 } = objectOf(reported['prompt_tokens_details']) as {
            cached_tokens: number;
            cache_write_tokens?: number;
          };
          assert.equal(reported['prompt_tokens'], usage.input + cached_tokens + cache_write_tokens);
          assert.deepEqual(endOf(readBack(stream)), { ...end, rawFinishReason: 'stop' });
        },
      ),
    );
  });
});

describe('the writer of a chat stream', () => {
  const start: StreamPart = { type: 'message-start', id: 'msg_1', model: 'm', usage: null };
  const end = (reason: EndReason): StreamPart => ({
    type: 'message-end',
    reason,
    rawFinishReason: null,
    stopSequence: null,
    usage: noUsage,
  });
  const call = (block: number, kind: 'function' | 'custom'): StreamPart => ({
    type: 'tool-call-start',
    block,
    id: `call_${block}`,
    name: 'run',
    kind,
  });
  const lastReason = (parts: StreamPart[]) =>
    objectOf(
      listOf(
        chunksOf(written(parts))
          .filter((chunk) => listOf(chunk['choices']).length > 0)
          .at(-1)?.['choices'],
      )[0],
    )['finish_reason'];

  it('has a finish reason for every end', () => {
    const expected: [EndReason, string][] = [
      ['stop', 'stop'],
      ['stop-sequence', 'stop'],
      ['length', 'length'],
      ['context-full', 'length'],
      ['policy', 'content_filter'],
      ['paused', 'stop'],
      ['other', 'stop'],
      ['tool-calls', 'stop'],
    ];
    for (const [reason, encodedReason] of expected)
      assert.equal(lastReason([start, end(reason)]), encodedReason, reason);
    const called: StreamPart[] = [
      start,
      call(0, 'function'),
      { type: 'tool-call-end', block: 0, complete: true },
    ];
    assert.equal(lastReason([...called, end('tool-calls')]), 'tool_calls');
    assert.equal(lastReason([...called, end('stop')]), 'tool_calls');
    assert.equal(lastReason([...called, end('length')]), 'length');
  });

  it('gives a call without arguments an empty object, because clients parse it', () => {
    const parts: StreamPart[] = [
      start,
      call(0, 'function'),
      { type: 'tool-call-end', block: 0, complete: true },
      call(1, 'custom'),
      { type: 'tool-call-end', block: 1, complete: true },
      call(2, 'function'),
      { type: 'tool-call-end', block: 2, complete: false },
      end('length'),
    ];
    assert.deepEqual(callsIn(readBack(written(parts))), [
      ['call_0', 'run', '{}'],
      ['call_1', 'run', ''],
      ['call_2', 'run', ''],
    ]);
  });

  it('puts an empty line between two reasoning texts', () => {
    const parts = [0, 1].flatMap((block): StreamPart[] => [
      { type: 'reasoning-start', block, summary: true },
      { type: 'reasoning-delta', block, text: 'Well' },
      { type: 'reasoning-delta', block, text: '.' },
      { type: 'reasoning-end', block, encrypted: null },
    ]);
    assert.equal(
      textIn(readBack(written([start, ...parts, end('stop')])), 'reasoning-delta'),
      'Well.\n\nWell.',
    );
  });

  it('answers a client of functions with a function call', () => {
    const parts: StreamPart[] = [
      start,
      call(0, 'function'),
      { type: 'tool-call-delta', block: 0, text: '{"a":1}' },
      { type: 'tool-call-end', block: 0, complete: true },
      call(1, 'function'),
      { type: 'tool-call-end', block: 1, complete: true },
      end('tool-calls'),
    ];
    const stream = written(parts, { request: { functions: [] } });
    const [choice] = listOf(assemble(splitFrames(Buffer.from(stream)).frames)?.['choices']).map(objectOf);
    assert.equal(choice?.['finish_reason'], 'function_call');
    assert.deepEqual(objectOf(choice?.['message'])['function_call'], { name: 'run', arguments: '{"a":1}' });
    assert.equal('tool_calls' in objectOf(choice?.['message']), false);
  });

  it('gives a citation its position in the whole content, and leaves out one without a URL', () => {
    const text = (block: number, words: string): StreamPart[] => [
      { type: 'text-start', block },
      { type: 'text-delta', block, text: words },
    ];
    const cite = (block: number, url: string | null, range: [number, number] | null): StreamPart => ({
      type: 'citation',
      block,
      citation: {
        url,
        title: 'T',
        text: null,
        start: range?.[0] ?? null,
        end: range?.[1] ?? null,
        native: { format: 'anthropic-messages', value: {} },
      },
    });
    const parts = [
      start,
      ...text(0, 'First. '),
      { type: 'text-end', block: 0 } as const,
      ...text(1, 'Second.'),
      cite(1, 'https://a.test', [0, 6]),
      cite(1, 'https://b.test', null),
      cite(1, null, null),
      { type: 'text-end', block: 1 } as const,
      end('stop'),
    ];
    const whole = assemble(splitFrames(Buffer.from(written(parts))).frames);
    const { annotations } = objectOf(objectOf(listOf(whole?.['choices'])[0])['message']);
    assert.deepEqual(
      listOf(annotations).map((one) => {
        const { end_index, start_index, url } = objectOf(objectOf(one)['url_citation']);
        return [url, start_index, end_index];
      }),
      [
        ['https://a.test', 7, 13],
        ['https://b.test', 7, 14],
      ],
    );
    const read = readBack(written(parts)).flatMap((part) =>
      part.type === 'citation' ? [part.citation] : [],
    );
    assert.deepEqual(
      read.map(({ start: from, url }) => [url, from]),
      [
        ['https://a.test', 7],
        ['https://b.test', 7],
      ],
    );
  });

  it('writes what the official SDK can read', async () => {
    const parts: StreamPart[] = [
      start,
      { type: 'reasoning-start', block: 0, summary: false },
      { type: 'reasoning-delta', block: 0, text: 'Hm.' },
      { type: 'reasoning-end', block: 0, encrypted: null },
      { type: 'text-start', block: 1 },
      { type: 'text-delta', block: 1, text: 'Zwei Aufrufe für 東京.' },
      { type: 'text-end', block: 1 },
      call(2, 'function'),
      call(3, 'function'),
      { type: 'tool-call-delta', block: 3, text: '{"b":2}' },
      { type: 'tool-call-delta', block: 2, text: '{"a":1}' },
      { type: 'tool-call-end', block: 2, complete: true },
      { type: 'tool-call-end', block: 3, complete: true },
      { ...end('tool-calls'), usage: { ...noUsage, input: 5, cacheRead: 3, output: 2 } } as StreamPart,
    ];
    const client = new OpenAI({
      apiKey: 'k',
      baseURL: 'http://sdk.test',
      maxRetries: 0,
      fetch: async () => new Response(written(parts), { headers: { 'content-type': 'text/event-stream' } }),
    });
    const { choices, usage } = await client.chat.completions
      .stream({ model: 'm', messages: [], stream_options: { include_usage: true } })
      .finalChatCompletion();
    assert.equal(choices[0]?.message.content, 'Zwei Aufrufe für 東京.');
    assert.deepEqual(
      choices[0]?.message.tool_calls?.map((one) => 'function' in one && [one.id, one.function.arguments]),
      [
        ['call_2', '{"a":1}'],
        ['call_3', '{"b":2}'],
      ],
    );
    assert.deepEqual(
      [usage?.prompt_tokens, usage?.completion_tokens, usage?.prompt_tokens_details?.cached_tokens],
      [8, 2, 3],
    );
  });
});

describe('the reader of a chat stream', () => {
  it('reads every recorded fixture to closed blocks and one end', () => {
    const folder = join(import.meta.dirname, '../fixtures');
    const ends = readdirSync(folder)
      .filter((name) => /\.(?:sse|json)$/.test(name))
      .sort()
      .map((name) => {
        const bytes = readFileSync(join(folder, name));
        const stream = name.endsWith('.sse') ? bytes : encodeFramesOf(JSON.parse(bytes.toString()));
        const parts = readBack(stream);
        assertBalanced(parts);
        return [name, reasonOf(parts)];
      });
    assert.deepEqual(Object.fromEntries(ends), {
      'answer.json': 'stop',
      'citations.sse': 'stop',
      'crlf.sse': 'stop',
      'custom.sse': 'tool-calls',
      'encrypted.sse': 'tool-calls',
      'interleaved.sse': 'tool-calls',
      'mistral-usage-first.json': 'tool-calls',
      'overloaded.sse': 'error',
      'reasoning-deepseek.sse': 'stop',
      'refusal.sse': 'stop',
      'stops-context-full.sse': 'context-full',
      'stops-error.sse': 'error',
      'stops-length-in-call.sse': 'length',
      'stops-policy.sse': 'policy',
      'stops-unknown.sse': 'other',
      'text.sse': 'stop',
      'tools.sse': 'tool-calls',
      'usage-all.sse': 'stop',
    });
  });

  it('reads reasoning under each name that vendors use', () => {
    const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }];
    for (const value of [
      { reasoning_content: 'Hm.', content: null },
      { reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] },
      { reasoning_content: 'Hm.', reasoning: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.' }] },
      { content: thinking },
    ]) {
      const parts = readBack(delta(value) + delta({ content: 'So.' }) + finish('stop') + DONE);
      assertBalanced(parts);
      assert.equal(textIn(parts, 'reasoning-delta'), 'Hm.', JSON.stringify(value));
      assert.equal(textIn(parts, 'text-delta'), 'So.');
    }
  });

  const twice: [string, string, string][] = [
    ['call_a', 'read', '{"path":"a"}'],
    ['call_b', 'read', '{"path":"b"}'],
  ];
  const call = (
    index: number | undefined,
    id: string | undefined,
    name: string | undefined,
    args: unknown,
  ) => ({
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id, type: 'function' }),
    function: { ...(name === undefined ? {} : { name }), arguments: args },
  });
  const odd: [string, string, [string, string, string][]][] = [
    [
      'whole calls in one chunk',
      calls(call(0, 'call_a', 'read', '{"path":"a"}'), call(1, 'call_b', 'read', '{"path":"b"}')),
      twice,
    ],
    [
      'interleaved calls',
      calls(call(0, 'call_a', 'read', '')) +
        calls(call(1, 'call_b', 'read', '')) +
        calls(call(0, undefined, undefined, '{"path":')) +
        calls(call(1, undefined, undefined, '{"path":"b"}'), call(0, undefined, undefined, '"a"}')),
      twice,
    ],
    [
      'calls that share an index with different ids',
      calls(call(0, 'call_a', 'read', '{"path":"a"}')) + calls(call(0, 'call_b', 'read', '{"path":"b"}')),
      twice,
    ],
    [
      'calls without an index',
      calls(call(undefined, 'call_a', 'read', '{"path":"a"}')) +
        calls(call(undefined, 'call_b', 'read', '{"path":"b"}')),
      twice,
    ],
    [
      'arguments as an object',
      calls(call(0, 'call_a', 'read', { path: 'a' })) + calls(call(1, 'call_b', 'read', { path: 'b' })),
      twice,
    ],
    [
      'an id and a name on every delta',
      calls(call(0, 'call_a', 'read', '{"path"')) + calls(call(0, 'call_a', 'read', ':"a"}')),
      twice.slice(0, 1),
    ],
    [
      'a name that comes after the first arguments',
      calls(call(0, 'call_a', undefined, '{"path"')) + calls(call(0, undefined, 'read', ':"a"}')),
      twice.slice(0, 1),
    ],
    [
      'no id at all, which must differ from turn to turn',
      calls(call(0, undefined, 'read', '{"path":"a"}')) + calls(call(1, undefined, 'read', '')),
      [
        ['call_up_1_0', 'read', '{"path":"a"}'],
        ['call_up_1_1', 'read', ''],
      ],
    ],
    ['an empty list of calls', delta({ content: 'x', tool_calls: [] }), []],
    [
      'a function call of old',
      delta({ function_call: { name: 'read', arguments: '' } }) +
        delta({ function_call: { arguments: '{"path":"a"}' } }),
      [['call_up_1_0', 'read', '{"path":"a"}']],
    ],
    [
      'a custom tool',
      calls({ index: 0, id: 'call_a', type: 'custom', custom: { name: 'patch', input: '*** ' } }) +
        calls({ index: 0, custom: { input: 'Begin' } }),
      [['call_a', 'patch', '*** Begin']],
    ],
  ];
  for (const [what, stream, expected] of odd) {
    it(`assembles calls: ${what}`, () => {
      const parts = readBack(stream + finish('tool_calls') + DONE);
      assertBalanced(parts);
      assert.deepEqual(callsIn(parts), expected);
      assert.equal(reasonOf(parts), expected.length > 0 ? 'tool-calls' : 'stop');
    });
  }

  it('accepts arguments after the finish reason', () => {
    const parts = readBack(
      calls(call(0, 'call_a', 'read', '')) +
        finish('tool_calls') +
        calls(call(0, undefined, undefined, '{"path":"a"}')) +
        DONE,
    );
    assertBalanced(parts);
    assert.deepEqual(callsIn(parts), twice.slice(0, 1));
  });

  it('ends a call when the next one starts, if its arguments are complete', () => {
    const parts = readBack(
      calls(call(0, 'call_a', 'read', '{"path":"a"}')) + calls(call(1, 'call_b', 'read', '{"path":"b"}')),
    );
    assert.deepEqual(
      parts.map(({ type }) => type),
      [
        'message-start',
        'tool-call-start',
        'tool-call-delta',
        'tool-call-end',
        'tool-call-start',
        'tool-call-delta',
        'error',
      ],
    );
  });

  it('names the call that the token limit cut off', () => {
    const parts = readBack(
      calls(call(0, 'call_a', 'read', '{"path":"a"}')) +
        calls(call(1, 'call_b', 'read', '{"path":')) +
        finish('length') +
        DONE,
    );
    const ends = parts.flatMap((part) => (part.type === 'tool-call-end' ? [part.complete] : []));
    assert.deepEqual([ends, reasonOf(parts)], [[true, false], 'length']);
  });

  it('ends with tool calls if there are some, whatever the finish reason says', () => {
    const called = calls(call(0, 'call_a', 'read', '{}'));
    assert.equal(reasonOf(readBack(called + finish('stop') + DONE)), 'tool-calls');
    assert.equal(reasonOf(readBack(delta({ content: 'x' }) + finish('tool_calls') + DONE)), 'stop');
  });

  it('has an end reason for every finish reason', () => {
    for (const [rawReason, reason] of [
      ['stop', 'stop'],
      ['length', 'length'],
      ['content_filter', 'policy'],
      ['eos', 'stop'],
      ['model_length', 'context-full'],
      ['insufficient_system_resource', 'other'],
      ['error', 'error'],
    ] as const)
      assert.equal(reasonOf(readBack(delta({ content: 'x' }) + finish(rawReason) + DONE)), reason, rawReason);
  });

  const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const counted = { ...noUsage, input: 10, output: 4 };
  const places: [string, string][] = [
    ['in a chunk without choices', finish('stop') + sse({ choices: [], usage }) + DONE],
    ['beside the finish reason', finish('stop', { usage }) + DONE],
    [
      'in every chunk, growing',
      sse({ choices: [], usage: { ...usage, prompt_tokens: 1 } }) + finish('stop', { usage }) + DONE,
    ],
    ['after [DONE]', finish('stop') + DONE + sse({ choices: [], usage })],
    ['in x_groq', finish('stop', { x_groq: { usage } }) + DONE],
    ['in the choice', sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }) + DONE],
    ['and no [DONE]', finish('stop') + sse({ choices: [], usage })],
    ['before a null', finish('stop', { usage }) + sse({ choices: [], usage: null }) + DONE],
  ];
  for (const [where, rest] of places) {
    it(`reads usage ${where}`, () => {
      const parts = readBack(delta({ role: 'assistant', content: 'x' }) + rest);
      assertBalanced(parts);
      assert.deepEqual(endOf(parts), {
        type: 'message-end',
        reason: 'stop',
        rawFinishReason: 'stop',
        stopSequence: null,
        usage: counted,
      });
    });
  }

  it('ends at [DONE] without waiting if it has the usage', () => {
    const source = reader();
    const { frames } = splitFrames(Buffer.from(delta({ content: 'x' }) + finish('stop', { usage }) + DONE));
    const types = frames.map((frame) => source.push(frame).at(-1)?.type);
    assert.deepEqual(types.at(-1), 'message-end');
    assert.deepEqual(source.end(), []);
  });

  it('ignores everything after [DONE]', () => {
    const parts = readBack(
      delta({ content: 'x' }) + finish('stop') + DONE + delta({ content: 'noise' }) + DONE,
    );
    assertBalanced(parts);
    assert.equal(textIn(parts, 'text-delta'), 'x');
  });

  it('continues after a chunk that is not JSON, and after comments', () => {
    const noise =
      'data: {"choices":[{"index":0,\n\n: hello\n\ndata:\n\ndata: 5\n\ndata: {"choices":null}\n\n';
    const parts = readBack(delta({ content: 'a' }) + noise + delta({ content: 'b' }) + finish('stop') + DONE);
    assertBalanced(parts);
    assert.equal(textIn(parts, 'text-delta'), 'ab');
  });

  it('reads only the first choice', () => {
    const both = sse({
      choices: [
        { index: 1, delta: { content: 'other' } },
        { index: 0, delta: { content: 'first' } },
      ],
    });
    const parts = readBack(
      both + sse({ choices: [{ index: 1, finish_reason: 'stop' }] }) + finish('length') + DONE,
    );
    assert.deepEqual([textIn(parts, 'text-delta'), reasonOf(parts)], ['first', 'length']);
  });

  const broken: [string, string, RegExp][] = [
    ['that was cut', delta({ content: 'half' }), /without its final event/],
    ['without any frame', '', /without its final event/],
    ['of [DONE] alone', sse({ choices: [] }) + DONE, /empty/],
    [
      'with an error in it',
      delta({ content: 'x' }) + sse({ error: { message: 'overloaded', code: 503 } }),
      /overloaded/,
    ],
    ['with an event named error', 'event: error\ndata: it broke\n\n', /it broke/],
    [
      'whose error stands beside choices',
      sse({ error: { message: 'no' }, choices: [{ finish_reason: 'error' }] }),
      /no/,
    ],
    [
      'that calls a tool without a name',
      calls(call(0, 'call_a', undefined, '{"a":1}')) + finish('tool_calls') + DONE,
      /without naming/,
    ],
  ];
  for (const [what, stream, message] of broken) {
    it(`fails and does not end with a stream ${what}`, () => {
      const parts = readBack(stream);
      assertBalanced(parts);
      const end = endOf(parts);
      assert.ok(end?.type === 'error');
      assert.match(end.error.message, message);
      assert.ok(end.error.status >= 500);
    });
  }

  it('keeps a citation with its text', () => {
    const annotation = {
      type: 'url_citation',
      url_citation: { url: 'https://a.test', title: 'A', start_index: 1, end_index: 3 },
    };
    const parts = readBack(
      delta({ content: 'a text' }) + delta({ annotations: [annotation] }) + finish('stop') + DONE,
    );
    const citation = parts.find((part) => part.type === 'citation');
    assert.deepEqual(
      [citation?.block, citation?.citation.url, citation?.citation.start, citation?.citation.native.value],
      [0, 'https://a.test', 1, annotation],
    );
  });

  it('gives closed blocks for any frames, and never throws', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const piece = fc.oneof(value, fc.constantFrom<unknown>('', null, 'a', '{}', 0, 1));
    const field = (...names: string[]) =>
      fc.dictionary(fc.constantFrom(...names), piece, { maxKeys: names.length });
    const toolCall = fc
      .record({ base: field('index', 'id', 'type'), fn: field('name', 'arguments', 'input') })
      .chain(({ base, fn }) =>
        fc.constantFrom({ ...base, function: fn }, { ...base, custom: fn }, { ...base, ...fn }),
      );
    const anyDelta = fc
      .record({
        base: field('role', 'content', 'refusal', 'reasoning_content', 'reasoning_details', 'annotations'),
        tool_calls: fc.oneof(value, fc.array(toolCall, { maxLength: 3 })),
        legacy: field('function_call'),
      })
      .map(({ base, legacy, tool_calls }) => ({ ...base, ...legacy, tool_calls }));
    const chunk = fc.record({
      choices: fc.oneof(
        value,
        fc.array(
          fc.record({
            index: fc.constantFrom<unknown>(0, 1, null),
            delta: fc.oneof(value, anyDelta),
            finish_reason: fc.constantFrom<unknown>(null, 'stop', 'tool_calls', 5, {}),
          }),
          { maxLength: 2 },
        ),
      ),
      usage: piece,
    });
    const frame = fc.oneof(
      { weight: 8, arbitrary: chunk.map((one) => JSON.stringify(one)) },
      { weight: 1, arbitrary: fc.constantFrom('[DONE]', '', 'x', '{"error":{}}', '[]', 'null') },
    );
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), (datas) => {
        const source = reader();
        const parts = [...datas.flatMap((data) => source.push({ event: '', data })), ...source.end()];
        assertBalanced(parts);
        assert.deepEqual(source.end(), []);
      }),
      { numRuns: 400 },
    );
  });
});
