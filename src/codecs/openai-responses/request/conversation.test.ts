import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withoutRawReasons } from '../../../../test/support/formats/arbitrary.ts';
import { GatewayError } from '../../../lib/error.ts';
import { splitFrames } from '../../../lib/streams/sse.ts';
import { listOf, objectOf } from '../../json/values.ts';
import { plainDialect } from '../../model/dialect.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { noUsage } from '../../wire-format.ts';
import { assemble } from '../answer/assemble.ts';
import { reader } from '../answer/reader.ts';
import { writer } from '../answer/writer.ts';
import { decodeRequest } from './decode.ts';
import { encodeRequest } from './encode.ts';

const context = {
  id: 'req_0m1',
  model: 'gpt',
  startedAt: 1_790_000_000_000,
  includeUsage: true,
  request: {},
};
const written = (parts: readonly StreamPart[]) => {
  const target = writer(context);
  return encodeFrames(parts.flatMap((part) => target.push(part)));
};
const readBack = (bytes: Buffer | string) => {
  const source = reader();
  return [...splitFrames(Buffer.from(bytes)).frames.flatMap((frame) => source.push(frame)), ...source.end()];
};

const answer: StreamPart[] = [
  { type: 'message-start', id: 'resp_0m1', model: 'gpt', usage: null },
  { type: 'reasoning-start', block: 0, summary: true },
  { type: 'reasoning-delta', block: 0, text: 'Let me see.' },
  { type: 'reasoning-end', block: 0, encrypted: null },
  { type: 'text-start', block: 1 },
  { type: 'text-delta', block: 1, text: 'Reading ' },
  { type: 'text-delta', block: 1, text: 'naïve.' },
  { type: 'text-end', block: 1 },
  { type: 'tool-call-start', block: 2, id: 'call_1', name: 'read', kind: 'function' },
  { type: 'tool-call-start', block: 3, id: 'call_2', name: 'patch', kind: 'custom', namespace: 'fs' },
  { type: 'tool-call-delta', block: 2, text: '{"path":' },
  { type: 'tool-call-delta', block: 3, text: '*** Begin' },
  { type: 'tool-call-delta', block: 2, text: '"a"}' },
  { type: 'tool-call-end', block: 2, complete: true },
  { type: 'tool-call-end', block: 3, complete: true },
  {
    type: 'message-end',
    reason: 'tool-calls',
    rawFinishReason: null,
    stopSequence: null,
    usage: { ...noUsage, input: 10, cacheRead: 5, output: 7, reasoning: 3 },
    tier: 'flex',
  },
];

describe('a responses stream', () => {
  it('is read as it was written', () => {
    assert.deepEqual(withoutRawReasons(readBack(written(answer))), answer);
  });

  it('numbers its events without gaps and ends with [DONE]', () => {
    const { frames } = splitFrames(Buffer.from(written(answer)));
    assert.equal(frames.at(-1)?.data, '[DONE]');
    const numbers = frames.slice(0, -1).map(({ data }) => JSON.parse(data).sequence_number);
    assert.deepEqual(numbers, [...numbers.keys()]);
  });

  it('assembles into the complete response', () => {
    const whole = assemble(splitFrames(Buffer.from(written(answer))).frames);
    assert.deepEqual(
      listOf(whole?.['output'])
        .map(objectOf)
        .map(({ status, type }) => [type, status]),
      [
        ['reasoning', 'completed'],
        ['message', 'completed'],
        ['function_call', 'completed'],
        ['custom_tool_call', 'completed'],
      ],
    );
    assert.deepEqual(whole?.['usage'], {
      input_tokens: 15,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 25,
    });
  });

  it('gives the same parts however many of its deltas are missing', () => {
    const thin = splitFrames(Buffer.from(written(answer)))
      .frames.filter(({ event }) => !event.endsWith('.delta') && !event.includes('content_part'))
      .map(({ data, event }) => `event: ${event}\ndata: ${data}\n\n`)
      .join('');
    const texts = (parts: StreamPart[]) =>
      parts.flatMap((part) => ('text' in part ? [part.text] : [])).sort();
    assert.deepEqual(
      texts(readBack(thin)),
      ['*** Begin', 'Let me see.', 'Reading naïve.', '{"path":"a"}'].sort(),
    );
  });

  it('is an error and has no end if it breaks off', () => {
    const cut = written(answer.slice(0, -1));
    assert.equal(readBack(cut).at(-1)?.type, 'error');
    assert.equal(
      readBack(
        'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"server_error","message":"no"}}}\n\n',
      ).at(-1)?.type,
      'error',
    );
  });

  it('of every recorded fixture starts once, closes every block and ends once', () => {
    const folder = join(import.meta.dirname, '../fixtures');
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.sse'))) {
      const parts = readBack(readFileSync(join(folder, name)));
      assert.equal(parts[0]?.type === 'message-start' || parts[0]?.type === 'error', true, name);
      const ends = parts.filter(({ type }) => type === 'message-end' || type === 'error');
      assert.deepEqual(ends, parts.slice(-1), name);
      if (parts.at(-1)?.type === 'error') continue;
      const count = (suffix: string) =>
        parts.filter(({ type }) => type.endsWith(suffix) && !type.startsWith('message')).length;
      assert.equal(count('-start'), count('-end'), name);
    }
  });
});

