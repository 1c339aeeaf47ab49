import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/codecs/json/values.ts';
import type { StreamPart } from '../../src/codecs/model/stream-part.ts';
import type { Frame } from '../../src/lib/streams/sse.ts';
import { conversationCodec } from '../../src/proxy/translate/request.ts';
import { type Asked, askedWith, partsOf, writtenFor } from '../support/formats/answer-chain.ts';
import { type Conversing, conversing } from '../support/formats/formats-matrix.ts';

/**
 * No call of a tool is lost, whatever way an upstream writes it, and each reaches the client as the model wrote it. A
 * format whose arguments are an object has what is none as `{"raw_arguments": "…"}`.
 */
interface Row {
  what: string;
  /** Whole answers, or the frames of streams. */
  whole?: JsonObject;
  stream?: readonly (JsonObject | string)[];
  /** The tools called and their arguments as the model wrote them. */
  calls: readonly (readonly [name: string, input: string])[];
}

const a = ['find', '{"a":1}'] as const;
const b = ['list', '{"b":2}'] as const;
const none = ['list', ''] as const;
const broken = ['find', '{"a":"x'] as const;

const chatChunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const chatAnswer = (message: JsonObject) => ({
  id: 'c1',
  object: 'chat.completion',
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'tool_calls' },
  ],
});
const fn = ([name, text]: readonly [string, string], more: JsonObject = {}) => ({
  type: 'function',
  function: { name, arguments: text },
  ...more,
});
const chatStream = (...deltas: JsonObject[]) => [
  ...deltas.map((delta) => chatChunk(delta)),
  chatChunk({}, 'tool_calls'),
  '[DONE]',
];
const piece = (index: number | null, text: unknown, more: JsonObject = {}) => ({
  tool_calls: [{ ...(index === null ? {} : { index }), function: { arguments: text }, ...more }],
});

const chat: readonly Row[] = [
  {
    what: 'an empty "custom" beside the function',
    whole: chatAnswer({ tool_calls: [fn(a, { id: 'call_1', custom: {} })] }),
    stream: chatStream(
      { tool_calls: [fn(['find', ''], { index: 0, id: 'call_1', custom: { name: '', input: '' } })] },
      piece(0, a[1].slice(0, 3), { custom: {} }),
      piece(0, a[1].slice(3), { custom: null }),
    ),
    calls: [a],
  },
  {
    what: 'an empty "custom" beside the function, and no type',
    stream: chatStream({ tool_calls: [{ ...fn(a), type: null, index: 0, id: 'call_1', custom: {} }] }),
    calls: [a],
  },
  {
    what: 'name and arguments beside the type',
    whole: chatAnswer({ tool_calls: [{ id: 'call_1', name: 'find', arguments: a[1] }] }),
    stream: chatStream(
      { tool_calls: [{ index: 0, id: 'call_1', name: 'find', arguments: a[1].slice(0, 4) }] },
      { tool_calls: [{ index: 0, arguments: a[1].slice(4) }] },
    ),
    calls: [a],
  },
  {
    what: 'an object in the place of the list',
    whole: chatAnswer({ tool_calls: fn(a, { id: 'call_1' }) }),
    stream: chatStream({ tool_calls: fn(a, { index: 0, id: 'call_1' }) }),
    calls: [a],
  },
  {
    what: 'another id in every piece',
    stream: chatStream(
      { tool_calls: [fn(['find', ''], { index: 0, id: 'call_1' })] },
      piece(0, a[1].slice(0, 3), { id: 'call_2' }),
      piece(0, a[1].slice(3), { id: 'call_3' }),
    ),
    calls: [a],
  },
  {
    what: 'one index and no ids',
    stream: chatStream(
      { tool_calls: [fn(none, { index: 0 }), fn(a, { index: 0 })] },
      { tool_calls: [fn(b, { index: 0 })] },
    ),
    calls: [none, a, b],
  },
  {
    what: 'one index and no ids in a whole answer',
    whole: chatAnswer({ tool_calls: [fn(none, { index: 0 }), fn(none, { index: 0 }), fn(a, { index: 0 })] }),
    calls: [none, none, a],
  },
  {
    what: 'arguments that are null or an object',
    whole: chatAnswer({
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'list', arguments: null } },
        { id: 'call_2', type: 'function', function: { name: 'find', arguments: { a: 1 } } },
      ],
    }),
    calls: [none, a],
  },
  {
    what: 'the function call of old',
    whole: chatAnswer({ function_call: { name: 'find', arguments: a[1] } }),
    stream: chatStream(
      { function_call: { name: 'find', arguments: '' } },
      { function_call: { arguments: a[1] } },
    ),
    calls: [a],
  },
  {
    what: 'the same call in the new and the old way',
    whole: chatAnswer({
      tool_calls: [fn(a, { id: 'call_1' })],
      function_call: { name: 'find', arguments: a[1] },
    }),
    stream: chatStream({
      tool_calls: [fn(a, { index: 0, id: 'call_1' })],
      function_call: { name: 'find', arguments: a[1] },
    }),
    calls: [a],
  },
  {
    what: 'a call after the finish reason',
    stream: [chatChunk({}, 'stop'), chatChunk({ tool_calls: [fn(a, { index: 0, id: 'call_1' })] }), '[DONE]'],
    calls: [a],
  },
  {
    what: 'broken arguments',
    whole: chatAnswer({ tool_calls: [fn(broken, { id: 'call_1' }), fn(b, { id: 'call_2' })] }),
    stream: chatStream({
      tool_calls: [fn(broken, { index: 0, id: 'call_1' }), fn(b, { index: 1, id: 'call_2' })],
    }),
    calls: [broken, b],
  },
];

