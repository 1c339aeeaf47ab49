import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { type RunningGateway, startGateway } from '../support/gateway/gateway.ts';
import { chatStream, messagesStream, responsesStream } from '../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../support/upstream/answers-native.ts';
import { body, type Step, stream } from '../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';

/** Every official SDK in a streamed tool loop with a provider of every other format. */
const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Köln"}' };
const asked = { text: ['Let me see. '], reasoning: ['Hm.'], tools: [call] };
const told = { text: ['Sun', 'ny ☀'] };
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const result = '21 °C and sunny';

interface Served {
  connection: { provider: string; name: string };
  /** What it answers to the question, and to the result of its call. */
  answers: readonly [Step[], Step[]];
}

const lines = (text: string) => [body(200, text, { 'content-type': 'application/x-ndjson' })];
const events = (text: string) => [stream(text, 'frame')];

const upstreams: Readonly<Record<string, Served>> = {
  'openai-chat': {
    connection: { provider: 'openai-compatible', name: 'chat' },
    answers: [events(chatStream(asked).text), events(chatStream(told).text)],
  },
  'openai-responses': {
    connection: { provider: 'responses-compatible', name: 'resp' },
    answers: [events(responsesStream(asked).text), events(responsesStream(told).text)],
  },
  'anthropic-messages': {
    connection: { provider: 'anthropic-compatible', name: 'anth' },
    answers: [events(messagesStream(asked).text), events(messagesStream(told).text)],
  },
  gemini: {
    connection: { provider: 'gemini-compatible', name: 'goog' },
    answers: [events(geminiStream(asked)), events(geminiStream(told))],
  },
  ollama: {
    connection: { provider: 'ollama-compatible', name: 'olla' },
    answers: [lines(ollamaStream(asked)), lines(ollamaStream(told))],
  },
};

interface Place {
  url: string;
  key: string;
  model: string;
}

/** What came of a tool loop. */
interface Loop {
  call: { name: string; input: unknown };
  /** The text of the second answer. */
  text: string;
}

type Client = (place: Place) => Promise<Loop>;

const openai = ({ key, url }: Place) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

const clients: Readonly<Record<string, Client>> = {
  'openai-chat': async (place) => {
    const { completions } = openai(place).chat;
    const tools = [{ type: 'function' as const, function: { name: call.name, parameters: schema } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }];
    const ask = { model: place.model, tools };
    const first = await completions.stream({ ...ask, messages }).finalChatCompletion();
    const message = first.choices[0]?.message;
    const used = message?.tool_calls?.[0];
    assert.ok(message !== undefined && used?.type === 'function');
    messages.push(message, { role: 'tool', tool_call_id: used.id, content: result });
    const last = await completions.stream({ ...ask, messages }).finalChatCompletion();
    const { arguments: input, name } = used.function;
    return { call: { name, input: JSON.parse(input) }, text: last.choices[0]?.message.content ?? '' };
  },
  'openai-responses': async (place) => {
    const { responses } = openai(place);
    const tools = [{ type: 'function' as const, name: call.name, parameters: schema, strict: false }];
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Weather?' }];
    const ask = { model: place.model, tools, store: false };
    const first = await responses.stream({ ...ask, input }).finalResponse();
    const used = first.output.find((item) => item.type === 'function_call');
    assert.ok(used !== undefined);
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
    input.push({ type: 'function_call_output', call_id: used.call_id, output: result });
    const last = await responses.stream({ ...ask, input }).finalResponse();
    return { call: { name: used.name, input: JSON.parse(used.arguments) }, text: last.output_text };
  },
  'anthropic-messages': async ({ key, model, url }) => {
    const { messages } = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
    const tools = [{ name: call.name, input_schema: schema as Anthropic.Tool.InputSchema }];
    const ask = { model, max_tokens: 500, tools };
    const question = { role: 'user' as const, content: 'Weather?' };
    const first = await messages.stream({ ...ask, messages: [question] }).finalMessage();
    const used = first.content.find((block) => block.type === 'tool_use');
    assert.ok(used !== undefined);
    const told = { type: 'tool_result' as const, tool_use_id: used.id, content: result };
    const history: Anthropic.MessageParam[] = [
      question,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [told] },
    ];
    const last = await messages.stream({ ...ask, messages: history }).finalMessage();
    const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { call: { name: used.name, input: used.input }, text };
  },
  gemini: async ({ key, model, url }) => {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    const config = { tools: [{ functionDeclarations: [{ name: call.name, parametersJsonSchema: schema }] }] };
    const ask = async (contents: object[]) => {
      const parts = [];
      for await (const chunk of await client.models.generateContentStream({ model, contents, config }))
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      return parts;
    };
    const question = { role: 'user', parts: [{ text: 'Weather?' }] };
    const first = await ask([question]);
    const used = first.find(({ functionCall }) => functionCall !== undefined)?.functionCall;
    assert.ok(used?.name !== undefined);
    const told = { functionResponse: { id: used.id, name: used.name, response: { output: result } } };
    const last = await ask([question, { role: 'model', parts: first }, { role: 'user', parts: [told] }]);
    const text = last.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('');
    return { call: { name: used.name, input: used.args }, text };
  },
  ollama: async ({ key, model, url }) => {
    const client = new Ollama({ host: `${url}/api/v1/editor/${key}` });
    const tools = [{ type: 'function', function: { name: call.name, description: '', parameters: schema } }];
    const ask = async (messages: Parameters<typeof client.chat>[0]['messages']) => {
      const message = { role: 'assistant', content: '', tool_calls: [] as { function: OllamaCall }[] };
      for await (const chunk of await client.chat({ model, messages, tools, stream: true })) {
        message.content += chunk.message.content;
        message.tool_calls.push(...(chunk.message.tool_calls ?? []));
      }
      return message;
    };
    const question = { role: 'user', content: 'Weather?' };
    const first = await ask([question]);
    const used = first.tool_calls[0]?.function;
    assert.ok(used !== undefined);
    const told = { role: 'tool', content: result, tool_name: used.name };
    const last = await ask([question, first, told]);
    return { call: { name: used.name, input: used.arguments }, text: last.content };
  },
};

interface OllamaCall {
  name: string;
  arguments: { [key: string]: unknown };
}

let upstream: Upstream;
let gateway: RunningGateway;
before(async () => {
  upstream = await startUpstream();
  const baseUrl = upstream.url;
  const connections = Object.values(upstreams).map(({ connection }) => ({ ...connection, baseUrl }));
  gateway = await startGateway({ connections });
});
after(async () => {
  await gateway?.stop();
  await upstream?.close();
});

for (const [clientFormat, client] of Object.entries(clients)) {
  describe(`the SDK of ${clientFormat}`, () => {
    for (const [format, { answers, connection }] of Object.entries(upstreams)) {
      if (format === clientFormat) continue;
      it(`finishes a streamed tool loop with a provider of ${format}`, async () => {
        upstream.script(...answers);
        const model = `${connection.name}/m-1`;
        const loop = await client({ url: gateway.url, key: gateway.key, model });
        assert.deepEqual(loop.call, { name: 'weather', input: { city: 'Köln' } });
        assert.equal(loop.text, 'Sunny ☀');
        assert.equal(upstream.requests.length, 2);
        const sent = (await (await upstream.request(1)).whole).toString();
        assert.ok(sent.includes(result) && sent.includes('weather'), sent);
      });
    }
  });
}
