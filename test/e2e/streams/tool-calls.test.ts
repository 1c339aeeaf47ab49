import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { asAsked, chat, type Format, messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chunk, cut, end, open, pause, stream } from '../../support/upstream/steps.ts';

interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

/** A stream with tool calls, and the calls that it stands for. */
interface ToolStream {
  format: Format;
  what: string;
  text: string;
  calls: readonly ToolCall[];
  /** The vendor's own SDK understands it too. */
  sdk: boolean;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, value: object) => `event: ${type}\n${data({ type, ...value })}`;

const weather: ToolCall = { id: 'call_1', name: 'weather', input: { city: 'Zürich 🙂', days: [1, 2] } };
const clock: ToolCall = { id: 'call_2', name: 'clock', input: { zone: 'CET' } };
const idle: ToolCall = { id: 'call_1', name: 'idle', input: {} };
const weatherJson = JSON.stringify(weather.input);
const clockJson = JSON.stringify(clock.input);

function chatText(...deltas: object[]): string {
  const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm-1' };
  const chunks = [{ role: 'assistant', content: null }, ...deltas].map((delta) => {
    const { finish_reason = null, ...rest } = delta as { finish_reason?: string };
    return data({ ...base, choices: [{ index: 0, delta: rest, finish_reason }] });
  });
  const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
  return `${chunks.join('')}${data({ ...base, choices: [], usage })}data: [DONE]\n\n`;
}

const fn = (index: number | undefined, id: string | undefined, func: object) => ({
  tool_calls: [
    {
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id, type: 'function' }),
      function: func,
    },
  ],
});
const finished = { finish_reason: 'tool_calls' };

const chatStreams: readonly Omit<ToolStream, 'format'>[] = [
  {
    what: 'arguments in many pieces',
    text: chatText(
      fn(0, 'call_1', { name: 'weather', arguments: '' }),
      ...Array.from(weatherJson, (character) => fn(0, undefined, { arguments: character })),
      finished,
    ),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'name and arguments in one piece',
    text: chatText(fn(0, 'call_1', { name: 'weather', arguments: weatherJson }), finished),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'arguments after the finish reason',
    text: chatText(
      fn(0, 'call_1', { name: 'weather', arguments: '' }),
      finished,
      fn(0, undefined, { arguments: weatherJson }),
    ),
    calls: [weather],
    sdk: false,
  },
  {
    what: 'a whole call after the finish reason',
    text: chatText(
      fn(0, 'call_1', { name: 'weather', arguments: weatherJson }),
      finished,
      fn(1, 'call_2', { name: 'clock', arguments: clockJson }),
    ),
    calls: [weather, clock],
    sdk: false,
  },
  {
    what: 'empty arguments',
    text: chatText(fn(0, 'call_1', { name: 'idle', arguments: '' }), finished),
    calls: [idle],
    sdk: false,
  },
  {
    what: 'no arguments',
    text: chatText(fn(0, 'call_1', { name: 'idle' }), finished),
    calls: [idle],
    sdk: false,
  },
  {
    what: 'arguments as an object',
    text: chatText(fn(0, 'call_1', { name: 'weather', arguments: weather.input }), finished),
    calls: [weather],
    sdk: false,
  },
  {
    what: 'two interleaved calls',
    text: chatText(
      fn(0, 'call_1', { name: 'weather', arguments: '' }),
      fn(1, 'call_2', { name: 'clock', arguments: '' }),
      fn(0, undefined, { arguments: weatherJson.slice(0, 9) }),
      fn(1, undefined, { arguments: clockJson.slice(0, 4) }),
      fn(0, undefined, { arguments: weatherJson.slice(9) }),
      fn(1, undefined, { arguments: clockJson.slice(4) }),
      finished,
    ),
    calls: [weather, clock],
    sdk: true,
  },
  {
    what: 'two calls with the same index and different ids',
    text: chatText(
      fn(0, 'call_1', { name: 'weather', arguments: weatherJson }),
      fn(0, 'call_2', { name: 'clock', arguments: clockJson }),
      finished,
    ),
    calls: [weather, clock],
    sdk: false,
  },
  {
    what: 'two calls without an index',
    text: chatText(
      fn(undefined, 'call_1', { name: 'weather', arguments: weatherJson }),
      fn(undefined, 'call_2', { name: 'clock', arguments: clockJson }),
      finished,
    ),
    calls: [weather, clock],
    sdk: false,
  },
  {
    what: 'an empty list of calls beside text',
    text: chatText(
      { content: 'Well', tool_calls: [] },
      fn(0, 'call_1', { name: 'weather', arguments: weatherJson }),
      finished,
    ),
    calls: [weather],
    sdk: true,
  },
];