const item = ([name, text]: readonly [string, unknown], id = '1') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name,
  arguments: text,
  status: 'completed',
});
const response = (output: readonly JsonObject[], status = 'completed') => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status,
  output,
});
const completed = (output: readonly JsonObject[] = []) => ({
  type: 'response.completed',
  response: response(output),
});
const added = (one: JsonObject, at: JsonObject = {}) => ({
  type: 'response.output_item.added',
  ...at,
  item: { ...one, arguments: '', status: 'in_progress' },
});
const done = (one: JsonObject, at: JsonObject = {}) => ({
  type: 'response.output_item.done',
  ...at,
  item: one,
});
const grown = (delta: string, at: JsonObject = {}) => ({
  type: 'response.function_call_arguments.delta',
  ...at,
  delta,
});

const responses: readonly Row[] = [
  {
    what: 'no index on any event',
    stream: [
      added(item(a)),
      grown(a[1], { item_id: 'fc_1' }),
      done(item(a)),
      added(item(b, '2')),
      grown(b[1], { item_id: 'fc_2' }),
      done(item(b, '2')),
      completed(),
    ],
    calls: [a, b],
  },
  {
    what: 'no index and no id on any event',
    stream: [
      added({ ...item(a), id: null }),
      grown(a[1]),
      done({ ...item(a), id: null }),
      added({ ...item(b, '2'), id: null }),
      grown(b[1]),
      done({ ...item(b, '2'), id: null }),
      completed(),
    ],
    calls: [a, b],
  },
  {
    what: 'one index on all events',
    stream: [
      added(item(a), { output_index: 0 }),
      grown(a[1], { output_index: 0 }),
      done(item(a), { output_index: 0 }),
      added(item(b, '2'), { output_index: 0 }),
      grown(b[1], { output_index: 0 }),
      done(item(b, '2'), { output_index: 0 }),
      completed([item(a), item(b, '2')]),
    ],
    calls: [a, b],
  },
  {
    what: 'one index on items that are not announced',
    stream: [done(item(a), { output_index: 0 }), done(item(b, '2'), { output_index: 0 }), completed()],
    calls: [a, b],
  },
  {
    what: 'another id on every event of an item',
    stream: [
      added(item(a), { output_index: 0 }),
      grown(a[1], { output_index: 0, item_id: 'fc_7' }),
      done({ ...item(a), id: 'fc_8' }, { output_index: 0 }),
      completed([{ ...item(a), id: 'fc_9' }]),
    ],
    calls: [a],
  },
  {
    what: 'arguments as an object',
    whole: response([item(['find', { a: 1 }])]),
    stream: [done(item(['find', { a: 1 }]), { output_index: 0 }), completed()],
    calls: [a],
  },
  {
    what: 'broken arguments',
    whole: response([item(broken), item(b, '2')]),
    stream: [
      added(item(broken), { output_index: 0 }),
      grown(broken[1], { output_index: 0 }),
      done(item(broken), { output_index: 0 }),
      done(item(b, '2'), { output_index: 1 }),
      completed(),
    ],
    calls: [broken, b],
  },
];

