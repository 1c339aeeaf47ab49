import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WireFormat } from '../../src/codecs/model.ts';
import type { JsonObject } from '../../src/codecs/values.ts';
import { objectOf } from '../../src/codecs/values.ts';
import type { Target } from '../../src/combos/resolve.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import { translateRequest } from '../../src/proxy/translate-request.ts';

/** The lines of the acceptance list (gateways' section 5) that are about one member of a request. */
function asked(from: WireFormat, to: WireFormat, body: JsonObject) {
  const connection = { id: 'c', name: 'c' } as Target['connection'];
  const target = { connection, provider: openaiCompatible, model: 'target', format: to };
  const named = from === 'gemini' ? { model: 'asked', stream: true, array: false } : null;
  try {
    const bytes = Buffer.from(JSON.stringify(body));
    const { body: encoded, dropped } = translateRequest({ body: [bytes], named, target }, from);
    const request: JsonObject = JSON.parse(encoded.toString());
    return { request, dropped, refused: null };
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.status === 400);
    const request: JsonObject = {};
    return { request, dropped: [], refused: error.param };
  }
}

const messages = [{ role: 'user', content: 'hi' }];
const chat: JsonObject = { model: 'asked', messages };
const anthropic: JsonObject = { model: 'asked', messages, max_tokens: 100 };
const responses: JsonObject = { model: 'asked', input: 'hi' };
const gemini: JsonObject = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

type Row = [rule: string, from: WireFormat, to: WireFormat, body: JsonObject, names: string[]];

const dropped: Row[] = [
  ['Q-04', 'anthropic-messages', 'openai-chat', { ...anthropic, top_k: 5 }, ['top_k']],
  ['Q-05', 'openai-chat', 'openai-responses', { ...chat, stop: 'END' }, ['stop']],
  ['Q-07', 'openai-chat', 'anthropic-messages', { ...chat, seed: 7 }, ['seed']],
  [
    'Q-07',
    'gemini',
    'openai-responses',
    { ...gemini, generationConfig: { seed: 7 } },
    ['generationConfig.seed'],
  ],
  ['Q-08', 'openai-chat', 'openai-responses', { ...chat, presence_penalty: 1 }, ['presence_penalty']],
  ['Q-10', 'openai-chat', 'anthropic-messages', { ...chat, logit_bias: { 5: 1 } }, ['logit_bias']],
  ['Q-13', 'openai-chat', 'anthropic-messages', { ...chat, metadata: { a: 'b' } }, ['metadata']],
  ['Q-14', 'openai-chat', 'anthropic-messages', { ...chat, service_tier: 'flex' }, ['service_tier']],
  ['Q-17', 'openai-responses', 'gemini', { ...responses, truncation: 'auto' }, ['truncation']],
  [
    'Q-17',
    'anthropic-messages',
    'openai-chat',
    { ...anthropic, context_management: {} },
    ['context_management'],
  ],
  ['OR-09', 'openai-responses', 'gemini', { ...responses, truncation: 'disabled' }, []],
  ['Q-19', 'openai-responses', 'gemini', { ...responses, text: { verbosity: 'low' } }, ['text.verbosity']],
  [
    'Q-22',
    'openai-chat',
    'gemini',
    { ...chat, prediction: {}, moderation: {} },
    ['moderation', 'prediction'],
  ],
  ['Q-24', 'gemini', 'openai-chat', { ...gemini, safetySettings: [{}] }, ['safetySettings']],
  [
    ...(['Q-18', 'anthropic-messages', 'openai-chat'] as const),
    {
      ...anthropic,
      messages: [...messages, { role: 'system', content: 'x', output_config: { effort: 'high' } }],
    },
    ['messages.output_config'],
  ],
];

const refused: Row[] = [
  ['Q-06', 'openai-chat', 'anthropic-messages', { ...chat, n: 2 }, ['n']],
  ['Q-09', 'openai-chat', 'anthropic-messages', { ...chat, logprobs: true }, ['logprobs']],
  ['Q-15', 'openai-responses', 'openai-chat', { ...responses, background: true }, ['background']],
  ['Q-20', 'openai-chat', 'gemini', { ...chat, modalities: ['audio'] }, ['modalities']],
  ['Q-22', 'openai-responses', 'gemini', { ...responses, prompt: { id: 'p' } }, ['prompt']],
  [
    ...(['V-05', 'anthropic-messages', 'openai-chat'] as const),
    { ...anthropic, tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
    ['tools'],
  ],
];

describe('a member that the target has no word for', () => {
  for (const [rule, from, to, body, names] of dropped) {
    it(`${rule}: ${from} to ${to} leaves out and names ${names.join(', ') || 'nothing'}`, () => {
      const result = asked(from, to, body);
      assert.deepEqual([result.dropped, result.refused], [names, null]);
      for (const name of names) assert.equal(Object.hasOwn(result.request, name), false);
    });
  }

  for (const [rule, from, to, body, [name]] of refused) {
    it(`${rule}: ${from} to ${to} is refused for ${name}`, () => {
      assert.equal(asked(from, to, body).refused, name);
    });
  }
});

describe('a member that the target has another word for', () => {
  it('Q-01: the model is the target’s own, wherever it stands', () => {
    for (const to of ['openai-responses', 'anthropic-messages', 'ollama'] as const)
      assert.equal(asked('openai-chat', to, chat).request['model'], 'target');
    assert.equal(Object.hasOwn(asked('openai-chat', 'gemini', chat).request, 'model'), false);
  });

  it('M-16: names of speakers are not sent to formats that have none', () => {
    const named = { ...chat, messages: [{ role: 'user', name: 'ann', content: 'hi' }] };
    for (const to of ['anthropic-messages', 'gemini'] as const)
      assert.equal(JSON.stringify(asked('openai-chat', to, named).request).includes('ann'), false);
  });

  it('Q-21: a search is the target’s own', () => {
    const searching = { ...chat, web_search_options: {} };
    const { request } = asked('openai-chat', 'gemini', searching);
    assert.deepEqual(request['tools'], [{ googleSearch: {} }]);
    const types = (asked('openai-chat', 'anthropic-messages', searching).request['tools'] as unknown[]).map(
      (tool) => objectOf(tool)['type'],
    );
    assert.deepEqual(types, ['web_search_20250305']);
  });
});
