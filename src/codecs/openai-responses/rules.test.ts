import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitFrames } from '../../lib/streams/sse.ts';
import { ERROR_MARK } from '../adapt/result-mark.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import { emptyConversation, type Part } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { encodeFrames } from '../stream/frames.ts';
import { assemble } from './answer/assemble.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';

const decoded = (...input: JsonObject[]) => decodeRequest({ model: 'm', input });
const resent = (...input: JsonObject[]) => listOf(encodeRequest(decoded(...input), plainDialect)['input']);
const partsIn = (...input: JsonObject[]) => decoded(...input).messages.flatMap(({ parts }) => parts);

/** The parts of a stream of these events, each under the name that its type says. */
function decodedParts(...events: (JsonObject & { type: string })[]): StreamPart[] {
  const source = reader();
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return [...splitFrames(Buffer.from(text)).frames.flatMap((frame) => source.push(frame)), ...source.end()];
}

describe('a responses request', () => {
  it('marks a failed result in its text, and reads the mark again', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' };
    const answered = (output: unknown) => ({ type: 'function_call_output', call_id: 'c1', output });
    const outputs = [
      `${ERROR_MARK}no such file`,
      ERROR_MARK,
      [
        { type: 'input_text', text: ERROR_MARK },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
      ],
    ];
    for (const output of outputs) {
      const [, result] = partsIn(call, answered(output));
      assert.equal(result?.type === 'tool-result' && result.isError, true);
      assert.equal(JSON.stringify(result).includes(ERROR_MARK), false);
      assert.deepEqual(resent(call, answered(output)), [call, answered(output)]);
    }
    const [, plain] = partsIn(call, answered('Error: 0 problems'));
    assert.equal(plain?.type === 'tool-result' && plain.isError, false);
  });
});

describe('the calls and results of a responses request', () => {
  const call = (call_id: string, more: JsonObject = {}) => ({
    type: 'function_call',
    call_id,
    name: 'read',
    arguments: '{}',
    ...more,
  });
  const answer = (call_id: string, output: unknown) => ({ type: 'function_call_output', call_id, output });
  const message = (role: string, text: string) => ({ type: 'message', role, content: text });
  const of = (items: readonly JsonObject[]) =>
    items.map((item) => [item['type'], item['call_id'] ?? item['role'], item['output'] ?? null]);

  it('include a result for a call without one, after the adjacent calls', () => {
    const sent = resent(call('a'), call('b'), answer('b', '2'), message('user', 'x'), call('c'));
    assert.deepEqual(of(sent.map(objectOf)), [
      ['function_call', 'a', null],
      ['function_call', 'b', null],
      ['function_call_output', 'b', '2'],
      ['function_call_output', 'a', 'No result was given.'],
      ['message', 'user', null],
      ['function_call', 'c', null],
      ['function_call_output', 'c', 'No result was given.'],
    ]);
  });

  it('include a result without a call as text of the user', () => {
    const [first, ...rest] = resent(answer('x', 'found'), call('a'), answer('a', '1')).map(objectOf);
    assert.deepEqual(first, {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'found' }],
    });
    assert.equal(rest.length, 2);
  });

  it('have an id that is used once, by a call and its result', () => {
    const sent = resent(call('a'), answer('a', '1'), call('a'), answer('a', '2')).map(objectOf);
    assert.deepEqual(of(sent), [
      ['function_call', 'a', null],
      ['function_call_output', 'a', '1'],
      ['function_call', 'a_2', null],
      ['function_call_output', 'a_2', '2'],
    ]);
  });

  it('have a result of the kind of its call', () => {
    const custom = { type: 'custom_tool_call', call_id: 'p', name: 'patch', input: 'x' };
    const [, result] = resent(custom, answer('p', 'done')).map(objectOf);
    assert.equal(result?.['type'], 'custom_tool_call_output');
  });
});

describe('a responses request for a client of another format', () => {
  it('has an id for every search, the same in every turn', () => {
    const search: Part = {
      type: 'search',
      queries: ['weather'],
      sources: [],
      failed: false,
      text: '',
      native: { format: 'gemini', values: [] },
    };
    const messages = [{ role: 'assistant' as const, parts: [search, search] }];
    const input = listOf(encodeRequest({ ...emptyConversation('m'), messages }, plainDialect)['input']);
    assert.deepEqual(
      input.map((item) => objectOf(item)['id']),
      ['ws_1', 'ws_2'],
    );
  });

  it('has the name of a user or a cache shortened to the vendor’s limit, always in the same way', () => {
    const long = JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's'.repeat(36) });
    const encoded = () =>
      encodeRequest({ ...emptyConversation('m'), userId: long, cacheKey: long }, plainDialect);
    const { prompt_cache_key, safety_identifier } = encoded();
    assert.equal(String(safety_identifier).length, 64);
    assert.equal(prompt_cache_key, safety_identifier);
    assert.deepEqual(encoded(), encoded());
    const short = encodeRequest({ ...emptyConversation('m'), userId: 'u1' }, plainDialect);
    assert.equal(short['safety_identifier'], 'u1');
  });
});