const use = ([name, input]: readonly [string, unknown], id = '1') => ({
  type: 'tool_use',
  id: `toolu_${id}`,
  name,
  input,
});
const message = (content: readonly JsonObject[], stop_reason = 'tool_use') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason,
  stop_sequence: null,
});
const messagesStream = (events: readonly JsonObject[], stop_reason = 'tool_use') => [
  { type: 'message_start', message: message([], '') },
  ...events,
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null } },
  { type: 'message_stop' },
];
const start = (content_block: JsonObject, at: JsonObject) => ({
  type: 'content_block_start',
  ...at,
  content_block,
});
const json = (partial_json: string, at: JsonObject) => ({
  type: 'content_block_delta',
  ...at,
  delta: { type: 'input_json_delta', partial_json },
});
const stop = (at: JsonObject) => ({ type: 'content_block_stop', ...at });
const [first, second] = [{ index: 0 }, { index: 1 }];

const messages: readonly Row[] = [
  {
    what: 'input as a text',
    whole: message([use(a)]),
    stream: messagesStream([start(use(a), first), stop(first)]),
    calls: [a],
  },
  {
    what: 'no index',
    stream: messagesStream([
      start(use(['find', {}]), {}),
      json(a[1], {}),
      stop({}),
      start(use(['list', {}], '2'), {}),
      json(b[1], {}),
      stop({}),
    ]),
    calls: [a, b],
  },
  {
    what: 'one index for two blocks that do not stop',
    stream: messagesStream([
      start(use(['find', {}]), first),
      json(a[1], first),
      start(use(['list', {}], '2'), first),
      json(b[1], first),
    ]),
    calls: [a, b],
  },
  {
    what: 'no ids',
    whole: message([
      { type: 'tool_use', name: 'find', input: { a: 1 } },
      { type: 'tool_use', name: 'list', input: { b: 2 } },
    ]),
    calls: [a, b],
  },
  {
    what: 'broken input',
    stream: messagesStream([
      start(use(['find', {}]), first),
      json(broken[1], first),
      stop(first),
      start(use(['list', {}], '2'), second),
      json(b[1], second),
      stop(second),
    ]),
    calls: [broken, b],
  },
  {
    what: 'broken input at the end',
    stream: messagesStream([start(use(['find', {}]), first), json(broken[1], first), stop(first)]),
    calls: [broken],
  },
];

const candidate = (parts: readonly JsonObject[], finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  modelVersion: 'm',
  responseId: 'g1',
});
const call = (name: string, args: unknown) => ({ functionCall: { name, args } });

const gemini: readonly Row[] = [
  {
    what: 'text in the same part',
    whole: candidate([{ text: 'I look.', ...call('find', { a: 1 }) }], 'STOP'),
    stream: [candidate([{ text: 'I look.', ...call('find', { a: 1 }) }]), candidate([], 'STOP')],
    calls: [a],
  },
  {
    what: 'arguments as a text, null or left out',
    whole: candidate([call('find', a[1]), call('list', null), { functionCall: { name: 'list' } }], 'STOP'),
    calls: [a, none, none],
  },
  {
    what: 'pieces whose last one does not come',
    stream: [
      candidate([{ functionCall: { name: 'find', willContinue: true } }]),
      candidate([
        { functionCall: { partialArgs: [{ jsonPath: '$.a', numberValue: 1 }], willContinue: true } },
      ]),
      candidate([], 'STOP'),
    ],
    calls: [a],
  },
  {
    what: 'a call after the reason of the end',
    stream: [candidate([{ text: 'I look.' }], 'STOP'), candidate([call('find', { a: 1 })])],
    calls: [a],
  },
  {
    what: 'broken arguments',
    whole: candidate([call(...broken), call('list', { b: 2 })], 'STOP'),
    calls: [broken, b],
  },
];

