import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codecs } from '../../src/codecs/index.ts';
import { type JsonObject, listOf, objectOf } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import { translateRequest } from '../../src/proxy/translate/request.ts';

/** Shapes of earlier turns that clients and vendors were recorded with, towards every other format that has tools. */
const formats = codecs.flatMap(({ conversation, format }) =>
  conversation === null || conversation.names.tools === undefined ? [] : [format],
);

function translated(from: WireFormat, to: WireFormat, body: JsonObject, model = 'target') {
  const connection = { id: 'c', name: 'c' } as Target['connection'];
  const target = { connection, provider: openaiCompatible, model, format: to };
  const named = from === 'gemini' ? { model: 'asked', stream: false, array: false } : null;
  const bytes = Buffer.from(JSON.stringify(from === 'gemini' ? body : { model: 'asked', ...body }));
  const { body: encoded, dropped } = translateRequest({ body: [bytes], named, target }, from);
  const text = Buffer.concat(encoded).toString();
  const request: JsonObject = JSON.parse(text);
  return { request, dropped, text };
}

const others = (from: WireFormat) => formats.filter((to) => to !== from);
const user = (text: string) => ({ role: 'user', parts: [{ text }] });

describe('a result in an answer of Google’s models', () => {
  const contents = [
    user('Weather?'),
    {
      role: 'model',
      parts: [
        { functionCall: { id: 'a', name: 'weather', args: { city: 'Oslo' } } },
        { functionResponse: { id: 'a', name: 'weather', response: { output: 'rain in Oslo' } } },
        { text: 'It rains.' },
      ],
    },
    user('And tomorrow?'),
  ];

  for (const to of others('gemini')) {
    it(`answers its call, once, towards ${to}`, () => {
      const { text } = translated('gemini', to, { contents });
      assert.equal(text.split('rain in Oslo').length, 2, text);
      assert.doesNotMatch(text, /No result was given/);
    });
  }

  it('stands between what the model said before and after it', () => {
    const { request } = translated('gemini', 'anthropic-messages', { contents });
    const shape = listOf(request['messages']).map((message) => [
      objectOf(message)['role'],
      ...listOf(objectOf(message)['content']).map((block) => objectOf(block)['type']),
    ]);
    assert.deepEqual(shape, [
      ['user', 'text'],
      ['assistant', 'tool_use'],
      ['user', 'tool_result'],
      ['assistant', 'text'],
      ['user', 'text'],
    ]);
  });
});

describe('pieces of a call in a history for Google', () => {
  const pieces = [
    { functionCall: { id: 'a', name: 'write', willContinue: true }, thoughtSignature: 'c2ln' },
    { functionCall: { partialArgs: [{ jsonPath: '$.text', stringValue: 'one ' }], willContinue: true } },
    { functionCall: { partial_args: [{ json_path: '$.text', string_value: 'two' }], willContinue: true } },
    { functionCall: {} },
    { functionCall: { id: 'b', name: 'write', partialArgs: [{ jsonPath: '$.n', numberValue: 1 }] } },
  ];
  const results = ['a', 'b'].map((id) => ({
    functionResponse: { id, name: 'write', response: { output: id } },
  }));
  const contents = [user('hi'), { role: 'model', parts: pieces }, { role: 'user', parts: results }];

  for (const to of others('gemini')) {
    it(`are one call each, towards ${to}`, () => {
      const { dropped, text } = translated('gemini', to, { contents });
      assert.deepEqual(dropped, []);
      assert.match(text, /one two/);
      assert.match(text, /\\?"n\\?":1/);
      assert.doesNotMatch(text, /No result was given/);
    });
  }
});

