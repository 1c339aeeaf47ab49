import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { refused, translated, translating } from '../../../test/support/formats/translating.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import {
  type Conversation,
  emptyConversation,
  type FunctionTool,
  type Message,
} from '../model/conversation.ts';
import type { EndReason, StreamPart } from '../model/stream-part.ts';
import { noUsage } from '../wire-format.ts';
import { encodeLines } from './answer/json-lines.ts';
import { reader } from './answer/reader.ts';
import { stream } from './answer/stream.ts';
import { writer } from './answer/writer.ts';
import { ollama } from './codec.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';

const [own, chat, messages] = (['ollama', 'openai-chat', 'anthropic-messages'] as const).map(translating);
assert.ok(own && chat && messages);

const user = { role: 'user', content: 'Hi' };
const decoded = (rest: JsonObject) => decodeRequest({ model: 'm', messages: [user], ...rest });
const decodedMessages = (...list: JsonObject[]) => decodeRequest({ model: 'm', messages: list }).messages;
const sent = (values: Partial<Conversation>) => encodeRequest({ ...emptyConversation('m'), ...values });
const text = (words: string) => ({ type: 'text', text: words }) as const;
const callOf = (name: string, args: unknown = {}, id?: string) => ({
  ...(id === undefined ? {} : { id }),
  function: { name, arguments: args },
});

