import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { demoAnswer } from './respond.ts';

const paths: Readonly<Record<string, WireFormat>> = {
  '/v1/chat/completions': 'openai-chat',
  '/v1/responses': 'openai-responses',
  '/v1/completions': 'openai-completions',
  '/v1/embeddings': 'openai-embeddings',
  '/v1/messages': 'anthropic-messages',
};

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const format = paths[request.url ?? ''];
  if (format === undefined) return response.writeHead(404).end();
  const { status, contentType, chunks } = demoAnswer(format, Buffer.concat(pieces), Date.now());
  response.writeHead(status, { 'content-type': contentType });
  for (const chunk of chunks) response.write(chunk);
  response.end();
});

let openai: OpenAI;
let anthropic: Anthropic;
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  openai = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
});
after(() => {
  server.close();
  server.closeAllConnections();
});

const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'kelvin'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
};
const question = 'What is the weather in Oslo, in kelvin?';
const expected = { city: question, unit: 'kelvin' };
const result = '281 kelvin';
const quoted = `[modelgate demo] The tool answered: ${result}`;

describe('the openai package', () => {
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'get_weather', parameters, strict: true } },
  ];

  it('runs a tool loop over chat completions', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
    const first = await openai.chat.completions.create({ model: 'tools', messages, tools });
    assert.equal(first.choices[0]?.finish_reason, 'tool_calls');
    const message = first.choices[0].message;
    const call = message.tool_calls?.[0];
    assert.ok(call?.type === 'function');
    assert.deepEqual(JSON.parse(call.function.arguments), expected);
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: result });
    const second = await openai.chat.completions.create({ model: 'tools', messages, tools });
    assert.equal(second.choices[0]?.message.content, quoted);
    assert.equal(second.choices[0].finish_reason, 'stop');
  });

  it('runs a streamed tool loop over chat completions with its own runner', async () => {
    const seen: unknown[] = [];
    const runner = openai.chat.completions.runTools({
      model: 'tools',
      stream: true,
      messages: [{ role: 'user', content: question }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The weather in a city',
            parameters,
            parse: (text: string): object => JSON.parse(text),
            function: (args: object) => {
              seen.push(args);
              return result;
            },
          },
        },
      ],
    });
    let deltas = 0;
    runner.on('chunk', (chunk) => {
      if (chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments) deltas += 1;
    });
    assert.equal(await runner.finalContent(), quoted);
    assert.deepEqual(seen, [expected]);
    assert.ok(deltas > 1);
  });

  it('calls a custom tool over chat completions', async () => {
    const body = {
      model: 'tools',
      messages: [{ role: 'user' as const, content: 'note_down this' }],
      tools: [{ type: 'custom' as const, custom: { name: 'note_down' } }],
    };
    const whole = await openai.chat.completions.create(body);
    const call = whole.choices[0]?.message.tool_calls?.[0];
    assert.ok(call?.type === 'custom');
    assert.equal(call.custom.input, 'note_down this');
  });

  const responseTools: OpenAI.Responses.Tool[] = [
    { type: 'function', name: 'get_weather', parameters, strict: true },
    { type: 'custom', name: 'note_down' },
    {
      type: 'namespace',
      name: 'crm',
      description: 'Customers',
      tools: [{ type: 'function', name: 'find_customer', parameters: { type: 'object', properties: {} } }],
    },
  ];

  it('runs a tool loop over responses', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
    const first = await openai.responses.create({ model: 'tools', input, tools: responseTools });
    const call = first.output[0];
    assert.ok(call?.type === 'function_call');
    assert.deepEqual(JSON.parse(call.arguments), expected);
    input.push(call, { type: 'function_call_output', call_id: call.call_id, output: result });
    const second = await openai.responses.create({ model: 'tools', input, tools: responseTools });
    assert.equal(second.output_text, quoted);
    assert.equal(second.status, 'completed');
  });

  it('runs a streamed tool loop over responses', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
    const stream = openai.responses.stream({ model: 'tools', input, tools: responseTools });
    let deltas = '';
    stream.on('response.function_call_arguments.delta', (event) => {
      deltas += event.delta;
    });
    const first = await stream.finalResponse();
    const call = first.output[0];
    assert.ok(call?.type === 'function_call');
    assert.deepEqual(JSON.parse(deltas), expected);
    assert.equal(call.arguments, deltas);
    input.push(
      { type: 'function_call', call_id: call.call_id, name: call.name, arguments: call.arguments },
      { type: 'function_call_output', call_id: call.call_id, output: [{ type: 'input_text', text: result }] },
    );
    const second = await openai.responses
      .stream({ model: 'tools', input, tools: responseTools })
      .finalResponse();
    assert.equal(second.output_text, quoted);
  });

  for (const [name, type, text] of [
    ['custom', 'custom_tool_call', 'note_down this'],
    ['namespaced', 'function_call', 'find_customer Ada'],
  ] as const) {
    it(`reads a streamed call of a ${name} tool over responses`, async () => {
      const body = { model: 'tools', input: text, tools: responseTools };
      const stream = await openai.responses.create({ ...body, stream: true });
      let last: OpenAI.Responses.ResponseStreamEvent | undefined;
      for await (const event of stream) last = event;
      assert.ok(last?.type === 'response.completed');
      const item = last.response.output[0];
      assert.equal(item?.type, type);
      if (item?.type === 'custom_tool_call') assert.equal(item.input, text);
      if (item?.type === 'function_call') assert.equal(item.namespace, 'crm');
    });
  }

  it('reads completions, streamed completions and embeddings', async () => {
    const whole = await openai.completions.create({ model: 'echo', prompt: 'hi' });
    let streamed = '';
    for await (const chunk of await openai.completions.create({
      model: 'echo',
      prompt: 'hi',
      stream: true,
    })) {
      streamed += chunk.choices[0]?.text ?? '';
    }
    assert.equal(whole.choices[0]?.text, '[modelgate demo] You said: hi');
    assert.equal(streamed, whole.choices[0].text);
    // The package asks for base64 unless told otherwise, and decodes it.
    const decoded = await openai.embeddings.create({ model: 'echo', input: ['hi'] });
    const plain = await openai.embeddings.create({ model: 'echo', input: ['hi'], encoding_format: 'float' });
    assert.equal(decoded.data[0]?.embedding.length, 256);
    assert.deepEqual(decoded.data[0].embedding, plain.data[0]?.embedding);
  });

  it('recognises the errors', async () => {
    await assert.rejects(openai.responses.create({ model: 'gpt-9', input: 'hi' }), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'model_not_found');
      return true;
    });
    await assert.rejects(
      openai.chat.completions.create({ model: 'echo', messages: [] }),
      OpenAI.BadRequestError,
    );
  });
});