describe('a responses request of Codex', () => {
  const routeTool = { type: 'function', name: 'route', parameters: { type: 'object' } };
  const search = { type: 'tool_search', execution: 'client', description: 'Finds tools', parameters: {} };

  it('has calls of built-in tools as calls, and failed ones as failed', () => {
    const pairs: [JsonObject, JsonObject, string, string, boolean][] = [
      [
        {
          type: 'local_shell_call',
          id: 'lsh_1',
          call_id: 'c1',
          status: 'completed',
          action: { command: ['ls'] },
        },
        { type: 'local_shell_call_output', call_id: 'c1', output: 'a.ts' },
        ...(['local_shell', 'a.ts', false] as const),
      ],
      [
        { type: 'shell_call', call_id: 'c2', action: { commands: ['ls'] } },
        { type: 'shell_call_output', call_id: 'c2', output: [{ stdout: 'a.ts' }] },
        ...(['shell', '[{"stdout":"a.ts"}]', false] as const),
      ],
      [
        { type: 'apply_patch_call', call_id: 'c3', operation: { path: 'a.ts' } },
        { type: 'apply_patch_call_output', call_id: 'c3', status: 'failed', output: 'no' },
        ...(['apply_patch', 'no', true] as const),
      ],
    ];
    for (const [item, output, name, text, isError] of pairs) {
      const [call, result] = partsIn(item, output);
      assert.deepEqual([call?.type, objectOf(call)['name']], ['tool-call', name]);
      assert.ok(JSON.parse(String(objectOf(call)['input'])));
      const { callId, parts, ...rest } = objectOf(result);
      assert.deepEqual(
        [callId, parts, rest['isError']],
        [item['call_id'], [{ type: 'text', text }], isError],
      );
    }
  });

  it('has what the vendor’s servers did as text, because no client can repeat it', () => {
    const [part] = partsIn({ type: 'mcp_call', id: 'mcp_1', server_label: 'docs', output: 'words' });
    assert.equal(objectOf(part)['text'], '[mcp_call] {"server_label":"docs","output":"words"}');
  });

  it('has the tool search as a function, and the tools that it found, once, from then on', () => {
    const items = [
      { type: 'additional_tools', role: 'developer', tools: [search, { ...search, execution: 'server' }] },
      { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'maps' } },
      { type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: [routeTool] },
      { type: 'tool_search_call', call_id: 'c2', execution: 'client', arguments: '{"query":"maps"}' },
      { type: 'tool_search_output', call_id: 'c2', execution: 'client', tools: [routeTool] },
    ];
    const { messages, tools } = decoded(...items);
    assert.deepEqual(
      tools.map((tool) => [tool.kind, 'name' in tool && tool.name]),
      [
        ['function', 'tool_search'],
        ['native', 'tool_search'],
        ['function', 'route'],
      ],
    );
    const inputs = messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'tool-call');
    assert.deepEqual(
      inputs.map((part) => JSON.parse(String(objectOf(part)['input']))),
      [{ query: 'maps' }, { query: 'maps' }],
    );
  });

  it('has a call of that function answered as a tool_search_call, or as a function call without a tool search', () => {
    const called = (request: JsonObject) => {
      const target = writer({ id: 'req_1', model: 'm', startedAt: 0, includeUsage: true, request });
      const parts: StreamPart[] = [
        { type: 'message-start', id: '', model: '', usage: null },
        { type: 'tool-call-start', block: 0, id: 'c1', name: 'tool_search', kind: 'function' },
        { type: 'tool-call-delta', block: 0, text: '{"query":' },
        { type: 'tool-call-delta', block: 0, text: '"maps"}' },
        { type: 'tool-call-end', block: 0, complete: true },
        { type: 'message-end', reason: 'tool-calls', rawFinishReason: null, stopSequence: null, usage: null },
      ];
      const { frames } = splitFrames(Buffer.from(encodeFrames(parts.flatMap((part) => target.push(part)))));
      return {
        events: frames.map(({ event }) => event),
        item: listOf(objectOf(assemble(frames))['output'])[0],
      };
    };
    const searched = called({ input: [{ type: 'additional_tools', tools: [search] }] });
    assert.deepEqual(searched.item, {
      id: 'tsc_1_0',
      type: 'tool_search_call',
      status: 'completed',
      call_id: 'c1',
      execution: 'client',
      arguments: { query: 'maps' },
    });
    assert.equal(
      searched.events.some((event) => event.includes('arguments')),
      false,
    );
    assert.equal(objectOf(called({ tools: [] }).item)['type'], 'function_call');
  });
});

describe('a responses stream from an upstream', () => {
  it('has an incomplete call if the token limit cut it off, also without the end of the call', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'list', arguments: '' };
    const begun = [
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"dir"' },
    ];
    const ended = (status: string) =>
      decodedParts(...begun, { type: `response.${status}`, response: { status, output: [] } }).find(
        ({ type }) => type === 'tool-call-end',
      );
    assert.equal(objectOf(ended('incomplete'))['complete'], false);
    assert.equal(objectOf(ended('completed'))['complete'], true);
  });
});

describe('a responses stream for a client', () => {
  it('has sources for a whole text at its end, with its length, and none without a URL', () => {
    const native = { format: 'anthropic-messages' as const, value: {} };
    const source = { title: 'T', text: null, start: null, end: null, native };
    const target = writer({ id: 'req_1', model: 'm', startedAt: 0, includeUsage: true, request: {} });
    const parts: StreamPart[] = [
      { type: 'message-start', id: '', model: '', usage: null },
      { type: 'text-start', block: 0 },
      { type: 'citation', block: 0, citation: { ...source, url: 'https://example.org/' } },
      { type: 'citation', block: 0, citation: { ...source, url: null } },
      { type: 'text-delta', block: 0, text: 'Green.' },
      { type: 'text-end', block: 0 },
      { type: 'message-end', reason: 'stop', rawFinishReason: null, stopSequence: null, usage: null },
    ];
    const { frames } = splitFrames(Buffer.from(encodeFrames(parts.flatMap((part) => target.push(part)))));
    const [message] = listOf(objectOf(assemble(frames))['output']);
    assert.deepEqual(objectOf(listOf(objectOf(message)['content'])[0])['annotations'], [
      { type: 'url_citation', start_index: 0, end_index: 6, url: 'https://example.org/', title: 'T' },
    ]);
  });
});