describe('a search for tools without ids, as OpenAI runs it itself', () => {
  const found = { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } };
  const input = [
    { role: 'user', content: 'Weather?' },
    {
      type: 'tool_search_call',
      execution: 'server',
      call_id: null,
      status: 'completed',
      arguments: { paths: ['x'] },
    },
    { type: 'tool_search_output', execution: 'server', call_id: null, status: 'completed', tools: [found] },
    { type: 'tool_search_call', id: 'tsc_2', arguments: { paths: ['y'] } },
    { type: 'tool_search_output', id: 'tso_2', tools: [] },
    { role: 'user', content: 'Go on' },
  ];

  for (const to of others('openai-responses')) {
    it(`is a call with its result, towards ${to}`, () => {
      const { request, text } = translated('openai-responses', to, { input });
      assert.doesNotMatch(text, /No result was given/);
      assert.match(JSON.stringify(request['tools']), /get_weather/);
    });
  }
});

describe('thoughts among the texts of an answer, as Mistral writes them', () => {
  const content = [
    {
      type: 'thinking',
      thinking: [
        { type: 'text', text: 'Hm.' },
        { type: 'text', text: ' Aha.' },
      ],
    },
    { type: 'text', text: 'Yes.' },
  ];
  const messages = [
    { role: 'user', content: 'Is it?' },
    { role: 'assistant', content },
    { role: 'user', content: 'Sure?' },
  ];

  it('are thoughts towards other formats', () => {
    for (const to of others('openai-chat'))
      assert.match(translated('openai-chat', to, { messages }).text, /Yes\./);
    const { request } = translated('openai-chat', 'ollama', { messages });
    assert.equal(objectOf(listOf(request['messages'])[1])['thinking'], 'Hm. Aha.');
  });
});

describe('Anthropic’s search for tools', () => {
  it('is omitted and reported if it is unknown, and all the tools that it would find are sent', () => {
    const tools = [
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { name: 'get_weather', input_schema: { type: 'object', properties: {} }, defer_loading: true },
    ];
    const asked = { max_tokens: 9, tools, messages: [{ role: 'user', content: 'Weather?' }] };
    for (const to of others('anthropic-messages')) {
      const { dropped, request } = translated('anthropic-messages', to, asked);
      assert.match(JSON.stringify(request['tools']), /get_weather/, to);
      assert.deepEqual(dropped, ['tools.defer_loading', 'tools.tool_search_tool_regex_20251119'], to);
    }
  });
});

describe('a list of allowed tools', () => {
  const fn = (name: string) => ({ type: 'function', name, parameters: { type: 'object', properties: {} } });
  const asked = (names: string[], mode = 'auto') => ({
    input: [{ role: 'user', content: 'hi' }],
    tools: ['a', 'b', 'c'].map(fn),
    tool_choice: { type: 'allowed_tools', mode, tools: names.map((name) => ({ type: 'function', name })) },
  });

  for (const to of others('openai-responses')) {
    it(`keeps the other tools in the request to ${to}, and reports nothing`, () => {
      const { dropped, request } = translated('openai-responses', to, asked(['a', 'c']));
      for (const name of ['a', 'b', 'c'])
        assert.match(JSON.stringify(request['tools']), new RegExp(`"name":"${name}"`));
      assert.deepEqual(dropped, []);
      const plain = translated('openai-responses', to, { ...asked([]), tool_choice: 'auto' });
      assert.deepEqual(request['tools'], plain.request['tools'], 'the cached beginning stays');
      assert.match(
        JSON.stringify(request),
        /call no other tools than \\"a\\", \\"c\\"|allowedFunctionNames":\["a","c"\]/,
      );
    });
  }

  it('uses the target’s own equivalent if there is one', () => {
    const choice = (names: string[], mode?: string) =>
      translated('openai-responses', 'anthropic-messages', asked(names, mode)).request['tool_choice'];
    assert.deepEqual(choice(['a'], 'required'), { type: 'tool', name: 'a' });
    assert.deepEqual(choice(['a', 'b'], 'required'), { type: 'any' });
    assert.deepEqual(choice([]), { type: 'none' });
  });
});