const line = (message: JsonObject, done = false) => ({
  model: 'm',
  created_at: '2026-01-01T00:00:00Z',
  message: { role: 'assistant', content: '', ...message },
  done,
  ...(done ? { done_reason: 'stop' } : {}),
});
const native = (name: string, args: unknown) => ({ function: { name, arguments: args } });

const ollama: readonly Row[] = [
  {
    what: 'an object in the place of the list',
    whole: line({ tool_calls: native('find', { a: 1 }) }, true),
    stream: [line({ tool_calls: native('find', { a: 1 }) }), line({}, true)],
    calls: [a],
  },
  {
    what: 'name and arguments without "function"',
    stream: [line({ tool_calls: [{ name: 'find', arguments: { a: 1 } }] }), line({}, true)],
    calls: [a],
  },
  {
    what: 'calls in the last line, with arguments as a text, null or left out',
    stream: [
      line(
        { tool_calls: [native('find', a[1]), native('list', null), { function: { name: 'list' } }] },
        true,
      ),
    ],
    calls: [a, none, none],
  },
  {
    what: 'broken arguments',
    stream: [line({ tool_calls: [native(...broken), native('list', { b: 2 })] }), line({}, true)],
    calls: [broken, b],
  },
];

const rows: Readonly<Partial<Record<Conversing, readonly Row[]>>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
  ollama,
};

function framesOf(format: Conversing, { stream }: Row): Frame[] {
  const { framing } = conversationCodec(format).stream;
  return (stream ?? []).map((value) => {
    const data = typeof value === 'string' ? value : JSON.stringify(value);
    const type = typeof value === 'string' ? undefined : value['type'];
    return { event: framing === 'sse' && typeof type === 'string' ? type : '', data };
  });
}

/** Calls among parts, each complete. */
function callsIn(parts: readonly StreamPart[]): [name: string, input: string][] {
  const calls = new Map<number, [string, string]>();
  for (const part of parts) {
    if (part.type === 'tool-call-start') calls.set(part.block, [part.name, '']);
    else if (part.type === 'tool-call-delta') (calls.get(part.block) ?? ['', ''])[1] += part.text;
    else if (part.type === 'tool-call-end') assert.ok(part.complete, 'nothing was cut off');
  }
  return [...calls.values()];
}

/** The arguments as a format has them. */
function shownAs(format: Conversing, streamed: boolean, text: string): string {
  const asObject =
    format === 'gemini' || format === 'ollama' || (format === 'anthropic-messages' && !streamed);
  if (text === '') return asObject || format !== 'anthropic-messages' ? '{}' : '';
  if (!asObject || text.endsWith('}')) return text;
  return JSON.stringify({ raw_arguments: text });
}

function holds(asked: Asked, frames: readonly Frame[], calls: Row['calls']): void {
  const client = asked.client as Conversing;
  const parts = partsOf(asked, frames);
  assert.deepEqual(
    callsIn(parts),
    calls.map((one) => [...one]),
  );
  const end = parts.at(-1);
  assert.ok(end?.type === 'message-end' && end.reason === 'tool-calls', JSON.stringify(end));
  const { text, whole } = writtenFor(asked, parts);
  assert.ok(whole !== null, 'a whole answer is no failure');
  if (client === 'openai-completions') {
    for (const [name] of calls) assert.ok(text.includes(name), text);
    return;
  }
  const { conversation, stream } = conversationCodec(client);
  for (const streamed of [true, false]) {
    const reader = conversation.reader();
    const read = streamed ? stream.split(Buffer.from(text)).frames : stream.framesOf(whole);
    const shown = callsIn([...read.flatMap((frame) => reader.push(frame)), ...reader.end()]);
    const wanted: [string, string][] = calls.map(([name, input]) => [name, shownAs(client, streamed, input)]);
    const isEmpty = ([, input]: readonly string[]) => input === '' || input === '{}';
    assert.deepEqual(
      shown.filter((one) => !isEmpty(one)),
      wanted.filter((one) => !isEmpty(one)),
    );
    assert.deepEqual(
      // One that has no arguments may still get some, while others are told.
      shown.map(([name]) => name).sort(),
      wanted.map(([name]) => name).sort(),
    );
  }
}

