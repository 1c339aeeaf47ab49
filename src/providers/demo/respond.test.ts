import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { demoAnswer } from './respond.ts';

const NOW = 1_700_000_000_123;

function answer(format: WireFormat, body: unknown) {
  return demoAnswer(format, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), NOW);
}

type Json = Record<string, unknown>;

/** The value at `path` in decoded JSON; undefined where the path leaves it. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  let node = value;
  for (const step of path) node = (node as Record<string | number, unknown> | null | undefined)?.[step];
  return node;
}

function json(format: WireFormat, body: unknown): Json {
  return JSON.parse(Buffer.concat(answer(format, body).chunks).toString());
}

function events(format: WireFormat, body: unknown): Json[] {
  const { frames, rest } = splitFrames(Buffer.concat(answer(format, body).chunks));
  assert.equal(rest.length, 0);
  return frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data));
}

const hello: Partial<Record<WireFormat, object>> = {
  'openai-chat': { model: 'echo', messages: [{ role: 'user', content: 'Hello there' }] },
  'openai-responses': { model: 'echo', input: 'Hello there' },
  'openai-completions': { model: 'echo', prompt: 'Hello there' },
  'openai-embeddings': { model: 'echo', input: 'Hello there' },
  'anthropic-messages': {
    model: 'echo',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello there' }],
  },
};
const formats = Object.keys(hello) as WireFormat[];
const textOf: Partial<Record<WireFormat, (body: Json) => unknown>> = {
  'openai-chat': (body) => at(body, 'choices', 0, 'message', 'content'),
  'openai-responses': (body) => at(body, 'output', 0, 'content', 0, 'text'),
  'openai-completions': (body) => at(body, 'choices', 0, 'text'),
  'anthropic-messages': (body) => at(body, 'content', 0, 'text'),
};

describe('every format', () => {
  for (const format of formats) {
    it(`${format}: returns the same bytes for the same body`, () => {
      assert.deepEqual(answer(format, hello[format]), answer(format, hello[format]));
    });

    it(`${format}: refuses an unknown model and names those it has`, () => {
      const result = answer(format, { ...hello[format], model: 'gpt-9' });
      const error = JSON.parse(Buffer.concat(result.chunks).toString());
      assert.equal(result.status, 404);
      assert.match(error.error.message, /demo\/echo.*demo\/tools/);
      if (format === 'anthropic-messages') {
        assert.equal(error.type, 'error');
        assert.equal(error.error.type, 'not_found_error');
      } else {
        assert.equal(error.error.code, 'model_not_found');
        assert.equal(error.error.param, 'model');
      }
    });

    it(`${format}: answers broken bodies with a 400 in its own shape`, () => {
      for (const body of [
        '',
        '{',
        '[]',
        'null',
        '{"model":"echo"}',
        '{"model":"echo","stream":1}',
        '{"model":7}',
      ]) {
        const result = answer(format, body);
        assert.equal(result.status, 400, body);
        const error = JSON.parse(Buffer.concat(result.chunks).toString());
        assert.equal(error.error.type, 'invalid_request_error');
        assert.equal(error.type, format === 'anthropic-messages' ? 'error' : undefined);
      }
      assert.equal(demoAnswer(format, Buffer.from([0x7b, 0xff, 0x7d]), NOW).status, 400);
    });

    it(`${format}: never fails on a body of any JSON`, () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (extra) => {
          const { status, chunks } = answer(format, { ...hello[format], ...extra });
          assert.ok([200, 400, 404].includes(status) && chunks.length > 0);
        }),
        { numRuns: 200 },
      );
    });
  }

  it('never fails on tools, choices and messages of any JSON', () => {
    const any = fc.jsonValue({ maxDepth: 4 });
    const record = fc.record({
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'tool', 'assistant'), content: any })),
      input: any,
      tools: fc.array(
        fc.record({
          type: fc.constantFrom('function', 'custom', 'namespace', 'x'),
          name: any,
          parameters: any,
          tools: any,
          input_schema: any,
          function: fc.record({ name: fc.string(), parameters: any }),
        }),
      ),
      tool_choice: any,
      max_tokens: fc.constantFrom(1, 10, 1000),
      stream: fc.boolean(),
    });
    fc.assert(
      fc.property(record, fc.constantFrom(...formats), (body, format) => {
        const { status } = answer(format, { ...body, model: 'tools' });
        assert.ok(status === 200 || status === 400);
      }),
      { numRuns: 500 },
    );
  });
});

describe('echo', () => {
  for (const [format, read] of Object.entries(textOf) as [WireFormat, (body: Json) => unknown][]) {
    it(`${format}: repeats the last user text and says that it is the demo`, () => {
      assert.equal(read(json(format, hello[format])), '[modelgate demo] You said: Hello there');
    });
  }

  it('reads parts, and the last message of the user that has text', () => {
    const content = [
      { type: 'text', text: 'first' },
      { type: 'image_url', image_url: { url: 'data:,' } },
      { type: 'text', text: 'second' },
    ];
    const messages = [
      { role: 'user', content },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] },
    ];
    const chat = json('openai-chat', { model: 'echo', messages });
    assert.equal(textOf['openai-chat']?.(chat), '[modelgate demo] You said: first\nsecond');
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'part' }] }];
    assert.match(
      String(textOf['openai-responses']?.(json('openai-responses', { model: 'echo', input }))),
      /: part$/,
    );
  });

  it('streams the same text piece by piece, splitting no character', () => {
    const spoken = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.oneof(
          spoken,
          spoken.map((text) => text.repeat(5000)),
        ),
        (text) => {
          const messages = [{ role: 'user', content: text }];
          const chunks = events('openai-chat', { model: 'echo', messages, stream: true });
          const streamed = chunks.map((chunk) => at(chunk, 'choices', 0, 'delta', 'content') ?? '').join('');
          assert.equal(streamed, `[modelgate demo] You said: ${text}`);
          assert.ok(
            chunks.every((chunk) => String(at(chunk, 'choices', 0, 'delta', 'content') ?? '').isWellFormed()),
          );
        },
      ),
    );
  });

  it('streams a long text in a bounded number of pieces and time', () => {
    const content = 'word '.repeat(100_000);
    const body = { model: 'echo', stream: true, messages: [{ role: 'user', content }] };
    const { chunks, gapMs } = answer('openai-chat', body);
    assert.ok(chunks.length <= 1010);
    assert.ok(chunks.length * gapMs <= 2000);
  });

  it('stops at the limit of tokens with the reason of the format', () => {
    const limited = json('openai-chat', { ...hello['openai-chat'], max_completion_tokens: 3 });
    assert.equal(at(limited, 'choices', 0, 'finish_reason'), 'length');
    assert.equal(textOf['openai-chat']?.(limited), '[modelgate d');
    assert.equal(at(limited, 'usage', 'completion_tokens'), 3);
    const message = json('anthropic-messages', { ...hello['anthropic-messages'], max_tokens: 3 });
    assert.equal(at(message, 'stop_reason'), 'max_tokens');
    const response = json('openai-responses', { ...hello['openai-responses'], max_output_tokens: 3 });
    assert.equal(at(response, 'status'), 'incomplete');
    assert.equal(at(response, 'incomplete_details', 'reason'), 'max_output_tokens');
    assert.equal(at(response, 'output', 0, 'status'), 'incomplete');
    const last = events('openai-responses', {
      ...hello['openai-responses'],
      max_output_tokens: 3,
      stream: true,
    });
    assert.equal(at(last.at(-1), 'type'), 'response.incomplete');
  });

  it('never cuts a character in two', () => {
    const body = { model: 'echo', max_tokens: 8, messages: [{ role: 'user', content: '😀😀😀😀' }] };
    const text = String(textOf['openai-chat']?.(json('openai-chat', body)));
    assert.equal(text, '[modelgate demo] You said: 😀');
  });

  it('answers max_tokens 0 of messages with an empty message', () => {
    const body = { ...hello['anthropic-messages'], max_tokens: 0 };
    const message = json('anthropic-messages', body);
    assert.deepEqual(at(message, 'content'), []);
    assert.equal(at(message, 'stop_reason'), 'max_tokens');
    const types = events('anthropic-messages', { ...body, stream: true }).map(({ type }) => type);
    assert.deepEqual(types, ['message_start', 'message_delta', 'message_stop']);
  });

  it('stops at a stop string and says which', () => {
    const message = json('anthropic-messages', {
      ...hello['anthropic-messages'],
      stop_sequences: ['zzz', ' there'],
    });
    assert.equal(at(message, 'stop_sequence'), ' there');
    assert.match(String(textOf['anthropic-messages']?.(message)), /Hello$/);
    const chat = json('openai-chat', { ...hello['openai-chat'], stop: 'Hello' });
    assert.equal(at(chat, 'choices', 0, 'finish_reason'), 'stop');
  });

  it('sends usage in a chat stream only when asked', () => {
    const body = { ...hello['openai-chat'], stream: true };
    assert.ok(events('openai-chat', body).every((chunk) => !('usage' in chunk)));
    const chunks = events('openai-chat', { ...body, stream_options: { include_usage: true } });
    assert.deepEqual(at(chunks.at(-1), 'choices'), []);
    const usage = at(chunks.at(-1), 'usage');
    assert.equal(
      at(usage, 'total_tokens'),
      Number(at(usage, 'prompt_tokens')) + Number(at(usage, 'completion_tokens')),
    );
    assert.ok(chunks.slice(0, -1).every((chunk) => at(chunk, 'usage') === null));
  });

  it('counts about four bytes a token', () => {
    const body = hello['openai-chat'];
    const usage = at(json('openai-chat', body), 'usage');
    assert.equal(at(usage, 'prompt_tokens'), Math.ceil(JSON.stringify(body).length / 4));
    assert.equal(
      at(usage, 'completion_tokens'),
      Math.ceil('[modelgate demo] You said: Hello there'.length / 4),
    );
  });

  it('answers in the schema that the request demands', () => {
    const schema = {
      type: 'object',
      properties: {
        mood: { enum: ['sad', 'glad'] },
        note: { type: 'string' },
        when: { type: 'string', format: 'date' },
      },
      required: ['mood', 'note', 'when'],
    };
    const text = textOf['openai-chat']?.(
      json('openai-chat', {
        model: 'echo',
        messages: [{ role: 'user', content: 'I am glad' }],
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      }),
    );
    assert.deepEqual(JSON.parse(String(text)), { mood: 'glad', note: 'I am glad', when: '2026-01-15' });
  });

  it('gives one choice for each prompt', () => {
    const body = json('openai-completions', { model: 'echo', prompt: ['one', 'two'] });
    assert.match(String(at(body, 'choices', 1, 'text')), /two$/);
    const frames = events('openai-completions', { model: 'echo', prompt: ['one', 'two'], stream: true });
    assert.deepEqual([...new Set(frames.map((frame) => at(frame, 'choices', 0, 'index')))], [0, 1]);
  });
});

describe('a stream of responses', () => {
  const streamed = events('openai-responses', { ...hello['openai-responses'], stream: true });

  it('numbers its events without gaps and names each one in its frame', () => {
    assert.deepEqual(
      streamed.map((event) => at(event, 'sequence_number')),
      streamed.map((_event, index) => index),
    );
    const chunks = answer('openai-responses', { ...hello['openai-responses'], stream: true }).chunks;
    const { frames } = splitFrames(Buffer.concat(chunks));
    assert.equal(frames.at(-1)?.data, '[DONE]');
    for (const frame of frames.slice(0, -1)) assert.equal(frame.event, JSON.parse(frame.data).type);
    assert.ok(chunks.every((chunk) => splitFrames(chunk).frames.length === 1));
  });

  it('carries in its last event what the same request gets unstreamed', () => {
    // The two bodies differ in `stream`, so their ids and usage do too.
    const comparable = (response: unknown) => {
      const { id, usage, output, ...rest } = response as Json;
      assert.match(String(id), /^resp_/);
      assert.equal(typeof at(usage, 'total_tokens'), 'number');
      return { ...rest, content: at(output, 0, 'content') };
    };
    const whole = json('openai-responses', hello['openai-responses']);
    assert.deepEqual(comparable(at(streamed.at(-1), 'response')), comparable(whole));
  });
});

describe('tools', () => {
  const weather = {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 2 },
        note: { type: 'string' },
      },
      required: ['city', 'days'],
    },
  };
  const deletes = { name: 'delete_all', parameters: { type: 'object', properties: {} } };
  const chatTools = [deletes, weather].map((declared) => ({ type: 'function', function: declared }));
  const ask = (content: string, extra: object = {}) =>
    json('openai-chat', {
      model: 'tools',
      tools: chatTools,
      messages: [{ role: 'user', content }],
      ...extra,
    });
  const calledBy = (body: Json) => at(body, 'choices', 0, 'message', 'tool_calls', 0, 'function');

  it('calls the tool whose name the user speaks of, with only the required arguments', () => {
    const call = calledBy(ask('weather in Oslo for 5 days'));
    assert.equal(at(call, 'name'), 'get_weather');
    assert.deepEqual(JSON.parse(String(at(call, 'arguments'))), {
      city: 'weather in Oslo for 5 days',
      days: 5,
    });
    assert.equal(at(calledBy(ask('please delete_all')), 'name'), 'delete_all');
  });

  it('prefers a harmless tool when the user names none', () => {
    assert.equal(at(calledBy(ask('hello')), 'name'), 'get_weather');
  });

  it('starts no agents and schedules nothing unless the user says so', () => {
    const named = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
    const tools = ['Agent', 'ListAgents', 'Task', 'Workflow', 'ScheduleWakeup', 'Read'].map(named);
    assert.equal(at(calledBy(ask('hello', { tools })), 'name'), 'Read');
    assert.equal(at(calledBy(ask('start an agent', { tools })), 'name'), 'Agent');
  });

  it("ignores a coding tool's reminders in the user's text, so that a notification ends the conversation", () => {
    const reminder = '<system-reminder>\nThe agent has <b>finished</b>.\n</system-reminder>\n';
    const talk = (...messages: object[]) =>
      json('anthropic-messages', {
        model: 'tools',
        max_tokens: 1000,
        tools: [{ name: 'read', input_schema: { type: 'object' } }],
        messages: [{ role: 'user', content: [{ type: 'text', text: `${reminder}\nhello` }] }, ...messages],
      });
    const use = { type: 'tool_use', id: 'a', name: 'read', input: {} };
    const called = { role: 'assistant', content: [use] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'started' }] };
    const message = { role: 'assistant', content: 'The tool answered: started' };
    const notified = { role: 'user', content: reminder + reminder };
    assert.equal(talk()['stop_reason'], 'tool_use');
    const last = talk(called, result, message, notified);
    assert.equal(textOf['anthropic-messages']?.(last), '[modelgate demo] The tool answered: started');
    const next = { role: 'user', content: 'once more' };
    assert.equal(talk(called, result, message, notified, next)['stop_reason'], 'tool_use');

    const echoed = (content: string) =>
      textOf['anthropic-messages']?.(
        json('anthropic-messages', {
          model: 'echo',
          max_tokens: 1000,
          messages: [{ role: 'user', content }],
        }),
      );
    assert.equal(echoed(`${reminder}\nhello`), '[modelgate demo] You said: hello');
    assert.equal(echoed(`a ${reminder}b`), '[modelgate demo] You said: a b');
    assert.equal(echoed(' <system-reminder> open'), '[modelgate demo] You said:  <system-reminder> open');
  });

  it('invents harmless commands and paths', () => {
    const parameters = {
      type: 'object',
      properties: { command: { type: 'string' }, file_path: { type: 'string' }, force: { type: 'boolean' } },
      required: ['command', 'file_path', 'force'],
    };
    const tools = [{ type: 'function', function: { name: 'bash', parameters } }];
    const call = calledBy(ask('use bash to rm -rf /', { tools }));
    assert.deepEqual(JSON.parse(String(at(call, 'arguments'))), {
      command: 'echo "Modelgate demo"',
      file_path: 'README.md',
      force: false,
    });
    const shell = {
      type: 'object',
      properties: { command: { type: 'array', items: { type: 'string' } } },
      required: ['command'],
    };
    const input = [{ role: 'user', content: 'shell: rm -rf /' }];
    const body = { model: 'tools', input, tools: [{ type: 'function', name: 'shell', parameters: shell }] };
    const item = at(json('openai-responses', body), 'output', 0);
    assert.deepEqual(JSON.parse(String(at(item, 'arguments'))), { command: ['echo', 'Modelgate demo'] });
  });

  it('obeys tool_choice: none, one by name, allowed ones', () => {
    assert.equal(at(ask('weather', { tool_choice: 'none' }), 'choices', 0, 'finish_reason'), 'stop');
    const named = { type: 'function', function: { name: 'delete_all' } };
    assert.equal(at(calledBy(ask('weather', { tool_choice: named })), 'name'), 'delete_all');
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named] } };
    assert.equal(at(calledBy(ask('weather', { tool_choice: allowed })), 'name'), 'delete_all');
    const missing = ask('weather', { tool_choice: { type: 'function', function: { name: 'nope' } } });
    assert.match(String(at(missing, 'error', 'message')), /"nope", which is not among the tools/);
  });

  it('answers like echo without tools, and in text when a tool has answered', () => {
    assert.match(String(textOf['openai-chat']?.(ask('hi', { tools: [] }))), /You said: hi$/);
    const messages = [
      { role: 'user', content: 'weather' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', tool_call_id: 'a', content: 'sunny' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'rainy' }] },
      { role: 'system', content: 'be brief' },
    ];
    assert.equal(
      textOf['openai-chat']?.(ask('', { messages })),
      '[modelgate demo] The tool answered: sunny\nrainy',
    );
  });

  it('ends in the middle of arguments that are longer than the limit', () => {
    const body = ask('weather in a town with a long name', { max_tokens: 2 });
    assert.equal(at(body, 'choices', 0, 'finish_reason'), 'length');
    const message = json('anthropic-messages', {
      model: 'tools',
      max_tokens: 2,
      tools: [{ name: 'get_weather', input_schema: weather.parameters }],
      messages: [{ role: 'user', content: 'weather in a town' }],
    });
    assert.equal(at(message, 'stop_reason'), 'max_tokens');
    assert.deepEqual(at(message, 'content', 0, 'input'), {});
  });

  it('calls custom tools and tools in a namespace, and leaves those of the vendor alone', () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' };
    const custom = { type: 'custom', name: 'note_down', format: grammar };
    const group = {
      type: 'namespace',
      name: 'crm',
      description: '',
      tools: [{ type: 'function', ...weather }],
    };
    const tools = [{ type: 'web_search' }, { type: 'local_shell' }, group, custom];
    const named = json('openai-responses', { model: 'tools', input: 'the crm, please', tools });
    const first = at(named, 'output', 0);
    assert.equal(at(first, 'type'), 'function_call');
    assert.equal(at(first, 'namespace'), 'crm');
    const body = { model: 'tools', input: 'call note_down', tools, stream: true };
    const types = events('openai-responses', body).map(({ type }) => type);
    assert.ok(types.includes('response.custom_tool_call_input.delta'));
    const item = at(json('openai-responses', { ...body, stream: false }), 'output', 0);
    assert.equal(at(item, 'type'), 'custom_tool_call');
    assert.equal(at(item, 'input'), 'call note_down');
    const only = json('openai-responses', { model: 'tools', input: 'hi', tools: [{ type: 'web_search' }] });
    assert.match(String(textOf['openai-responses']?.(only)), /You said: hi/);
  });

  it('survives schemas that refer to themselves', () => {
    const all = { allOf: Array.from({ length: 12 }, () => ({ $ref: '#' })) };
    const any = { anyOf: [{ $ref: '#' }] };
    const children = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`c${index}`, { $ref: '#' }]),
    );
    const wide = { type: 'object', properties: children, required: Object.keys(children) };
    for (const parameters of [all, any, wide, { $ref: '#' }]) {
      const call = calledBy(ask('x', { tools: [{ type: 'function', function: { name: 'x', parameters } }] }));
      assert.equal(typeof JSON.parse(String(at(call, 'arguments'))), 'object');
    }
  });
});

describe('embeddings', () => {
  const embed = (extra: object) =>
    json('openai-embeddings', { model: 'echo', input: 'the cat sat', ...extra });
  const vectors = (body: Json): number[][] =>
    (at(body, 'data') as { embedding: number[] }[]).map(({ embedding }) => embedding);
  const dot = (a: number[] = [], b: number[] = []) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

  it('are unit vectors of 256 numbers, or of as many as asked', () => {
    const [vector] = vectors(embed({}));
    assert.equal(vector?.length, 256);
    assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-5);
    assert.equal(vectors(embed({ dimensions: 3072 }))[0]?.length, 3072);
    for (const dimensions of [0, 3073, 1.5, 'a'])
      assert.equal(answer('openai-embeddings', { model: 'echo', input: 'a', dimensions }).status, 400);
  });

  it('are nearer for like texts than for unlike ones', () => {
    const [cat, cats, tax] = vectors(
      embed({ input: ['the cat sat', 'a cat was sitting', 'quarterly income duties'] }),
    );
    assert.ok(dot(cat, cats) > dot(cat, tax));
  });

  it('say the same in base64 as in numbers', () => {
    const text = String(at(embed({ encoding_format: 'base64' }), 'data', 0, 'embedding'));
    const bytes = Buffer.from(text, 'base64');
    const floats = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
    assert.deepEqual(floats, at(vectors(embed({})), 0));
  });

  it('are one for each input, of text or of token numbers', () => {
    assert.equal(vectors(embed({ input: ['a', 'b', 'c'] })).length, 3);
    assert.equal(vectors(embed({ input: [1, 2, 3] })).length, 1);
    assert.equal(vectors(embed({ input: [[1, 2], [3]] })).length, 2);
    assert.equal(answer('openai-embeddings', { model: 'echo', input: ['a', ''] }).status, 400);
    assert.equal(answer('openai-embeddings', { model: 'echo', input: 'a'.repeat(40_000) }).status, 400);
  });
});