describe('a request of an Ollama client', () => {
  it('asks for a stream by default, and always for the counts', () => {
    assert.equal(decoded({}).stream, true);
    assert.equal(decoded({ stream: false }).stream, false);
    assert.equal(decoded({}).includeUsage, true);
  });

  it('has sampling options, where 0 and less mean no token limit and a random seed', () => {
    const options = {
      num_predict: 100,
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      seed: 0,
      stop: 'END',
      frequency_penalty: 0.5,
      presence_penalty: -1,
    };
    const { frequencyPenalty, maxOutputTokens, presencePenalty, seed, stop, temperature, topK, topP } =
      decoded({
        options,
      });
    assert.deepEqual(
      { frequencyPenalty, maxOutputTokens, presencePenalty, seed, stop, temperature, topK, topP },
      {
        frequencyPenalty: 0.5,
        maxOutputTokens: 100,
        presencePenalty: -1,
        seed: 0,
        stop: ['END'],
        temperature: 0,
        topK: 40,
        topP: 0.5,
      },
    );
    const none = decoded({ options: { num_predict: -1, top_k: 0, seed: -1 } });
    assert.deepEqual([none.maxOutputTokens, none.topK, none.seed], [null, null, null]);
  });

  it('has thinking switched on or off, or an effort', () => {
    const modes = [true, false, 'high', null].map((think) => decoded({ think }).reasoning);
    assert.deepEqual(
      modes.map((reasoning) => (reasoning === null ? null : [reasoning.mode, reasoning.effort])),
      [['on', null], ['off', null], ['on', 'high'], null],
    );
  });

  it('asks for any JSON, or for JSON that matches a schema', () => {
    assert.deepEqual(decoded({ format: '' }).output, { kind: 'text' });
    assert.deepEqual(decoded({ format: 'json' }).output, { kind: 'json' });
    const { output } = decoded({ format: { type: 'object' } });
    assert.deepEqual(output.kind === 'schema' && output.schema, { type: 'object' });
  });

  it('has instructions in messages, with leading ones separate', () => {
    const system = (content: string) => ({ role: 'system', content });
    const request = { model: 'm', messages: [system('A'), system('B'), user, system('C')] };
    const { messages: turns, system: leading } = decodeRequest(request);
    assert.deepEqual(leading, [text('A'), text('B')]);
    assert.deepEqual(turns.at(-1), { role: 'system', parts: [text('C')] });
  });

  it('has images before the text of their message, each with the media type that it shows', () => {
    const [message] = decodedMessages({
      ...user,
      images: ['iVBORw0KGgo=', '/9j/4A', 'data:image/webp;base64,UklGR', 'AAAA'],
    });
    const types = message?.parts.map((part) =>
      part.type === 'image' && part.source.kind === 'data' ? part.source.mediaType : part.type,
    );
    assert.deepEqual(types, ['image/png', 'image/jpeg', 'image/webp', 'image/png', 'text']);
  });

  it('has arguments as objects, and as text from some clients', () => {
    const inputs = decodedMessages(user, {
      role: 'assistant',
      content: null,
      tool_calls: [callOf('f', { a: 1 }), callOf('f', '{"a":2}'), callOf('f', null)],
    })[1]?.parts.map((part) => part.type === 'tool-call' && part.input);
    assert.deepEqual(inputs, ['{"a":1}', '{"a":2}', '']);
  });

  const calls = [callOf('read'), callOf('list'), callOf('read'), callOf('stop', {}, 'own')];
  const pairs: [string, JsonObject[], string[]][] = [
    ['by the order of the calls', [{}, {}, {}], ['call_read_0', 'call_list_0', 'call_read_1']],
    [
      'by the name of the tool, in the order of its calls',
      [{ tool_name: 'list' }, { tool_name: 'read' }, { tool_name: 'read' }],
      ['call_list_0', 'call_read_0', 'call_read_1'],
    ],
    ['by id first', [{ tool_call_id: 'own', tool_name: 'read' }, {}], ['own', 'call_read_0']],
    ['by name if no call has the id', [{ tool_call_id: 'x', tool_name: 'list' }], ['call_list_0']],
    [
      'only if they match',
      [{ tool_call_id: 'x', tool_name: 'z' }, { tool_name: 'z' }],
      ['x', 'call_z_0_result'],
    ],
  ];
  for (const [how, results, ids] of pairs) {
    it(`pairs results with calls ${how}`, () => {
      const turns = decodedMessages(
        user,
        { role: 'assistant', content: '', tool_calls: calls },
        ...results.map((result) => ({ role: 'tool', content: 'x', ...result })),
      );
      assert.deepEqual(
        turns[2]?.parts.map((part) => part.type === 'tool-result' && part.callId),
        ids,
      );
    });
  }

  it('has the same ids for calls of earlier turns when the conversation continues', () => {
    const turn = [
      { role: 'assistant', content: '', tool_calls: [callOf('read')] },
      { role: 'tool', content: 'x', tool_name: 'read' },
    ];
    const ids = (turns: readonly Message[]) =>
      turns.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : [])),
      );
    assert.deepEqual(ids(decodedMessages(user, ...turn)), ['call_read_0']);
    assert.deepEqual(ids(decodedMessages(user, ...turn, ...turn)), ['call_read_0', 'call_read_1']);
  });

  it('has no result for a call if there is none before the next answer', () => {
    const turns = decodedMessages(
      user,
      { role: 'assistant', content: '', tool_calls: [callOf('read')] },
      user,
      { role: 'assistant', content: '', tool_calls: [callOf('read')] },
      { role: 'tool', content: 'x', tool_name: 'read' },
    );
    const [result] = turns.at(-1)?.parts ?? [];
    assert.equal(result?.type === 'tool-result' && result.callId, 'call_read_1');
  });

  it('is refused by its own field if it asks for log probabilities', () => {
    assert.deepEqual(
      refused(() => translated({ messages: [user], logprobs: true, top_logprobs: 2 }, own, chat)),
      ['not_translatable', 'logprobs'],
    );
    assert.equal(
      refused(() => translated({ messages: [user], logprobs: false }, own, chat)),
      null,
    );
  });

  it('reports what is left out, with the paths of options', () => {
    const body = {
      messages: [user],
      options: { num_ctx: 4096, mirostat: 1, top_k: 4, seed: 1, min_p: null },
      keep_alive: -1,
      truncate: true,
      raw: null,
    };
    assert.deepEqual(translated(body, own, messages).dropped, [
      'keep_alive',
      'options.mirostat',
      'options.num_ctx',
      'options.seed',
      'truncate',
    ]);
    assert.deepEqual(encodeRequest(decodeRequest(body))['options'], {
      top_k: 4,
      seed: 1,
      num_ctx: 4096,
      mirostat: 1,
    });
  });

  it('shows an image of an earlier answer after that answer, if answers cannot contain images', () => {
    const body = { messages: [user, { role: 'assistant', content: '', images: ['AAAA'] }, user] };
    const { body: sent } = translated(body, own, chat);
    const [, answer, next] = listOf(sent['messages']).map(objectOf);
    assert.match(String(answer?.['content']), /next message/);
    assert.deepEqual(
      listOf(next?.['content']).map((part) => objectOf(part)['type']),
      ['text', 'text', 'image_url'],
    );
    assert.deepEqual(encodeRequest(decodeRequest(body))['messages'], body.messages);
  });

  const wrongs: [string, JsonObject, string][] = [
    ['an empty list of messages, which loads a model', { messages: [] }, 'messages'],
    ['no messages at all', { messages: undefined }, 'messages'],
    ['an invalid message', { messages: [7] }, 'messages[0]'],
    ['an unknown role', { messages: [{ role: 'developer', content: 'x' }] }, 'messages[0].role'],
    ['a list for content', { messages: [{ ...user, content: [] }] }, 'messages[0].content'],
    ['images in instructions', { messages: [{ role: 'system', images: ['x'] }] }, 'messages[0].images'],
    ['an invalid image', { messages: [{ ...user, images: [7] }] }, 'messages[0].images[0]'],
    ['calls of the user', { messages: [{ ...user, tool_calls: [{}] }] }, 'messages[0].tool_calls'],
    [
      'a call without a name',
      { messages: [{ role: 'assistant', tool_calls: [{ function: {} }] }] },
      'messages[0].tool_calls[0].function.name',
    ],
    [
      'arguments in a list',
      { messages: [{ role: 'assistant', tool_calls: [callOf('f', [])] }] },
      'messages[0].tool_calls[0].function.arguments',
    ],
    ['invalid options', { options: 7 }, 'options'],
    ['text for a number', { options: { temperature: 'hot' } }, 'options.temperature'],
    ['numbers as stop sequences', { options: { stop: [7] } }, 'options.stop'],
    ['a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    ['a tool of another kind', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['an unknown think value', { think: 'hard' }, 'think'],
    ['an unknown format', { format: 'yaml' }, 'format'],
    ['text for a flag', { stream: 'yes' }, 'stream'],
  ];
  for (const [what, body, param] of wrongs) {
    it(`is invalid with ${what}`, () => {
      assert.deepEqual(
        refused(() => decoded(body)),
        ['invalid_request', param],
      );
    });
  }

  it('is invalid if it is nested too deep, without a stack overflow', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 100_000; depth += 1) deep = { a: deep };
    assert.deepEqual(
      refused(() => decodedMessages({ role: 'assistant', tool_calls: [callOf('f', deep)] })),
      ['invalid_request', 'messages[0].tool_calls[0].function.arguments'],
    );
  });
});