for (const [from, list] of Object.entries(rows) as [Conversing, readonly Row[]][]) {
  describe(`a call of ${from}`, () => {
    for (const row of list) {
      it(`with ${row.what} reaches every client`, () => {
        for (const to of conversing.filter((format) => format !== from)) {
          const asked = askedWith(to, from, []);
          if (row.whole !== undefined)
            holds(asked, conversationCodec(from).stream.framesOf(row.whole), row.calls);
          if (row.stream !== undefined) holds(asked, framesOf(from, row), row.calls);
        }
      });
    }
  });
}

it('a custom call with an empty "function" beside it stays one', () => {
  const custom = { name: 'list', input: 'free' };
  const one = { id: 'call_1', type: 'custom', custom, function: {} };
  const stream = chatStream({ tool_calls: [{ ...one, index: 0 }] });
  const parts = partsOf(
    askedWith('openai-responses', 'openai-chat', []),
    framesOf('openai-chat', { what: '', stream, calls: [] }),
  );
  const start = parts.find((part) => part.type === 'tool-call-start');
  assert.ok(start?.type === 'tool-call-start' && start.kind === 'custom');
  assert.deepEqual(callsIn(parts), [['list', 'free']]);
});

describe('a call that cannot be translated', () => {
  const nameless: readonly [Conversing, readonly (JsonObject | string)[]][] = [
    ['openai-chat', chatStream({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: {} }] })],
    ['openai-chat', chatStream(piece(0, a[1]))],
    ['openai-responses', [done(item(['', a[1]]), { output_index: 0 }), completed()]],
    ['openai-responses', [grown(a[1], { output_index: 0, item_id: 'fc_1' }), completed()]],
    ['anthropic-messages', messagesStream([start(use(['', {}]), first), json(a[1], first), stop(first)])],
    ['anthropic-messages', messagesStream([json(a[1], first), stop(first)])],
    ['gemini', [candidate([{ functionCall: { id: 'call_1' } }]), candidate([], 'STOP')]],
    ['gemini', [candidate([{ functionCall: { args: { a: 1 } } }], 'STOP')]],
    ['ollama', [line({ tool_calls: [{ function: { arguments: { a: 1 } } }] }), line({}, true)]],
  ];
  for (const [from, stream] of nameless) {
    it(`is a failure of the upstream and no answer without calls: ${JSON.stringify(stream[0]).slice(0, 120)}`, () => {
      const parts = partsOf(askedWith('gemini', from, []), framesOf(from, { what: '', stream, calls: [] }));
      const end = parts.at(-1);
      assert.ok(end?.type === 'error' && end.error.status === 502, JSON.stringify(parts));
      assert.match(end.error.message, /tool/);
    });
  }
});

describe('a truncated call', () => {
  const cut: readonly [Conversing, readonly (JsonObject | string)[]][] = [
    [
      'openai-chat',
      [
        chatChunk({ tool_calls: [fn(broken, { index: 0, id: 'call_1' })] }),
        chatChunk({}, 'length'),
        '[DONE]',
      ],
    ],
    [
      'anthropic-messages',
      messagesStream([start(use(['find', {}]), first), json(broken[1], first), stop(first)], 'max_tokens'),
    ],
    [
      'openai-responses',
      [
        added(item(broken), { output_index: 0 }),
        grown(broken[1], { output_index: 0 }),
        {
          type: 'response.incomplete',
          response: { ...response([], 'incomplete'), incomplete_details: { reason: 'max_output_tokens' } },
        },
      ],
    ],
    [
      'gemini',
      [candidate([{ functionCall: { name: 'find', willContinue: true } }]), candidate([], 'MAX_TOKENS')],
    ],
  ];
  for (const [from, stream] of cut) {
    it(`of ${from} is reported as truncated`, () => {
      for (const to of conversing.filter((format) => format !== from)) {
        const asked = askedWith(to, from, []);
        const parts = partsOf(asked, framesOf(from, { what: '', stream, calls: [] }));
        const last = parts.findLast((part) => part.type === 'tool-call-end');
        assert.equal(last?.type === 'tool-call-end' && last.complete, false);
        const { text, whole } = writtenFor(asked, parts);
        assert.ok(whole !== null);
        assert.match(text, /"(?:length|max_tokens|max_output_tokens|MAX_TOKENS)"/);
      }
    });
  }
});
