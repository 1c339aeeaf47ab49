import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AnswerContext,
  anthropicMessages,
  createAnswerReader,
  createAnswerWriter,
  type Format,
  gemini,
  openaiChat,
  openaiResponses,
  type StreamOptions,
  TranslationError,
  translateRequest,
  translateResponse,
  translateStream,
} from '../../src/codecs/library/library.ts';

/** What programs meet that use `modelgate/codecs`, beside the examples of its page and the pairs in the browser. */
const chat = {
  model: 'asked',
  stream: true,
  max_tokens: 9_000,
  seed: 7,
  messages: [{ role: 'user', content: 'Good morning' }],
};

const toMessages = (options: object = {}) =>
  translateRequest({
    from: openaiChat,
    to: anthropicMessages,
    model: 'claude-sonnet-4-5',
    body: chat,
    ...options,
  });

async function streamed(request: AnswerContext, text: string, options: Omit<StreamOptions, 'request'> = {}) {
  const upstream = new Blob([text]).stream().pipeThrough(translateStream({ request, id: 'r1', ...options }));
  return new Response(upstream).text();
}

const begin =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"model":"c","usage":{"input_tokens":3,"output_tokens":0}}}\n\n' +
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half"}}\n\n';
const overloaded =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';

describe('translateResponse', () => {
  it("returns the upstream's own word for the end", () => {
    const content = [{ type: 'text', text: 'Half' }];
    const answer = { id: 'm', type: 'message', role: 'assistant', model: 'c', content };
    const translated = (stop_reason: string | null) =>
      translateResponse({ request: toMessages(), body: { ...answer, stop_reason } });
    const { body, rawFinishReason } = translated('model_context_window_exceeded');
    const [choice] = body['choices'] as { finish_reason: string }[];
    assert.deepEqual([choice?.finish_reason, rawFinishReason], ['length', 'model_context_window_exceeded']);
    assert.equal(translated(null).rawFinishReason, null);
  });
});

describe('translateRequest', () => {
  it('says what it lowered and what it left out', () => {
    const { body, dropped, lowered, path } = toMessages({
      maxOutputTokens: 4_096,
      refusedFields: ['metadata'],
    });
    assert.deepEqual(
      [body['max_tokens'], lowered, dropped, path],
      [4_096, 'max_tokens=4096', ['seed'], null],
    );
  });

  it('names the field that is wrong, or that the target cannot say', () => {
    const failing = (body: object | string, to: Format = anthropicMessages) => {
      try {
        translateRequest({ from: openaiChat, to, model: 'm', body: body as string });
      } catch (error) {
        assert.ok(error instanceof TranslationError, String(error));
        return [error.code, error.field, error.status];
      }
      return null;
    };
    assert.deepEqual(failing({ ...chat, temperature: 'hot' }), ['invalid_request', 'temperature', 400]);
    assert.deepEqual(failing({ ...chat, n: 2 }), ['not_translatable', 'n', 400]);
    assert.deepEqual(failing('{'), ['invalid_json', null, 400]);
    assert.deepEqual(failing(chat, 'gemini' as never), ['format_not_supported', 'to', 400]);
  });

  it('keeps the digits of numbers in a text', () => {
    const schema = '{"type":"object","properties":{"id":{"const":1234567890123456789}}}';
    const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`;
    const body = `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[${tool}]}`;
    const request = translateRequest({ from: openaiChat, to: openaiResponses, model: 'm', body });
    assert.match(JSON.stringify(request.body), /1234567890123456789/);
  });
});

describe('translateStream', () => {
  it('ends a failed stream with the error event of the client’s format', async () => {
    const text = await streamed(toMessages(), begin + overloaded);
    assert.match(text, /"content":"Half"/);
    assert.match(text, /"error":\{"message":"Overloaded"/);
    assert.doesNotMatch(text, /\[DONE\]/);
  });

  it('fails with what the upstream reported, on request', async () => {
    await assert.rejects(streamed(toMessages(), begin + overloaded, { failures: 'throw' }), (error) => {
      assert.ok(error instanceof TranslationError);
      assert.deepEqual([error.code, error.status], ['upstream_error', 529]);
      return true;
    });
  });

  it('treats a stream without an end as a failure', async () => {
    const text = await streamed(toMessages(), begin);
    assert.match(text, /"content":"Half"/);
    assert.match(text, /"error":/);
  });

  it('accepts a whole answer in place of a stream', async () => {
    const answer = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [{ type: 'text', text: 'Whole' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 1 },
    };
    const usages: unknown[] = [];
    const text = await streamed(toMessages(), JSON.stringify(answer), {
      onUsage: (usage) => usages.push(usage?.input),
    });
    assert.match(text, /"content":"Whole"[\s\S]*\[DONE\]/);
    assert.deepEqual(usages, [3]);
  });

  it('refuses a copy of a translated request, which lacks what an answer needs', () => {
    assert.throws(() => translateStream({ request: { ...toMessages() } }), {
      code: 'invalid_request',
      field: 'request',
    });
  });
});

describe('a reader and a writer', () => {
  it('do the same as the stream, however the bytes are cut', async () => {
    const request = translateRequest({
      from: anthropicMessages,
      to: gemini,
      model: 'g',
      body: { model: 'asked', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'x' }] },
    });
    const text =
      'data: {"candidates":[{"content":{"parts":[{"text":"é 🙂"}]}}]}\r\n\r\n' +
      'data: {"candidates":[{"content":{"parts":[{"text":"!"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}\r\n\r\n';
    const options = { id: 'r1', startedAt: 0 };
    const reader = createAnswerReader(request);
    const writer = createAnswerWriter(request, options);
    const parts = [...new TextEncoder().encode(text)].flatMap((byte) => reader.push(Uint8Array.of(byte)));
    const written = [...parts, ...reader.end()].map((part) => writer.push(part)).join('');
    assert.equal(written, await streamed(request, text, options));
    assert.match(written, /"text":"é 🙂"/);
    assert.equal(writer.usage()?.output, 2);
  });
});

describe('translateResponse', () => {
  it('throws what an upstream reports in the place of an answer', () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } };
    assert.throws(() => translateResponse({ request: toMessages(), body }), {
      name: 'TranslationError',
      code: 'upstream_error',
      status: 429,
      message: 'Slow down',
    });
  });

  it('throws for input that is not an answer', () => {
    const request = toMessages();
    assert.throws(() => translateResponse({ request, body: 'teapot' }), { code: 'invalid_json' });
    assert.throws(() => translateResponse({ request, body: { hello: 1 } }), {
      name: 'TranslationError',
      status: 502,
    });
  });

  it('gives tools the names that the client has for them', () => {
    const name = 'namespace.tool with spaces';
    const request = translateRequest({
      from: gemini,
      to: openaiChat,
      model: 'm',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'x' }] }],
        tools: [{ functionDeclarations: [{ name, parameters: { type: 'OBJECT', properties: {} } }] }],
      },
    });
    const [tool] = request.body['tools'] as { function: { name: string } }[];
    assert.match(tool?.function.name ?? '', /^[a-zA-Z0-9_-]+$/);
    const call = { id: 'c1', type: 'function', function: { name: tool?.function.name, arguments: '{}' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const { body } = translateResponse({
      request,
      body: { id: 'x', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
    });
    assert.ok(JSON.stringify(body).includes(JSON.stringify(name)));
  });
});
