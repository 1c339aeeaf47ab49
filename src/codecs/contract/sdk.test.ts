import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import type { StreamCodec } from '../codec.ts';
import { codecOf } from '../index.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import type { WireFormat } from '../wire-format.ts';

/** What the codecs write, read by the vendors' own clients over a socket. */
function streamOf(format: WireFormat): StreamCodec {
  const { stream } = codecOf(format);
  assert.ok(stream !== null);
  return stream;
}

let server: Server;
let baseURL = '';
let answer: Buffer = Buffer.alloc(0);

before(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const openai = () => new OpenAI({ apiKey: 'sk-test', baseURL: `${baseURL}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: 'sk-test', baseURL, maxRetries: 0 });

const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'gpt-5.4',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Reading – 東京',
        refusal: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
          { id: 'call_2', type: 'function', function: { name: 'list', arguments: '{}' } },
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 },
};

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5',
  content: [
    { type: 'thinking', thinking: 'Hm – ✓', signature: 'EqMB' },
    {
      type: 'text',
      text: 'Reading 東京',
      citations: [{ type: 'char_location', cited_text: 'x', document_index: 0 }],
    },
    { type: 'redacted_thinking', data: 'opaque' },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a', deep: { usage: 1 } } },
    { type: 'tool_use', id: 'toolu_2', name: 'list', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  stop_details: null,
  usage: {
    input_tokens: 12,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: null,
    output_tokens: 8,
  },
};

const responsesAnswer = JSON.parse(
  readFileSync(new URL('../openai-responses/fixtures/answer.json', import.meta.url), 'utf8'),
) as JsonObject;
const output = [
  {
    id: 'rs_1',
    type: 'reasoning',
    summary: [
      { type: 'summary_text', text: 'Hm' },
      { type: 'summary_text', text: 'Yes' },
    ],
    content: [{ type: 'reasoning_text', text: 'long' }],
    encrypted_content: 'g',
  },
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [
      {
        type: 'output_text',
        text: 'Reading 東京',
        annotations: [{ type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }],
        logprobs: [],
      },
      { type: 'refusal', refusal: 'Not that.' },
    ],
  },
  {
    id: 'fc_1',
    type: 'function_call',
    status: 'completed',
    call_id: 'c1',
    name: 'read',
    arguments: '{"path":"a"}',
  },
  { id: 'ct_1', type: 'custom_tool_call', status: 'completed', call_id: 'c2', name: 'exec', input: 'ls' },
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
];

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const item of items) seen.push(item);
  return seen;
}

const chatRequest = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };

describe('an official SDK', () => {
  it('collects a chat stream into the chat completion that it was written from', async () => {
    answer = Buffer.from(streamOf('openai-chat').encodeFramesOf(chatAnswer));
    const collected = await openai().chat.completions.stream(chatRequest).finalChatCompletion();
    const { parsed: _, ...message } = collected.choices[0]?.message ?? { parsed: null };
    const calls = listOf(objectOf(message)['tool_calls']).map((call) => {
      const { parsed_arguments: __, ...fn } = objectOf(objectOf(call)['function']);
      return { ...objectOf(call), function: fn };
    });
    assert.deepEqual({ ...message, tool_calls: calls }, chatAnswer.choices[0]?.message);
    assert.equal(collected.choices[0]?.finish_reason, 'tool_calls');
    assert.deepEqual(collected.usage, chatAnswer.usage);
    assert.equal(collected.id, chatAnswer.id);
  });

  it('collects a messages stream into the message that it was written from', async () => {
    answer = Buffer.from(streamOf('anthropic-messages').encodeFramesOf(message));
    const request = { model: 'm', max_tokens: 10, messages: chatRequest.messages };
    const collected = await anthropic().messages.stream(request).finalMessage();
    assert.deepEqual(JSON.parse(JSON.stringify({ ...collected, parsed_output: undefined })), message);
  });

  it('collects a responses stream into the response that it was written from, by its events alone', async () => {
    const response = { ...responsesAnswer, output };
    const { frames } = splitFrames(Buffer.from(streamOf('openai-responses').encodeFramesOf(response)));
    // Without the terminal event's own copy, what is collected comes from the items' events.
    const events = frames.map((frame) => objectOf(JSON.parse(frame.data)));
    answer = Buffer.from(streamOf('openai-responses').encodeFramesOf(response));
    const seen = await collect(await openai().responses.create({ model: 'm', input: 'hi', stream: true }));
    assert.deepEqual(seen, events);
    const collected = await openai().responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    const plain = objectOf(JSON.parse(JSON.stringify(collected)));
    assert.deepEqual(plain['usage'], response['usage' as keyof typeof response]);
    const withoutParsed = listOf(plain['output']).map((item) => {
      const { parsed_arguments: _, ...rest } = objectOf(item);
      const content = listOf(rest['content']).map((part) => {
        const { parsed: __, ...bare } = objectOf(part);
        return bare;
      });
      return 'content' in rest ? { ...rest, content } : rest;
    });
    assert.deepEqual(withoutParsed, output);
  });

  it('collects a completions stream into the text completion that it was written from', async () => {
    const completion = {
      id: 'c',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{ text: 'a + b', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: chatAnswer.usage,
    };
    answer = Buffer.from(streamOf('openai-completions').encodeFramesOf(completion));
    const chunks = await collect(
      await openai().completions.create({ model: 'm', prompt: 'p', stream: true }),
    );
    assert.equal(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.text)).join(''), 'a + b');
    assert.deepEqual(chunks.at(-1)?.usage, completion.usage);
  });
});

describe('an official SDK that reads an error inside a stream', () => {
  const failure = new GatewayError('upstream_overloaded', 'The upstream is busy');

  it('throws it for chat', async () => {
    const whole = streamOf('openai-chat').encodeFramesOf(chatAnswer);
    const first = whole.slice(0, whole.indexOf('\n\n') + 2);
    answer = Buffer.from(first + streamOf('openai-chat').encodeErrorFrame(failure, 'req_1'));
    await assert.rejects(
      collect(await openai().chat.completions.create({ ...chatRequest, stream: true })),
      /The upstream is busy/,
    );
  });

  it('throws it for messages, with its type', async () => {
    answer = Buffer.from(streamOf('anthropic-messages').encodeErrorFrame(failure, 'req_1'));
    const stream = anthropic().messages.create({
      model: 'm',
      max_tokens: 10,
      messages: chatRequest.messages,
      stream: true,
    });
    await assert.rejects(collect(await stream), (error: unknown) => {
      assert.ok(error instanceof Anthropic.APIError);
      assert.match(error.message, /overloaded_error.*The upstream is busy/);
      return true;
    });
  });

  it('gives a failed response for responses', async () => {
    answer = Buffer.from(streamOf('openai-responses').encodeErrorFrame(failure, 'req_1'));
    const [event] = await collect(await openai().responses.create({ model: 'm', input: 'hi', stream: true }));
    assert.ok(event?.type === 'response.failed');
    assert.equal(event.response.status, 'failed');
    assert.deepEqual(event.response.error, { code: 'server_error', message: 'The upstream is busy' });
  });
});

describe('keep-alives between two frames', () => {
  it('are ignored by the official SDKs', async () => {
    const between = (format: WireFormat, whole: Buffer) =>
      Buffer.from(whole.toString().replaceAll('\n\n', `\n\n${streamOf(format).keepAlive}`));
    answer = between('openai-chat', Buffer.from(streamOf('openai-chat').encodeFramesOf(chatAnswer)));
    const chat = await openai().chat.completions.stream(chatRequest).finalChatCompletion();
    assert.equal(chat.choices[0]?.message.content, 'Reading – 東京');
    answer = between(
      'anthropic-messages',
      Buffer.from(streamOf('anthropic-messages').encodeFramesOf(message)),
    );
    const request = { model: 'm', max_tokens: 10, messages: chatRequest.messages };
    assert.equal(
      (await anthropic().messages.stream(request).finalMessage()).content.length,
      message.content.length,
    );
    answer = between(
      'openai-responses',
      Buffer.from(streamOf('openai-responses').encodeFramesOf({ ...responsesAnswer, output })),
    );
    const response = await openai().responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    assert.equal(response.output.length, output.length);
  });
});
