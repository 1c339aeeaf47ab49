import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { embedEncryptedReasoning } from '../encrypted-reasoning/embed.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import { type Conversation, emptyConversation, type Message, type Part } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { encodeFrame, encodeFrames } from '../stream/frames.ts';
import { noUsage } from '../wire-format.ts';
import { assemble } from './answer/assemble.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';

const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
const conversationWith = (values: Partial<Conversation>): Conversation => ({
  ...emptyConversation('a-model'),
  messages: [user],
  ...values,
});
const encoded = (values: Partial<Conversation>) => encodeRequest(conversationWith(values), plainDialect);
const turnsOf = (messages: Message[]) =>
  listOf(encoded({ messages })['messages'])
    .map(objectOf)
    .map(({ content, role }) => [role, ...listOf(content).map(objectOf)]);
const call = (id: string, input = '{}'): Part => ({
  type: 'tool-call',
  id,
  name: 'read',
  input,
  kind: 'function',
});
const result = (callId: string, text: string): Part => ({
  type: 'tool-result',
  callId,
  isError: false,
  kind: 'function',
  parts: [{ type: 'text', text }],
});

describe('a messages request', () => {
  it('has tool results first in the turn after the calls, whatever was sent between them', () => {
    const turns = turnsOf([
      user,
      { role: 'assistant', parts: [call('a')] },
      { role: 'assistant', parts: [call('b')] },
      { role: 'system', parts: [{ type: 'text', text: 'A file changed.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Go' }, result('b', 'B')] },
      { role: 'user', parts: [result('a', 'A')] },
    ]);
    assert.deepEqual(turns.slice(1), [
      [
        'assistant',
        { type: 'tool_use', id: 'a', name: 'read', input: {} },
        { type: 'tool_use', id: 'b', name: 'read', input: {} },
      ],
      [
        'user',
        { type: 'tool_result', tool_use_id: 'b', content: 'B' },
        { type: 'tool_result', tool_use_id: 'a', content: 'A' },
        { type: 'text', text: '<system-reminder>\nA file changed.\n</system-reminder>' },
        { type: 'text', text: 'Go' },
      ],
    ]);
  });

  it('has unique tool call ids, even if a server repeated one in every turn', () => {
    const turns = turnsOf([
      user,
      { role: 'assistant', parts: [call('call_0')] },
      { role: 'user', parts: [result('call_0', 'first')] },
      { role: 'assistant', parts: [call('call_0')] },
      { role: 'user', parts: [result('call_0', 'second')] },
    ]);
    const ids = turns.map(([, block]) => {
      const { id, tool_use_id } = objectOf(block);
      return id ?? tool_use_id;
    });
    assert.deepEqual(ids, [undefined, 'call_0', 'call_0', 'call_0_2', 'call_0_2']);
  });

  it('has a result for every call, and a result without a call as text', () => {
    const turns = turnsOf([
      { role: 'user', parts: [result('lost', 'found')] },
      { role: 'assistant', parts: [call('a')] },
    ]);
    assert.deepEqual(turns, [
      ['user', { type: 'text', text: 'found' }],
      ['assistant', { type: 'tool_use', id: 'a', name: 'read', input: {} }],
      ['user', { type: 'tool_result', tool_use_id: 'a', content: 'No result was given.', is_error: true }],
    ]);
  });

  it('has no empty text and no trailing white space, and begins with a user turn', () => {
    assert.deepEqual(
      turnsOf([
        { role: 'user', parts: [{ type: 'text', text: ' \n' }] },
        { role: 'assistant', parts: [{ type: 'text', text: '{"a": \n' }] },
      ]),
      [
        ['user', { type: 'text', text: 'Go on.' }],
        ['assistant', { type: 'text', text: '{"a":' }],
      ],
    );
    assert.deepEqual(turnsOf([]), [['user', { type: 'text', text: 'Go on.' }]]);
  });

  it('shows arguments that are not an object to the model', () => {
    const [, turn] = turnsOf([user, { role: 'assistant', parts: [call('a', '{"path":'), call('b', '')] }]);
    assert.deepEqual(
      turn?.slice(1).map((block) => objectOf(block)['input']),
      [{ raw_arguments: '{"path":' }, {}],
    );
  });

  it('has a token limit that leaves room for an answer after the thinking', () => {
    const on = { mode: 'on', effort: null, budgetTokens: 4_000, display: null } as const;
    assert.equal(encoded({})['max_tokens'], plainDialect.defaultMaxTokens);
    assert.equal(encoded({ reasoning: on, maxOutputTokens: 1_000 })['max_tokens'], 5_000);
    assert.equal(encoded({ reasoning: on, maxOutputTokens: 5_000 })['max_tokens'], 5_000);
  });

  it('has adaptive thinking for an effort, and no thinking if a tool must be called', () => {
    const reasoning = { mode: 'on', effort: 'minimal', budgetTokens: null, display: 'auto' } as const;
    const { output_config, thinking } = encoded({ reasoning });
    assert.deepEqual(thinking, { type: 'adaptive', display: 'summarized' });
    assert.deepEqual(output_config, { effort: 'low' });
    const tools = [
      { kind: 'function', name: 'read', description: null, schema: null, strict: null },
    ] as const;
    const forced = encoded({ reasoning, tools: [...tools], toolChoice: { kind: 'required' } });
    assert.deepEqual(forced['thinking'], { type: 'disabled' });
    assert.deepEqual(forced['tool_choice'], { type: 'any' });
  });

  it('has one sampling parameter, within its limits, and none with thinking', () => {
    const sampled = (values: Partial<Conversation>) => {
      const { temperature, top_k, top_p } = encoded(values);
      return [temperature, top_p, top_k];
    };
    assert.deepEqual(sampled({ temperature: 1.7 }), [1, undefined, undefined]);
    assert.deepEqual(sampled({ temperature: 0.2, topP: 0.9, topK: 5 }), [0.2, undefined, 5]);
    assert.deepEqual(sampled({ temperature: 1, topP: 0.9 }), [undefined, 0.9, undefined]);
    const reasoning = { mode: 'adaptive', effort: null, budgetTokens: null, display: null } as const;
    assert.deepEqual(sampled({ temperature: 0.2, topP: 0.9, topK: 5, reasoning }), [
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has all tools, a choice of the only allowed one, and no choice without tools', () => {
    const tool = (name: string) => ({
      kind: 'function' as const,
      name,
      description: null,
      schema: null,
      strict: null,
    });
    const body = encoded({
      tools: [tool('read'), tool('write')],
      toolChoice: { kind: 'allowed', names: ['read'], required: true },
      parallelToolCalls: false,
    });
    assert.deepEqual(
      listOf(body['tools']).map((one) => objectOf(one)['name']),
      ['read', 'write'],
    );
    assert.deepEqual(body['tool_choice'], {
      type: 'tool',
      name: 'read',
      disable_parallel_tool_use: true,
    });
    assert.equal(
      'tool_choice' in encoded({ toolChoice: { kind: 'required' }, parallelToolCalls: false }),
      false,
    );
  });

  it('keeps the cache marks of the client', () => {
    const body = encoded({ system: [{ type: 'text', text: 'One', cache: { ttl: 3_600 } }], cacheKey: 'k' });
    assert.deepEqual(listOf(body['system']), [
      { type: 'text', text: 'One', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
  });

  it('has closed objects in the schema of the answer, and names what the vendor cannot enforce', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        minimum: { type: 'integer', description: 'Least', minimum: 1 },
        list: { type: 'array', minItems: 2, items: { type: 'object', properties: {} } },
      },
      required: ['minimum'],
    };
    const output = { kind: 'schema', name: 'a', description: null, schema, strict: true } as const;
    const { format } = objectOf(encoded({ output })['output_config']);
    assert.deepEqual(objectOf(format)['schema'], {
      type: 'object',
      properties: {
        minimum: { type: 'integer', description: 'Least\n\n{minimum: 1}' },
        list: {
          type: 'array',
          items: { type: 'object', properties: {}, additionalProperties: false },
          description: '{minItems: 2}',
        },
      },
      required: ['minimum'],
      additionalProperties: false,
    });
  });

  it('has the media type that an image shows, and text for a text file that was sent as bytes', () => {
    const [turn] = turnsOf([
      {
        role: 'user',
        parts: [
          { type: 'image', source: { kind: 'data', mediaType: 'image/png', base64: '/9j/4AAQ' } },
          { type: 'file', source: { kind: 'data', mediaType: 'text/csv', base64: 'YSxi' }, name: 'a.csv' },
        ],
      },
    ]);
    assert.deepEqual(
      turn?.slice(1).map((block) => objectOf(block)['source']),
      [
        { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' },
        { type: 'text', media_type: 'text/plain', data: 'a,b' },
      ],
    );
  });

  it('has no reasoning that the vendor did not make, and recovers embedded encrypted reasoning', () => {
    const encrypted = { format: 'openai-responses', kind: 'encrypted', value: 'gAAA', id: 'rs_1' } as const;
    const foreign: Part = { type: 'reasoning', text: 'hm', summary: true, encrypted };
    const open: Part = { type: 'reasoning', text: 'hm', summary: false, encrypted: null };
    assert.equal(turnsOf([user, { role: 'assistant', parts: [foreign, open] }]).length, 1);
    const { messages } = decodeRequest({
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'hm', signature: embedEncryptedReasoning(encrypted) }],
        },
      ],
    });
    assert.deepEqual(messages[1]?.parts, [{ ...foreign, summary: false }]);
  });

  it('is read completely if it is from Claude Code, with a path for everything that other formats lack', () => {
    const body = {
      model: 'm',
      max_tokens: 32_000,
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc', cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        { role: 'system', content: 'Environment' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'ToolSearch', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'tool_reference', tool_name: 'Edit' }],
            },
          ],
        },
        { role: 'system', content: '<total_tokens>9</total_tokens>', safeguards: {} },
      ],
      tools: [{ name: 'Placeholder', input_schema: { type: 'object' }, defer_loading: true }],
      thinking: { type: 'between_tools' },
      context_management: { edits: [] },
      output_config: { effort: 'high', task_budget: { total: 5 } },
      metadata: { user_id: '{"device":"d"}' },
      service_tier: 'standard_only',
    };
    const conversation = decodeRequest(body);
    assert.deepEqual(conversation.extras?.fields, {
      context_management: { edits: [] },
      thinking: { type: 'between_tools' },
      'messages.safeguards': {},
      'output_config.task_budget': { total: 5 },
      'tools.defer_loading': { Placeholder: true },
    });
    assert.deepEqual(
      conversation.system.map(({ text }) => text),
      ['x-anthropic-billing-header: cc', 'Environment'],
    );
    assert.match(JSON.stringify(conversation.messages[2]), /Edit/);
    const { output_config, thinking, tools } = encodeRequest(conversation, plainDialect);
    assert.deepEqual(
      { output_config, thinking },
      { output_config: body.output_config, thinking: body.thinking },
    );
    assert.equal(objectOf(listOf(tools)[0])['defer_loading'], true);
  });

  it('has text instead of server tool blocks for other formats, without encrypted content', () => {
    const blocks = [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'weather' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [
          { type: 'web_search_result', url: 'https://e.test', title: 'W', encrypted_content: 'QUJD' },
        ],
      },
      { type: 'container_upload', file_id: 'f' },
      { type: 'compaction', content: 'So far: hello', encrypted_content: 'QUJD' },
    ];
    const { messages } = decodeRequest({ model: 'm', messages: [{ role: 'assistant', content: blocks }] });
    const texts = messages[0]?.parts.map((part) => ('text' in part ? part.text : undefined)) ?? [];
    assert.match(texts[0] ?? '', /weather.*https:\/\/e\.test/s);
    assert.doesNotMatch(texts.join(' '), /QUJD/);
    assert.deepEqual(texts.slice(1), [null, 'So far: hello']);
  });

  it('keeps the context of a document, and is refused if other formats would lose its images', () => {
    const document = (content: unknown) => ({
      type: 'document',
      title: 'a',
      context: 'From 1990',
      source: { type: 'content', content },
    });
    const partsOf = (content: unknown) =>
      decodeRequest({ model: 'm', messages: [{ role: 'user', content: [document(content)] }] }).messages[0]
        ?.parts;
    assert.deepEqual(
      partsOf([
        { type: 'text', text: 'x' },
        { type: 'text', text: 'y' },
      ]),
      [
        { type: 'text', text: 'From 1990' },
        { type: 'file', source: { kind: 'text', text: 'x\ny' }, name: 'a' },
      ],
    );
    const [native] = partsOf([{ type: 'image', source: { type: 'url', url: 'https://e.test' } }]) ?? [];
    assert.equal(native?.type === 'native' ? native.text : undefined, null);
  });

  it('is refused with the path of a field of the wrong type', () => {
    const wrong: [object, string][] = [
      [{ messages: 'Hi' }, 'messages'],
      [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
      [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
      [
        { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
        'messages[0].content[0].tool_use_id',
      ],
      [{ max_tokens: '5' }, 'max_tokens'],
      [{ tools: [{ description: 'x' }] }, 'tools[0].name'],
      [{ tool_choice: { type: 'maybe' } }, 'tool_choice.type'],
      [{ stop_sequences: [5] }, 'stop_sequences[0]'],
    ];
    for (const [body, param] of wrong)
      assert.throws(
        () => decodeRequest({ model: 'm', messages: [], ...body }),
        (error) => error instanceof GatewayError && error.param === param && error.status === 400,
        param,
      );
  });
});

const framed = (...events: JsonObject[]) =>
  events.map((event) => encodeFrame(String(event['type']), event)).join('');
const read = (stream: string | Buffer) => {
  const source = reader();
  const { frames } = splitFrames(Buffer.from(stream));
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
};
const start = { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5 } } };
const ending = (stop_reason: string, delta: JsonObject = {}) => [
  { type: 'message_delta', delta: { stop_reason, ...delta }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
const opened = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const grown = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta });
const stopped = (index: number) => ({ type: 'content_block_stop', index });
const toolUse = (id: string, input: JsonObject = {}) => ({ type: 'tool_use', id, name: 'read', input });
const fixture = (name: string) => read(readFileSync(join(import.meta.dirname, 'fixtures', name)));

