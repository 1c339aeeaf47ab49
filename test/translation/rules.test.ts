import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/codecs/json/values.ts';
import { objectOf } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import { translateRequest } from '../../src/proxy/translate/request.ts';
import { conversing } from '../support/formats/formats-matrix.ts';

/** The lines of the acceptance list (gateways' section 5) that are about one member of a request. */
function asked(from: WireFormat, to: WireFormat, body: JsonObject) {
  const connection = { id: 'c', name: 'c' } as Target['connection'];
  const target = { connection, provider: openaiCompatible, model: 'target', format: to };
  const named = from === 'gemini' ? { model: 'asked', stream: true, array: false } : null;
  try {
    const bytes = Buffer.from(JSON.stringify(body));
    const sent = translateRequest({ body: [bytes], named, target }, from);
    const { addsTurn, body: encoded, dropped } = sent;
    const request: JsonObject = JSON.parse(Buffer.concat(encoded).toString());
    return { request, dropped, addsTurn, refused: null };
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.status === 400);
    const request: JsonObject = {};
    return { request, dropped: [], addsTurn: false, refused: error.param };
  }
}

const messages = [{ role: 'user', content: 'hi' }];
const chat: JsonObject = { model: 'asked', messages };
const anthropic: JsonObject = { model: 'asked', messages, max_tokens: 100 };
const responses: JsonObject = { model: 'asked', input: 'hi' };
const gemini: JsonObject = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

type Row = [from: WireFormat, to: WireFormat, body: JsonObject, names: string[]];

const cached = { type: 'text', text: 'hi', prompt_cache_breakpoint: { mode: 'explicit' } };
const strict = { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } };
const grouped = { type: 'namespace', name: 'docs', description: 'All documents', tools: [] };

const dropped: Row[] = [
  ['openai-chat', 'gemini', { ...chat, user: 'ann' }, ['user']],
  ['openai-responses', 'ollama', { ...responses, user: 'ann' }, ['user']],
  ['openai-chat', 'gemini', { ...chat, messages: [{ ...messages[0], mood: 1 }] }, ['messages.mood']],
  [
    ...(['openai-responses', 'openai-chat'] as const),
    { ...responses, reasoning: { effort: 'low', context: 'all_turns' } },
    ['reasoning.context'],
  ],
  [
    ...(['openai-chat', 'gemini'] as const),
    { ...chat, messages: [{ role: 'user', content: [cached] }] },
    ['prompt_cache_breakpoint'],
  ],
  [
    ...(['openai-chat', 'gemini'] as const),
    { ...chat, tools: [{ ...strict, cache_control: { type: 'ephemeral' } }] },
    ['cache_control', 'tools.function.strict'],
  ],
  ['openai-chat', 'ollama', { ...chat, tools: [strict] }, ['tools.function.strict']],
  ['openai-responses', 'gemini', { ...responses, tools: [grouped] }, ['tools.docs.description']],
  ['ollama', 'openai-chat', { ...chat, think: true }, ['think']],
  ['ollama', 'openai-chat', { ...chat, options: { stop: ['1', '2', '3', '4', '5'] } }, ['options.stop']],
  ['anthropic-messages', 'openai-chat', { ...anthropic, top_k: 5 }, ['top_k']],
  ['openai-chat', 'openai-responses', { ...chat, stop: 'END' }, ['stop']],
  ['openai-chat', 'anthropic-messages', { ...chat, seed: 7 }, ['seed']],
  ['gemini', 'openai-responses', { ...gemini, generationConfig: { seed: 7 } }, ['generationConfig.seed']],
  ['openai-chat', 'openai-responses', { ...chat, presence_penalty: 1 }, ['presence_penalty']],
  ['openai-chat', 'anthropic-messages', { ...chat, logit_bias: { 5: 1 } }, ['logit_bias']],
  ['openai-chat', 'anthropic-messages', { ...chat, metadata: { a: 'b' } }, ['metadata']],
  ['openai-chat', 'anthropic-messages', { ...chat, service_tier: 'flex' }, ['service_tier']],
  ['openai-responses', 'gemini', { ...responses, truncation: 'auto' }, ['truncation']],
  ['anthropic-messages', 'openai-chat', { ...anthropic, context_management: {} }, ['context_management']],
  ['openai-responses', 'gemini', { ...responses, truncation: 'disabled' }, []],
  ['openai-responses', 'gemini', { ...responses, text: { verbosity: 'low' } }, ['text.verbosity']],
  ['openai-chat', 'gemini', { ...chat, prediction: {}, moderation: {} }, ['moderation', 'prediction']],
  ['gemini', 'openai-chat', { ...gemini, safetySettings: [{}] }, ['safetySettings']],
  [
    ...(['anthropic-messages', 'openai-chat'] as const),
    {
      ...anthropic,
      messages: [...messages, { role: 'system', content: 'x', output_config: { effort: 'high' } }],
    },
    ['messages.output_config'],
  ],
];