/** A responses stream of these items' events; its terminal event lists `items`, or nothing. */
function responsesText(events: readonly string[], items: readonly object[]): string {
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm-1',
    output: items,
    usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
  };
  const created = { ...response, status: 'in_progress', output: [], usage: null };
  return [
    event('response.created', { response: created }),
    ...events,
    event('response.completed', { response }),
  ].join('');
}

const item = (call: ToolCall, args: unknown = JSON.stringify(call.input)) => ({
  id: `fc_${call.id}`,
  type: 'function_call',
  status: 'completed',
  call_id: call.id,
  name: call.name,
  arguments: args,
});
const added = (index: number, call: ToolCall) =>
  event('response.output_item.added', {
    output_index: index,
    item: { ...item(call, ''), status: 'in_progress' },
  });
const place = (index: number, call: ToolCall) => ({ output_index: index, item_id: `fc_${call.id}` });
const argsDelta = (index: number, call: ToolCall, delta: string) =>
  event('response.function_call_arguments.delta', { ...place(index, call), delta });
const argsDone = (index: number, call: ToolCall, args: unknown = JSON.stringify(call.input)) =>
  event('response.function_call_arguments.done', { ...place(index, call), arguments: args });
const itemDone = (index: number, call: ToolCall, args?: unknown) =>
  event('response.output_item.done', { output_index: index, item: item(call, args) });

const responsesStreams: readonly Omit<ToolStream, 'format'>[] = [
  {
    what: 'arguments in many pieces',
    text: responsesText(
      [
        added(0, weather),
        ...Array.from(weatherJson, (character) => argsDelta(0, weather, character)),
        argsDone(0, weather),
        itemDone(0, weather),
      ],
      [item(weather)],
    ),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'arguments only in .done',
    text: responsesText([added(0, weather), argsDone(0, weather), itemDone(0, weather)], [item(weather)]),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'arguments only in .done, and nothing in the final event',
    text: responsesText([added(0, weather), argsDone(0, weather)], []),
    calls: [weather],
    sdk: false,
  },
  {
    what: 'the whole call only in its item',
    text: responsesText([itemDone(0, weather)], []),
    calls: [weather],
    sdk: false,
  },
  {
    what: 'the whole call only in the final event',
    text: responsesText([], [item(weather)]),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'empty arguments',
    text: responsesText([added(0, idle), argsDone(0, idle, ''), itemDone(0, idle, '')], [item(idle, '')]),
    calls: [idle],
    sdk: true,
  },
  {
    what: 'arguments as an object',
    text: responsesText(
      [added(0, weather), itemDone(0, weather, weather.input)],
      [item(weather, weather.input)],
    ),
    calls: [weather],
    sdk: false,
  },
  {
    what: 'two interleaved calls',
    text: responsesText(
      [
        added(0, weather),
        added(1, clock),
        argsDelta(0, weather, weatherJson.slice(0, 9)),
        argsDelta(1, clock, clockJson.slice(0, 4)),
        argsDelta(0, weather, weatherJson.slice(9)),
        argsDelta(1, clock, clockJson.slice(4)),
        argsDone(1, clock),
        argsDone(0, weather),
        itemDone(1, clock),
        itemDone(0, weather),
      ],
      [],
    ),
    calls: [weather, clock],
    sdk: false,
  },
];

/** A messages stream of these events; `late` stand after the stop reason. */
function messagesText(events: readonly string[], late: readonly string[] = []): string {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 1 },
  };
  return [
    event('message_start', { message }),
    ...events,
    event('message_delta', {
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    ...late,
    event('message_stop', {}),
  ].join('');
}

const blockStart = (index: number, { id, name }: ToolCall, input: unknown = {}) =>
  event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input } });
const blockDelta = (index: number, partial_json: string) =>
  event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
const blockStop = (index: number) => event('content_block_stop', { index });