describe('the @anthropic-ai/sdk package', () => {
  const tools: Anthropic.Tool[] = [{ name: 'get_weather', input_schema: parameters }];

  for (const streamed of [false, true]) {
    it(`runs a ${streamed ? 'streamed ' : ''}tool loop over messages`, async () => {
      const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
        const body = { model: 'tools', max_tokens: 500, messages, tools };
        return streamed ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
      };
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
      const first = await ask(messages);
      assert.equal(first.stop_reason, 'tool_use');
      const call = first.content[0];
      assert.ok(call?.type === 'tool_use');
      assert.deepEqual(call.input, expected);
      assert.match(call.id, /^toolu_[0-9a-z]+$/);
      messages.push(
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: result }] },
      );
      const second = await ask(messages);
      assert.deepEqual(
        second.content.map((block) => block.type === 'text' && block.text),
        [quoted],
      );
      assert.equal(second.stop_reason, 'end_turn');
      assert.ok(second.usage.output_tokens > 0);
    });
  }

  it('receives the arguments in several deltas', async () => {
    const body = {
      model: 'tools',
      max_tokens: 500,
      messages: [{ role: 'user' as const, content: question }],
      tools,
    };
    let deltas = 0;
    const stream = anthropic.messages.stream(body).on('inputJson', () => {
      deltas += 1;
    });
    await stream.finalMessage();
    assert.ok(deltas > 1);
  });

  it('recognises the errors', async () => {
    const body = { model: 'claude-9', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hi' }] };
    await assert.rejects(anthropic.messages.create(body), Anthropic.NotFoundError);
    await assert.rejects(
      anthropic.messages.create({ ...body, model: 'echo', messages: [] }),
      Anthropic.BadRequestError,
    );
  });
});