const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };

const refused: Row[] = [
  [
    ...(['openai-chat', 'openai-responses'] as const),
    { ...chat, messages: [{ role: 'user', content: [sound] }] },
    ['input_audio'],
  ],
  ['openai-chat', 'anthropic-messages', { ...chat, n: 2 }, ['n']],
  ['openai-chat', 'anthropic-messages', { ...chat, logprobs: true }, ['logprobs']],
  ['openai-responses', 'openai-chat', { ...responses, background: true }, ['background']],
  ['openai-chat', 'gemini', { ...chat, modalities: ['audio'] }, ['modalities']],
  ['openai-responses', 'gemini', { ...responses, prompt: { id: 'p' } }, ['prompt']],
  [
    ...(['anthropic-messages', 'openai-chat'] as const),
    { ...anthropic, tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
    ['tools'],
  ],
];

describe('a field without an equivalent in the target', () => {
  for (const [from, to, body, names] of dropped) {
    it(`${from} to ${to} omits and reports ${names.join(', ') || 'nothing'}`, () => {
      const result = asked(from, to, body);
      assert.deepEqual([result.dropped, result.refused], [names, null]);
      for (const name of names) assert.equal(Object.hasOwn(result.request, name), false);
    });
  }

  for (const [from, to, body, [name]] of refused) {
    it(`${from} to ${to} is refused for ${name}`, () => {
      assert.equal(asked(from, to, body).refused, name);
    });
  }
});

describe('a field with an equivalent in the target', () => {
  it('the model is the target’s own, wherever it is named', () => {
    for (const to of ['openai-responses', 'anthropic-messages', 'ollama'] as const)
      assert.equal(asked('openai-chat', to, chat).request['model'], 'target');
    assert.equal(Object.hasOwn(asked('openai-chat', 'gemini', chat).request, 'model'), false);
  });

  it('two users stay two: their names are in the text if a format has no field for them', () => {
    const messages = [
      { role: 'user', name: 'ann', content: 'I like tea.' },
      { role: 'user', name: 'ben', content: 'I do not.' },
      { role: 'assistant', name: 'bot', content: 'Noted.' },
      { role: 'user', content: 'Who likes tea?' },
    ];
    for (const to of conversing.filter((format) => format !== 'openai-chat')) {
      const { dropped, request } = asked('openai-chat', to, { ...chat, messages });
      const text = JSON.stringify(request);
      assert.match(text, /Message from \\+"ann\\+":.*I like tea.*Message from \\+"ben\\+":.*I do not/, to);
      // In its own words a model would go on to write the like.
      assert.equal(text.includes('bot'), false);
      assert.deepEqual(dropped, ['messages.name']);
    }
  });

  it('an inserted user turn is reported', () => {
    const begins = [{ role: 'assistant', content: 'Hello.' }, ...messages];
    for (const to of ['anthropic-messages', 'gemini'] as const) {
      assert.equal(asked('openai-chat', to, { ...chat, messages: begins }).addsTurn, true);
      const own = [{ role: 'user', content: 'Go on.' }];
      assert.equal(asked('openai-chat', to, { ...chat, messages: own }).addsTurn, false);
    }
  });

  it('a search becomes the target’s own', () => {
    const searching = { ...chat, web_search_options: {} };
    const { request } = asked('openai-chat', 'gemini', searching);
    assert.deepEqual(request['tools'], [{ googleSearch: {} }]);
    const types = (asked('openai-chat', 'anthropic-messages', searching).request['tools'] as unknown[]).map(
      (tool) => objectOf(tool)['type'],
    );
    assert.deepEqual(types, ['web_search_20250305']);
  });
});