describe('a messages stream from an upstream', () => {
  it('gives thinking with its signature, text, calls and usage', () => {
    const parts = fixture('tools.sse');
    assert.deepEqual(
      parts.map(({ type }) => type),
      [
        'message-start',
        'reasoning-start',
        'reasoning-delta',
        'reasoning-end',
        'text-start',
        'text-delta',
        'text-delta',
        'text-end',
        'tool-call-start',
        'tool-call-delta',
        'tool-call-delta',
        'tool-call-end',
        'message-end',
      ],
    );
    const end = parts.at(-1);
    assert.deepEqual(end, {
      type: 'message-end',
      tier: 'default',
      reason: 'tool-calls',
      rawFinishReason: 'tool_use',
      stopSequence: null,
      usage: {
        ...noUsage,
        input: 21,
        cacheRead: 12_000,
        cacheWrite5m: 1_000,
        cacheWrite1h: 2_000,
        output: 197,
        reasoning: 60,
      },
    });
  });

  it('gives complete blocks of server tools, and citations', () => {
    const searches = fixture('server-tool.sse').flatMap((part) =>
      part.type === 'search' ? [part.search] : [],
    );
    assert.deepEqual(
      searches.map(({ native, queries, sources }) => [queries, sources, native.values.length]),
      [[['weather'], [{ url: 'https://example.org/w', title: 'Weather' }], 2]],
    );
    const citation = fixture('server-tool.sse').find((part) => part.type === 'citation');
    assert.equal(citation?.type === 'citation' && citation.citation.url, 'https://example.org/w');
  });

  it('gives an error with the status that fits its type', () => {
    assert.deepEqual(fixture('overloaded.sse').at(-1), {
      type: 'error',
      error: { status: 529, message: 'Overloaded' },
    });
  });

  it('gives an error and no end if it breaks off', () => {
    const parts = read(
      framed(start, opened(0, { type: 'text', text: '' }), grown(0, { type: 'text_delta', text: 'a' })),
    );
    assert.equal(parts.at(-1)?.type, 'error');
    assert.equal(read('').at(-1)?.type, 'error');
  });

  it('ends with tool calls if it has some, although its stop reason says otherwise', () => {
    const parts = read(
      framed(start, opened(0, toolUse('a', { path: 'x' })), stopped(0), ...ending('end_turn')),
    );
    assert.deepEqual(parts.slice(1, -1), [
      { type: 'tool-call-start', block: 0, id: 'a', name: 'read', kind: 'function' },
      { type: 'tool-call-delta', block: 0, text: '{"path":"x"}' },
      { type: 'tool-call-end', block: 0, complete: true },
    ]);
    assert.equal(Object(parts.at(-1)).reason, 'tool-calls');
  });

  it('gives an incomplete call if it was cut off inside one', () => {
    const cut = [
      opened(0, toolUse('a')),
      grown(0, { type: 'input_json_delta', partial_json: '{"pa' }),
      stopped(0),
    ];
    const parts = read(framed(start, ...cut, ...ending('max_tokens')));
    assert.deepEqual(parts.at(-2), { type: 'tool-call-end', block: 0, complete: false });
    assert.equal(Object(parts.at(-1)).reason, 'length');
  });

  it('gives an end reason for each stop reason of the vendor', () => {
    const decodedReason = (reason: string) => Object(read(framed(start, ...ending(reason))).at(-1)).reason;
    const reasons = [
      'end_turn',
      'max_tokens',
      'stop_sequence',
      'pause_turn',
      'refusal',
      'model_context_window_exceeded',
    ];
    assert.deepEqual(reasons.map(decodedReason), [
      'stop',
      'length',
      'stop-sequence',
      'paused',
      'policy',
      'context-full',
    ]);
    assert.equal(decodedReason('something_new'), 'other');
    const [end] = read(framed(start, ...ending('stop_sequence', { stop_sequence: 'END' }))).slice(-1);
    assert.equal(Object(end).stopSequence, 'END');
  });

  it('gives the vendor’s explanation of a refusal', () => {
    const details = { stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not that.' } };
    assert.deepEqual(read(framed(start, ...ending('refusal', details))).slice(1, -1), [
      { type: 'refusal-start', block: 0 },
      { type: 'refusal-delta', block: 0, text: 'Not that.' },
      { type: 'refusal-end', block: 0 },
    ]);
  });

  it('may lack its start, the start or end of a block, and repeat an index', () => {
    const parts = read(
      framed(
        ...[grown(0, { type: 'text_delta', text: 'Well' }), opened(1, toolUse('a')), opened(1, toolUse('b'))],
        ...[grown(1, { type: 'input_json_delta', partial_json: { path: 'x' } }), ...ending('tool_use')],
      ),
    );
    assert.deepEqual(parts.slice(0, -1), [
      { type: 'message-start', id: '', model: '', usage: null },
      { type: 'text-start', block: 0 },
      { type: 'text-delta', block: 0, text: 'Well' },
      { type: 'tool-call-start', block: 1, id: 'a', name: 'read', kind: 'function' },
      { type: 'tool-call-end', block: 1, complete: true },
      { type: 'tool-call-start', block: 2, id: 'b', name: 'read', kind: 'function' },
      { type: 'tool-call-delta', block: 2, text: '{"path":"x"}' },
      { type: 'text-end', block: 0 },
      { type: 'tool-call-end', block: 2, complete: true },
    ]);
  });

  it('continues after an event that is not JSON, and stops at its end', () => {
    const noise = 'event: content_block_delta\ndata: {"type":"content_block_del\n\n: comment\n\n';
    const parts = read(framed(start) + noise + framed(...ending('end_turn'), ...ending('end_turn')));
    assert.deepEqual(
      parts.map(({ type }) => type),
      ['message-start', 'message-end'],
    );
  });
});

const context = { id: 'req_7', model: 'mine', startedAt: 0, includeUsage: true, request: {} };
const write = (parts: StreamPart[]) => {
  const target = writer(context);
  return encodeFrames(parts.flatMap((part) => target.push(part)));
};
const whole = (...parts: StreamPart[]) =>
  assemble(
    splitFrames(
      Buffer.from(write([{ type: 'message-start', id: 'x', model: 'theirs', usage: null }, ...parts])),
    ).frames,
  );
const end = (reason: Extract<StreamPart, { type: 'message-end' }>['reason']): StreamPart => ({
  type: 'message-end',
  reason,
  rawFinishReason: null,
  stopSequence: null,
  usage: {
    ...noUsage,
    input: 3,
    cacheRead: 4,
    cacheWrite5m: 5,
    cacheWrite1h: 6,
    output: 7,
    reasoning: 8,
    webSearches: 1,
  },
});

describe('a messages stream for a client', () => {
  it('does not begin with more thinking tokens than it reports at the end', () => {
    const usage = { ...noUsage, input: 10, output: 5, reasoning: 20, webSearches: 1 };
    const [start] = writer(context).push({ type: 'message-start', id: '', model: '', usage });
    const { message } = JSON.parse(start?.data ?? '');
    assert.equal(message.usage.output_tokens, 1);
    assert.equal('output_tokens_details' in message.usage || 'server_tool_use' in message.usage, false);
  });

  it('makes a message with all fields, the client’s model name, and usage as the vendor counts it', () => {
    assert.deepEqual(whole(end('stop')), {
      id: 'msg_7',
      type: 'message',
      role: 'assistant',
      model: 'mine',
      content: [],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 11,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 6 },
        output_tokens: 15,
        output_tokens_details: { thinking_tokens: 8 },
        server_tool_use: { web_search_requests: 1 },
      },
    });
  });

  it('has no block without content, which the vendor would refuse in the next request', () => {
    const message = whole(
      ...([
        { type: 'text-start', block: 0 },
        { type: 'text-end', block: 0 },
      ] as const),
      ...([{ type: 'reasoning-start', block: 1, summary: false }] as const),
      ...([{ type: 'reasoning-end', block: 1, encrypted: null }] as const),
      ...([
        { type: 'text-start', block: 2 },
        { type: 'text-delta', block: 2, text: 'a' },
      ] as const),
      ...([{ type: 'text-end', block: 2 }] as const),
      end('stop'),
    );
    assert.deepEqual(message?.['content'], [{ type: 'text', text: 'a' }]);
  });

  it('has the stop reason refusal if the answer is a refusal', () => {
    const message = whole(
      { type: 'refusal-start', block: 0 },
      { type: 'refusal-delta', block: 0, text: 'No.' },
      { type: 'refusal-end', block: 0 },
      end('stop'),
    );
    assert.deepEqual(message?.['content'], [{ type: 'text', text: 'No.' }]);
    assert.equal(message?.['stop_reason'], 'refusal');
  });

  it('has the stop reason max_tokens if a call was cut off, whatever the upstream reported', () => {
    const call: StreamPart[] = [
      { type: 'tool-call-start', block: 0, id: 'a', name: 'read', kind: 'function' },
      { type: 'tool-call-delta', block: 0, text: '{"pa' },
    ];
    const cut = whole(...call, { type: 'tool-call-end', block: 0, complete: false }, end('tool-calls'));
    assert.equal(cut?.['stop_reason'], 'max_tokens');
    const done = whole(...call.slice(0, 1), { type: 'tool-call-end', block: 0, complete: true }, end('stop'));
    assert.equal(done?.['stop_reason'], 'tool_use');
    assert.deepEqual(done?.['content'], [toolUse('a')]);
  });

  it('embeds encrypted reasoning of another format so that the next request contains it', () => {
    const encrypted = { format: 'openai-responses', kind: 'encrypted', value: 'gAAA' } as const;
    const message = whole(
      { type: 'reasoning-start', block: 0, summary: true },
      { type: 'reasoning-delta', block: 0, text: 'hm' },
      { type: 'reasoning-end', block: 0, encrypted },
      end('stop'),
    );
    const { messages } = decodeRequest({
      model: 'm',
      messages: [{ role: 'assistant', content: message?.['content'] }],
    });
    assert.deepEqual(messages[0]?.parts, [{ type: 'reasoning', text: 'hm', summary: false, encrypted }]);
  });

  it('has a search result citation for a citation of another format', () => {
    const message = whole(
      { type: 'text-start', block: 0 },
      { type: 'text-delta', block: 0, text: 'Sun.' },
      {
        type: 'citation',
        block: 0,
        citation: {
          url: 'https://e.test',
          title: 'W',
          text: null,
          start: 0,
          end: 4,
          native: { format: 'openai-chat', value: {} },
        },
      },
      { type: 'text-end', block: 0 },
      end('stop'),
    );
    const [block] = listOf(message?.['content']).map(objectOf);
    assert.deepEqual(block?.['citations'], [
      {
        type: 'web_search_result_location',
        cited_text: '',
        encrypted_index: '',
        title: 'W',
        url: 'https://e.test',
      },
    ]);
  });
});