const tool = (name: string): FunctionTool => ({
  kind: 'function',
  name,
  description: null,
  schema: null,
  strict: null,
});

describe('a request to an Ollama server', () => {
  it('always has the field stream, because the format streams by default', () => {
    assert.deepEqual(sent({}), { model: 'm', messages: [], stream: false });
    assert.equal(sent({ stream: true })['stream'], true);
  });

  const thoughts: [Conversation['reasoning'], unknown][] = [
    [null, undefined],
    [{ mode: 'off', effort: null, budgetTokens: null, display: null }, false],
    [{ mode: 'on', effort: null, budgetTokens: null, display: null }, true],
    [{ mode: 'on', effort: 'minimal', budgetTokens: null, display: null }, 'low'],
    [{ mode: 'on', effort: 'max', budgetTokens: null, display: null }, 'high'],
    [{ mode: 'on', effort: null, budgetTokens: 4_096, display: null }, 'medium'],
    [{ mode: 'adaptive', effort: null, budgetTokens: null, display: null }, undefined],
    [{ mode: 'adaptive', effort: 'low', budgetTokens: null, display: null }, 'low'],
    [{ mode: 'on', effort: 'constructor', budgetTokens: null, display: null }, true],
  ];
  for (const [reasoning, think] of thoughts) {
    it(`has think ${JSON.stringify(think)} for ${JSON.stringify(reasoning)}`, () => {
      assert.equal(sent({ reasoning })['think'], think);
    });
  }

  it('has functions with a schema, and no empty list', () => {
    assert.deepEqual(sent({ tools: [tool('f')] })['tools'], [
      { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
    ]);
    assert.equal('tools' in sent({ tools: [] }), false);
  });

  it('has only tools that may be called, and an instruction to call the one that must be', () => {
    const offered = (toolChoice: Conversation['toolChoice']) => {
      const body = sent({ tools: [tool('f'), tool('g')], toolChoice, system: [text('Be kind.')] });
      const names = listOf(body['tools']).map((one) => objectOf(objectOf(one)['function'])['name']);
      return [names, objectOf(listOf(body['messages'])[0])['content']];
    };
    assert.deepEqual(offered({ kind: 'none' }), [[], 'Be kind.']);
    assert.deepEqual(offered({ kind: 'auto' }), [['f', 'g'], 'Be kind.']);
    assert.deepEqual(offered({ kind: 'required' }), [
      ['f', 'g'],
      'Be kind.\n\nAnswer with a call of a tool.',
    ]);
    assert.deepEqual(offered({ kind: 'tool', name: 'g' }), [
      ['g'],
      'Be kind.\n\nAnswer with a call of the tool "g".',
    ]);
    assert.deepEqual(offered({ kind: 'allowed', names: ['f'], required: false }), [['f', 'g'], 'Be kind.']);
  });

  it('reports a required call, which the format cannot express', () => {
    const body = {
      messages: [user],
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    };
    assert.deepEqual(translated(body, chat, own).dropped, ['tool_choice']);
  });

  it('has arguments that are not JSON as text in an object', () => {
    const parts = ['{"path":', '', '[1]', '{"a":1}'].map((input, index) => ({
      type: 'tool-call' as const,
      id: `c${index}`,
      name: 'f',
      input,
      kind: 'function' as const,
    }));
    const [answer] = listOf(sent({ messages: [{ role: 'assistant', parts }] })['messages']).map(objectOf);
    assert.deepEqual(
      listOf(answer?.['tool_calls']).map((call) => objectOf(objectOf(call)['function'])['arguments']),
      [{ raw_arguments: '{"path":' }, {}, { raw_arguments: '[1]' }, { a: 1 }],
    );
  });

  it('has a result for every call, after the answer, and results without a call as text of the user', () => {
    const call = (id: string) =>
      ({ type: 'tool-call', id, name: 'f', input: '{}', kind: 'function' }) as const;
    const result = (callId: string, isError: boolean, ...parts: ReturnType<typeof text>[]) =>
      ({ type: 'tool-result', callId, isError, kind: 'function', parts }) as const;
    const image = {
      type: 'image',
      source: { kind: 'data', mediaType: 'image/png', base64: 'AAAA' },
    } as const;
    const list = sent({
      messages: [
        { role: 'assistant', parts: [call('a'), call('b'), call('c')] },
        { role: 'system', parts: [text('Hurry.')] },
        {
          role: 'user',
          parts: [
            result('b', true, text('no')),
            { ...result('a', false), parts: [image] },
            result('x', false, text('lost')),
            text('Go on'),
          ],
        },
      ],
    })['messages'];
    assert.deepEqual(listOf(list).slice(1), [
      { role: 'tool', content: '[see the attachment]', tool_name: 'f', tool_call_id: 'a' },
      { role: 'tool', content: '[tool error] no', tool_name: 'f', tool_call_id: 'b' },
      { role: 'tool', content: '[tool error] No result was given.', tool_name: 'f', tool_call_id: 'c' },
      { role: 'system', content: 'Hurry.' },
      { role: 'user', content: 'Attachment of the result of f (a):\n\nlost\n\nGo on', images: ['AAAA'] },
    ]);
  });

  it('continues a partial answer, with its thoughts, and a refusal as text', () => {
    const parts = [
      { type: 'reasoning', text: 'Hm.', summary: true, encrypted: null },
      { type: 'refusal', text: 'No' },
    ] as const;
    assert.deepEqual(sent({ messages: [{ role: 'assistant', parts: [...parts] }] })['messages'], [
      { role: 'assistant', content: 'No', thinking: 'Hm.' },
    ]);
  });

  it('is refused by the client’s field if the server would have to fetch an image', () => {
    const showing = (url: string) => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    assert.deepEqual(
      refused(() => translated(showing('https://example.test/a.png'), chat, own)),
      ['not_translatable', 'image_url.url'],
    );
    assert.equal(
      refused(() => translated(showing('data:image/png;base64,iVBORw0KGgo='), chat, own)),
      null,
    );
  });
});

const line = (message: JsonObject, rest: JsonObject = { done: false }) => ({
  event: '',
  data: JSON.stringify({ model: 'up', created_at: '2026-01-02T03:04:05Z', message, ...rest }),
});
const last = (rest: JsonObject = {}) => line({ role: 'assistant', content: '' }, { done: true, ...rest });
const read = (...frames: { event: string; data: string }[]) => {
  const source = reader();
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
};

describe('an answer of an Ollama server', () => {
  const reasons: [unknown, EndReason][] = [
    ['stop', 'stop'],
    [undefined, 'stop'],
    ['length', 'length'],
    ['content_filter', 'policy'],
    ['load', 'other'],
    ['constructor', 'other'],
  ];
  for (const [word, reason] of reasons) {
    it(`with the reason ${word} has the end reason ${reason}`, () => {
      const end = read(line({ content: 'a' }), last({ done_reason: word })).at(-1);
      assert.deepEqual(end, {
        type: 'message-end',
        reason,
        rawFinishReason: word ?? null,
        stopSequence: null,
        usage: null,
      });
    });
  }

  it('has the end reason tool-calls if it has calls, whatever its reason says', () => {
    const end = read(line({ tool_calls: [callOf('f')] }), last({ done_reason: 'stop' })).at(-1);
    assert.equal(end?.type === 'message-end' && end.reason, 'tool-calls');
  });

  it('becomes one line if it arrived complete', () => {
    const message = { role: 'assistant', content: 'Hi', thinking: 'Hm' };
    const counts = { prompt_eval_count: 3, eval_count: 4 };
    assert.deepEqual(
      read(line(message, { done: true, done_reason: 'stop', ...counts })).filter(
        (part) => 'text' in part || 'usage' in part,
      ),
      [
        { type: 'message-start', id: '', model: 'up', usage: null },
        { type: 'reasoning-delta', block: 0, text: 'Hm' },
        { type: 'text-delta', block: 1, text: 'Hi' },
        {
          type: 'message-end',
          reason: 'stop',
          rawFinishReason: 'stop',
          stopSequence: null,
          usage: { ...noUsage, input: 3, output: 4 },
        },
      ],
    );
  });

  it('has the ids of the server, else ids that no other answer has', () => {
    const ids = (created_at: string) =>
      read({
        event: '',
        data: JSON.stringify({
          created_at,
          message: { tool_calls: [callOf('f'), callOf('f'), callOf('f', {}, 'own')] },
        }),
      }).flatMap((part) => (part.type === 'tool-call-start' ? [part.id] : []));
    assert.deepEqual(ids('2026-01-02T03:04:05.6Z'), [
      'call_f_0_202601020304056',
      'call_f_1_202601020304056',
      'own',
    ]);
    assert.notDeepEqual(ids('2026-01-02T03:04:06Z'), ids('2026-01-02T03:04:05Z'));
  });

  it('has the images that a model made', () => {
    const parts = read(line({ content: 'See: ' }), line({ images: ['AAAA'] }), last());
    const source = { kind: 'data', mediaType: 'image/png', base64: 'AAAA' };
    assert.deepEqual(
      parts.filter(({ type }) => type === 'image'),
      [{ type: 'image', block: 1, source }],
    );
    const target = writer({ id: 'r', model: 'm', startedAt: 0, includeUsage: true, request: {} });
    const text = encodeLines(parts.flatMap((part) => target.push(part)));
    assert.deepEqual(objectOf(objectOf(stream.assemble(stream.split(Buffer.from(text)).frames))['message']), {
      role: 'assistant',
      content: 'See: ',
      images: ['AAAA'],
    });
  });

  const failures: [string, { event: string; data: string }[], number, RegExp][] = [
    ['was cut', [line({ content: 'a' })], 502, /without its final event/],
    ['is empty', [], 502, /without its final event/],
    ['reports an error', [{ event: '', data: '{"error":"CUDA error"}' }], 502, /CUDA error/],
    [
      'reports an error with its status',
      [{ event: '', data: '{"error":"slow down","status_code":429}' }],
      429,
      /slow/,
    ],
    ['reports an error without a message', [{ event: '', data: '{"error":""}' }], 502, /without a message/],
    [
      'calls a tool without a name',
      [line({ tool_calls: [{ function: {} }] }), last()],
      502,
      /without naming it/,
    ],
  ];
  for (const [what, frames, status, message] of failures) {
    it(`fails if it ${what}`, () => {
      const end = read(...frames).at(-1);
      assert.ok(end?.type === 'error');
      assert.equal(end.error.status, status);
      assert.match(end.error.message, message);
    });
  }

  it('may have arguments of any depth without a stack overflow', () => {
    let text = '';
    for (let depth = 0; depth < 100_000; depth += 1) text += '{"a":';
    const data = `{"message":{"tool_calls":[{"function":{"name":"f","arguments":${text}1${'}'.repeat(100_000)}}}]},"done":true}`;
    const end = read({ event: '', data }).at(-1);
    assert.ok(end?.type === 'error' && /nested too deeply/.test(end.error.message));
    assert.equal(stream.textBytes(Buffer.from(data)), 1);
    assert.equal(ollama.responseTextBytes(Buffer.from(data)), 1);
    assert.equal(ollama.readUsage(Buffer.from(data)), null);
    assert.ok(stream.assemble([{ event: '', data }]) !== null);
  });
});

describe('an answer to an Ollama client', () => {
  const context = {
    id: 'req_1',
    model: 'asked',
    startedAt: 1_790_000_000_000,
    includeUsage: true,
    request: {},
  };
  const lines = (...parts: StreamPart[]) => {
    const target = writer(context);
    const bytes = Buffer.from(encodeLines(parts.flatMap((part) => target.push(part))));
    return stream.split(bytes).frames.map(({ data }) => objectOf(JSON.parse(data)));
  };
  const end = (reason: EndReason, usage = noUsage): StreamPart => ({
    type: 'message-end',
    reason,
    rawFinishReason: null,
    stopSequence: null,
    usage,
  });
  const call = (complete: boolean, input: string): StreamPart[] => [
    { type: 'tool-call-start', block: 0, id: 'c1', name: 'f', kind: 'function' },
    { type: 'tool-call-delta', block: 0, text: input },
    { type: 'tool-call-end', block: 0, complete },
  ];

  it('has the vendor’s reason, and a more specific one if a provider refused', () => {
    const words = (
      ['stop', 'stop-sequence', 'tool-calls', 'paused', 'other', 'length', 'context-full', 'policy'] as const
    ).map((reason) => lines(end(reason))[0]?.['done_reason']);
    assert.deepEqual(words, ['stop', 'stop', 'stop', 'stop', 'stop', 'length', 'length', 'content_filter']);
  });

  it('counts the whole prompt and everything that was generated', () => {
    const usage = {
      ...noUsage,
      input: 1,
      cacheRead: 2,
      cacheWrite5m: 4,
      cacheWrite1h: 8,
      output: 16,
      reasoning: 32,
    };
    const [last] = lines(end('stop', usage));
    assert.deepEqual([last?.['prompt_eval_count'], last?.['eval_count']], [15, 48]);
  });

  it('has complete calls, with their arguments as an object', () => {
    const [first] = lines(...call(true, '{"a":'), end('stop'));
    assert.deepEqual(objectOf(first?.['message'])['tool_calls'], [
      { id: 'c1', function: { index: 0, name: 'f', arguments: { raw_arguments: '{"a":' } } },
    ]);
  });

  it('has no call that was cut off, which its reason shows', () => {
    assert.deepEqual(
      lines(...call(false, '{"a":'), end('length')).map(({ done, done_reason }) => [done, done_reason]),
      [[true, 'length']],
    );
  });

  it('has a time that depends only on the request', () => {
    assert.equal(lines(end('stop'))[0]?.['created_at'], '2026-09-21T14:13:20.000Z');
  });
});

describe('a complete answer of an Ollama server', () => {
  const body = readFileSync(new URL('fixtures/answer.json', import.meta.url));

  it('has its usage read without being parsed, unless it is broken', () => {
    assert.deepEqual(ollama.readUsage(body), { ...noUsage, input: 26, output: 29 });
    for (let at = 0; at < body.lastIndexOf('}'); at += 1)
      assert.equal(ollama.readUsage(body.subarray(0, at)), null);
    const nested = '{"message":{"prompt_eval_count":9},"x":"\\"eval_count\\":9"}';
    assert.equal(ollama.readUsage(Buffer.from(nested)), null);
  });

  it('is the same after it was streamed', () => {
    const whole = objectOf(JSON.parse(body.toString()));
    assert.deepEqual(stream.assemble(stream.split(Buffer.from(stream.encodeFramesOf(whole))).frames), whole);
  });

  it('has the text length that was generated', () => {
    assert.equal(
      ollama.responseTextBytes(body),
      Buffer.byteLength('I will look.One file.read_file{"path":"a.ts"}'),
    );
    assert.equal(ollama.responseTextBytes(Buffer.from('<html>')), 0);
  });
});

describe('a line of an Ollama stream', () => {
  const meanings: [JsonObject | string, string][] = [
    [{ message: { role: 'assistant', content: '' }, done: false }, 'preamble'],
    [{ message: { role: 'assistant', content: '', thinking: '', tool_calls: [] }, done: false }, 'preamble'],
    [{ message: { content: ' ' }, done: false }, 'content'],
    [{ message: { content: '', thinking: 'x' }, done: false }, 'content'],
    [{ message: { content: '', tool_calls: [{}] }, done: false }, 'content'],
    [{ done: true }, 'end'],
    [{ error: 'x', done: true }, 'error'],
    ['<html>', 'content'],
  ];
  for (const [value, meaning] of meanings) {
    it(`${JSON.stringify(value)} is ${meaning}`, () => {
      const data = typeof value === 'string' ? value : JSON.stringify(value);
      assert.equal(stream.classify({ event: '', data }), meaning);
    });
  }

  it('is ignored after the last one', () => {
    const text = '{"message":{"content":"a"},"done":true,"eval_count":1}\n{"error":"late"}\n';
    const facts = stream.readStream(Buffer.from(text), Buffer.from(text));
    assert.deepEqual([facts.end, facts.usage?.output], ['complete', 1]);
    assert.equal(read(...stream.split(Buffer.from(text)).frames).at(-1)?.type, 'message-end');
  });

  it('may end in CRLF, and blank lines and a byte order mark are ignored', () => {
    const { frames, rest } = stream.split(Buffer.from('\ufeff{"a":1}\r\n\r\n \n{"b":2}\n{"c"'));
    assert.deepEqual(
      frames.map(({ data }) => data),
      ['{"a":1}', '{"b":2}'],
    );
    assert.equal(rest.toString(), '{"c"');
  });
});