describe('a responses request', () => {
  const request = {
    model: 'gpt-5',
    instructions: 'Be brief.',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'gAAA',
      },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{"path":"a"}' },
      { type: 'custom_tool_call', call_id: 'call_2', namespace: 'fs', name: 'patch', input: '*** Begin' },
      { type: 'function_call_output', call_id: 'call_1', output: 'text' },
      {
        type: 'custom_tool_call_output',
        call_id: 'call_2',
        output: [
          { type: 'input_text', text: 'ok' },
          { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'auto' },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        name: 'read',
        description: 'Reads',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
      {
        type: 'namespace',
        name: 'fs',
        tools: [
          {
            type: 'custom',
            name: 'patch',
            format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
          },
        ],
      },
    ],
    tool_choice: { type: 'function', name: 'read' },
    parallel_tool_calls: false,
    max_output_tokens: 100,
    reasoning: { effort: 'high', summary: 'auto' },
    text: {
      format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true },
      verbosity: 'low',
    },
    prompt_cache_key: 'k',
    store: false,
    stream: true,
  };

  it('is the same after it was decoded and encoded', () => {
    const first = decodeRequest(request);
    assert.deepEqual(decodeRequest(encodeRequest(first, plainDialect)), first);
  });

  it('is encoded to the same bytes every time', () => {
    const text = () => JSON.stringify(encodeRequest(decodeRequest(structuredClone(request)), plainDialect));
    assert.equal(text(), text());
  });

  it('keeps tools of Codex that are an item, and instructions that are items', () => {
    const conversation = decodeRequest({
      model: 'm',
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'namespace', name: 'fs', tools: [{ type: 'function', name: 'read' }] }],
        },
        { role: 'developer', content: 'first' },
        { role: 'user', content: 'hi' },
        { role: 'developer', content: 'later' },
      ],
    });
    assert.deepEqual(
      conversation.tools.map((tool) => tool.kind === 'function' && [tool.namespace, tool.name]),
      [['fs', 'read']],
    );
    assert.deepEqual(conversation.system, [{ type: 'text', text: 'first' }]);
    assert.deepEqual(
      conversation.messages.map(({ role }) => role),
      ['user', 'system'],
    );
  });

  it('is refused by name if it refers to an earlier response', () => {
    assert.throws(
      () => decodeRequest({ model: 'm', input: 'x', previous_response_id: 'resp_1' }),
      (error) =>
        error instanceof GatewayError && error.param === 'previous_response_id' && error.status === 400,
    );
  });

  it('is refused with the path of a field of the wrong type', () => {
    const wrong: [object, string][] = [
      [{ input: 5 }, 'input'],
      [{ input: [{ role: 'user', content: 5 }] }, 'input[0].content'],
      [{ input: [{ role: 'nobody', content: '' }] }, 'input[0].role'],
      [{ input: 'x', temperature: 'warm' }, 'temperature'],
      [{ input: 'x', tools: [{ type: 'function' }] }, 'tools[0].name'],
    ];
    for (const [body, param] of wrong)
      assert.throws(
        () => decodeRequest({ model: 'm', ...body }),
        (error) => error instanceof GatewayError && error.param === param,
      );
  });
});