const messagesStreams: readonly Omit<ToolStream, 'format'>[] = [
  {
    what: 'input in many pieces',
    text: messagesText([
      blockStart(0, weather),
      blockDelta(0, ''),
      ...Array.from(weatherJson, (character) => blockDelta(0, character)),
      blockStop(0),
    ]),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'the whole input in the start',
    text: messagesText([blockStart(0, weather, weather.input), blockStop(0)]),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'no input',
    text: messagesText([blockStart(0, idle), blockStop(0)]),
    calls: [idle],
    sdk: true,
  },
  {
    what: 'empty input',
    text: messagesText([blockStart(0, idle), blockDelta(0, ''), blockStop(0)]),
    calls: [idle],
    sdk: true,
  },
  {
    what: 'input after the stop reason',
    text: messagesText([blockStart(0, weather)], [blockDelta(0, weatherJson), blockStop(0)]),
    calls: [weather],
    sdk: true,
  },
  {
    what: 'two interleaved calls',
    text: messagesText([
      blockStart(0, weather),
      blockStart(1, clock),
      blockDelta(0, weatherJson.slice(0, 9)),
      blockDelta(1, clockJson.slice(0, 4)),
      blockDelta(0, weatherJson.slice(9)),
      blockDelta(1, clockJson.slice(4)),
      blockStop(1),
      blockStop(0),
    ]),
    calls: [weather, clock],
    sdk: true,
  },
];

const streams: readonly ToolStream[] = [
  ...chatStreams.map((one) => ({ ...one, format: chat })),
  ...responsesStreams.map((one) => ({ ...one, format: responses })),
  ...messagesStreams.map((one) => ({ ...one, format: messages })),
];

/** The calls in a whole answer of the format. Arguments that are a string must be JSON, or nothing. */
function callsIn(format: Format, answer: unknown): ToolCall[] {
  const text = (value: unknown) =>
    typeof value === 'string' ? JSON.parse(value === '' ? '{}' : value) : value;
  if (format.name === 'chat') {
    const { choices } = answer as OpenAI.ChatCompletion;
    const calls = (choices[0]?.message.tool_calls ?? []).filter((call) => call.type === 'function');
    return calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, input: text(args) }));
  }
  if (format.name === 'responses') {
    const calls = (answer as OpenAI.Responses.Response).output.filter(({ type }) => type === 'function_call');
    return calls
      .filter((call) => call.type === 'function_call')
      .map(({ call_id, name, arguments: args }) => ({ id: call_id, name, input: text(args) }));
  }
  const { content } = answer as Anthropic.Message;
  return content
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, input }));
}

describe('tool calls in a stream', () => {
  const at = setting();

  for (const { format, what, text, calls } of streams) {
    it(`of ${format.name} with ${what} keep every byte`, async () => {
      for (const split of ['whole', 'frame', 'byte'] as const) {
        at.upstream.script([stream(text, split)]);
        const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
        assert.equal(reply.end, 'complete');
        assert.equal(reply.text, asAsked(format, text));
      }
    });

    it(`of ${format.name} with ${what} are not cut off by a pause anywhere`, async () => {
      const frames = cut(Buffer.from(text), 'frame');
      const last = frames.slice(-3);
      at.upstream.script([
        open(),
        chunk(Buffer.concat(frames.slice(0, -3))),
        ...last.flatMap((frame) => [pause(100), chunk(frame)]),
        end(),
      ]);
      const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
      assert.equal(reply.end, 'complete');
      assert.equal(reply.text, asAsked(format, text));
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([entry.outcome, entry.usage?.['output']], ['ok', 5]);
    });

    it(`of ${format.name} with ${what} are whole where no stream was asked for`, async () => {
      at.upstream.script([stream(text, 'byte')]);
      const reply = await at.gateway.ask(format.path, format.request());
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(callsIn(format, reply.json()), calls);
    });
  }

  for (const { format, what, text, calls } of streams.filter(({ sdk }) => sdk)) {
    it(`of ${format.name} with ${what} are assembled by the vendor's SDK`, async () => {
      at.upstream.script([stream(text, 'frame')]);
      const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
      const anthropic = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
      const ask = { role: 'user', content: 'hi' } as const;
      const answers = {
        chat: () =>
          openai.chat.completions.stream({ model: format.model, messages: [ask] }).finalChatCompletion(),
        responses: () => openai.responses.stream({ model: format.model, input: 'hi' }).finalResponse(),
        messages: () =>
          anthropic.messages.stream({ model: format.model, max_tokens: 9, messages: [ask] }).finalMessage(),
      };
      assert.deepEqual(callsIn(format, await answers[format.name]()), calls);
    });
  }

  for (const { format, text } of streams.filter(({ what }) => what === 'two interleaved calls')) {
    it(`of ${format.name} that break off are not made whole`, async () => {
      const frames = cut(Buffer.from(text), 'frame');
      const sent = Buffer.concat(frames.slice(0, 5));
      at.upstream.script([stream(sent)], [stream(sent)]);
      const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
      assert.equal(reply.end, 'cut');
      assert.ok(reply.text.startsWith(asAsked(format, sent.toString())));
      const whole = await at.gateway.ask(format.path, format.request());
      assert.equal(whole.status, 502, whole.text);
    });
  }
});
