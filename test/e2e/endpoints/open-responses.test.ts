import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { listOf, objectOf } from '../../../src/codecs/json/values.ts';
import type { Reply } from '../../support/clients/client.ts';
import { assertItems, assertOutput, assertResource } from '../../support/formats/open-responses.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatStream, messagesStream } from '../../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../support/upstream/answers-native.ts';
import { stream } from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

/**
 * The suite of Open Responses, as its runner does it (gateways' 5.10): seven requests to `{base}/responses`, all at
 * once, against servers of every other format.
 */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'The city' } },
    required: ['location'],
  },
};
const tooled = { input: [user("What's the weather in San Francisco?")], tools: [weather] };

/** The core requests, and a word that the upstream must be shown of each. */
const core: Readonly<Record<string, { body: object; shows: RegExp }>> = {
  text: { body: { input: [user('Say hello in exactly 3 words.')], stream: false }, shows: /exactly 3 words/ },
  streaming: { body: { input: [user('Count from 1 to 5.')], stream: true }, shows: /from 1 to 5/ },
  system: {
    body: {
      input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')],
      stream: false,
    },
    shows: /pirate.*Say hello|Say hello.*pirate/,
  },
  tool: { body: { ...tooled, stream: false }, shows: /get_weather/ },
  'streaming tool': { body: { ...tooled, stream: true }, shows: /get_weather/ },
  image: {
    body: {
      input: [
        user([
          { type: 'input_text', text: 'What is in this image?' },
          { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
        ]),
      ],
      stream: false,
    },
    shows: /iVBORw0KGgo/,
  },
  history: {
    body: {
      input: [
        user('My name is Alice.'),
        { type: 'message', role: 'assistant', content: 'Hello Alice! Nice to meet you.' },
        user('What is my name?'),
      ],
      stream: false,
    },
    shows: /Alice\..*Nice to meet you.*my name\?/,
  },
};

const call = { id: 'call_1', name: 'get_weather', arguments: '{"location":"San Francisco"}' };
type Answer = (options: { text: string[]; tools: (typeof call)[] }) => string;
const servers: Readonly<Record<string, { model: string; answer: Answer }>> = {
  chat: { model: 'up/m-1', answer: (options) => chatStream(options).text },
  messages: { model: 'anth/m-1', answer: (options) => messagesStream(options).text },
  gemini: { model: 'plain-gemini/m-1', answer: geminiStream },
  ollama: { model: 'plain-ollama/m-1', answer: ollamaStream },
};

/** The events of the specification (`StreamingEvent`); all others need a vendor's prefix. */
const events: ReadonlySet<string> = new Set([
  ...['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map(
    (end) => `response.${end}`,
  ),
  ...['output_item', 'content_part', 'reasoning_summary_part'].flatMap((what) => [
    `response.${what}.added`,
    `response.${what}.done`,
  ]),
  ...['output_text', 'refusal', 'reasoning', 'reasoning_summary_text', 'function_call_arguments'].flatMap(
    (what) => [`response.${what}.delta`, `response.${what}.done`],
  ),
  'response.output_text.annotation.added',
  'error',
]);

function eventsOf(reply: Reply): Record<string, unknown>[] {
  const lines = reply.text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

function assertConforms(response: unknown, told: readonly Record<string, unknown>[]): void {
  assertResource(objectOf(response));
  assertOutput(objectOf(response));
  assertItems(told);
  for (const event of told) if (event['response'] !== undefined) assertResource(objectOf(event['response']));
}

describe('the suite of Open Responses', () => {
  const at = setting();
  before(async () => {
    const baseUrl = at.upstream.url;
    for (const format of ['gemini', 'ollama'])
      await at.gateway.connect({ provider: `${format}-compatible`, name: `plain-${format}`, baseUrl });
  });

  for (const [name, { answer, model }] of Object.entries(servers)) {
    it(`is answered by a server of ${name}, all requests at once`, async () => {
      const calls = (request: SeenRequest) => request.body.includes('get_weather');
      at.upstream.respond((request) => [
        stream(answer(calls(request) ? { text: [], tools: [call] } : { text: ['Hi', ' there'], tools: [] })),
      ]);
      const replies = await Promise.all(
        Object.entries(core).map(async ([what, { body }]) => {
          const reply = await at.gateway.ask('/v1/responses', { model, ...body });
          return { what, reply, tool: what.endsWith('tool'), streams: what.startsWith('streaming') };
        }),
      );
      for (const { reply, streams, tool, what } of replies) {
        assert.equal(reply.status, 200, `${what}: ${reply.text}`);
        const type = streams ? /^text\/event-stream/ : /^application\/json/;
        assert.match(reply.header('content-type') ?? '', type, what);
        const last = streams
          ? eventsOf(reply).at(-1)
          : { type: 'response.completed', response: reply.json() };
        assert.ok(last?.['type'] === 'response.completed', what);
        const { output, status } = last['response'] as {
          output: Record<string, unknown>[];
          status: string;
        };
        assert.equal(status, 'completed', what);
        assertConforms(last['response'], streams ? eventsOf(reply) : []);
        if (tool) {
          const { arguments: args, call_id, name: called, type } = output.at(-1) ?? {};
          assert.deepEqual([type, called], ['function_call', 'get_weather'], what);
          assert.deepEqual(JSON.parse(String(args)), { location: 'San Francisco' });
          assert.match(String(call_id), /^call_/);
        } else assert.match(JSON.stringify(output), /"text":"Hi there"/, what);
      }
      const bodies = await Promise.all(
        at.upstream.requests.map(async ({ whole }) => (await whole).toString()),
      );
      assert.equal(bodies.length, Object.keys(core).length);
      for (const [what, { shows }] of Object.entries(core))
        assert.ok(
          bodies.some((body) => shows.test(body)),
          `${what} was not shown`,
        );
    });

    it(`sees no unknown fields from a server of ${name}`, async () => {
      at.upstream.always(stream(answer({ text: ['Hi'], tools: [call] })));
      const reply = await at.gateway.ask('/v1/responses', { model, ...tooled, stream: true });
      const told = eventsOf(reply);
      assert.ok(told.length > 8, reply.text);
      for (const event of told) assert.ok(events.has(String(event['type'])), String(event['type']));
      assert.deepEqual(
        told.map((event) => event['sequence_number']),
        told.map((_, index) => index),
      );
    });
  }

  it('is answered by the demo', async () => {
    for (const [what, { body }] of Object.entries(core)) {
      const reply = await at.gateway.ask('/v1/responses', { model: 'demo/tools', ...body });
      assert.equal(reply.status, 200, `${what}: ${reply.text}`);
      const told = what.startsWith('streaming') ? eventsOf(reply) : [];
      const response = told.length === 0 ? reply.json() : told.at(-1)?.['response'];
      assertConforms(response, told);
      const { output, status } = objectOf(response);
      assert.equal(status, 'completed', what);
      const type = what.endsWith('tool') ? 'function_call' : 'message';
      assert.equal(objectOf(listOf(output)[0])['type'], type, what);
    }
  });

  it('sees free text input only for custom tools', async () => {
    const patch = { type: 'custom', name: 'patch', description: 'Takes a patch' };
    const ask = (tools: object[]) =>
      at.gateway.ask('/v1/responses', { model: 'up/m-1', input: 'Go', stream: true, tools });
    const called = { id: 'call_1', name: 'patch', arguments: '{"input":"*** Begin"}' };
    at.upstream.always(stream(chatStream({ text: [], tools: [called] }).text));
    const custom = eventsOf(await ask([patch])).filter(({ type }) => !events.has(String(type)));
    assert.deepEqual(
      new Set(custom.map(({ type }) => type)),
      new Set(['response.custom_tool_call_input.delta', 'response.custom_tool_call_input.done']),
    );
    const plain = eventsOf(await ask([{ ...weather, name: 'patch' }]));
    assert.ok(plain.every(({ type }) => events.has(String(type))));
  });
});
