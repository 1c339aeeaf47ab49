import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/codecs/json/values.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';
import { vendorTarget } from '../support/formats/answer-chain.ts';
import type { MemberCase } from '../support/formats/declared-cases.ts';
import { declaredCases } from '../support/formats/declared-requests.ts';
import { type Conversing, conversing } from '../support/formats/formats-matrix.ts';

/**
 * Every member that a vendor's SDK declares for a request, at every depth, through every pair: it arrives, or it is
 * named in the client's own words, or it is refused. Whether it arrives is seen by the request that is sent being
 * another with it than without. A member that a later SDK brings is tried without a word here.
 */
interface Exception {
  /** Only towards this format. */
  to?: Conversing;
  path: RegExp;
  why: string;
}

const exceptions: Readonly<Record<Conversing, readonly Exception[]>> = {
  'openai-chat': [
    {
      path: /^model$|^stream$/,
      why: 'the target has its own model, and may say in its path whether to stream',
    },
    { path: /^stream_options/, why: 'the gateway itself reports the usage that was asked for' },
    { path: /^parallel_tool_calls$/, why: 'held to by the gateway' },
    { path: /^top_logprobs$/, why: 'means nothing without logprobs, which are refused' },
    { path: /^response_format(\.json_schema)?$/, why: 'plain text, or a schema that is empty' },
    {
      path: /^response_format\.json_schema\.(name|strict)$/,
      why: 'a label; all others hold answers to the schema',
    },
    { path: /^function_call/, why: 'means nothing without functions' },
    { path: /^tool_choice\.allowed_tools/, why: 'names tools that the request does not have' },
    {
      path: /^tool_choice(\.custom|\.function)(\.name)?$/,
      why: 'names a tool that the request does not have',
    },
    { path: /^tools\.custom\.format$/, why: 'free text' },
    { path: /\.file\.file_id$/, why: 'stands beside the bytes of the file' },
  ],
  'openai-completions': [{ path: /^model$|^stream/, why: 'as for openai-chat' }],
  'openai-responses': [
    { path: /^model$|^stream$/, why: 'as for openai-chat' },
    { path: /^parallel_tool_calls$/, why: 'held to by the gateway' },
    { path: /^input\.(type|status|id|execution)$/, why: 'says nothing of what the item says' },
    {
      path: /^input\.(summary|content|encrypted_content)(\.text)?$/,
      why: 'reasoning stays with who made it',
    },
    { path: /^input\.(content|output)\.(file_id|file_url)$/, why: 'stands beside the bytes of the file' },
    { path: /^text\.format(\.name|\.strict)?$/, why: 'as for openai-chat' },
    { path: /^truncation$/, why: '"disabled" is what every format does' },
    { path: /(^|\.)tools\.format$/, why: 'free text' },
    { path: /^tool_choice\.(tools|name|server_label)$/, why: 'names tools that the request does not have' },
  ],
  'anthropic-messages': [
    { path: /^model$|^stream$/, why: 'as for openai-chat' },
    {
      path: /^messages\.content\.(thinking|signature|data)$/,
      why: 'reasoning stays with who made it',
    },
    { path: /^service_tier$/, why: 'the usual one' },
    { path: /^messages\.content\.caller$/, why: 'the model itself calls its tools' },
    { path: /^messages\.content\.id$/, to: 'openai-responses', why: 'pairs a search with what it found' },
    { path: /^tools\.type$/, why: 'the usual one' },
    { path: /^tool_choice(\.disable_parallel_tool_use)?$/, why: 'held to by the gateway' },
    { path: /^thinking\.display$/, why: 'what is shown of thoughts is the gateway’s doing' },
  ],
  gemini: [
    { path: /^contents\.parts$/, why: 'a part that holds nothing' },
    { path: /^contents\.role$|^systemInstruction\.role$/, why: 'expressed by its place in the request' },
    { path: /\.(thought|thoughtSignature)$/, why: 'reasoning stays with who made it' },
    { path: /\.functionResponse\.id$/, why: 'an id that no call has is as good as none' },
    {
      path: /^generationConfig\.(logprobs|responseModalities)$/,
      why: 'means nothing by itself; text is usual',
    },
    { path: /\.(propertyOrdering|title)$/, why: 'a label, and the order of properties, which no one misses' },
    { path: /(parameters|responseSchema)\.(type|nullable)$/, why: 'the root of a schema is an object' },
    { path: /\.functionResponse\.parts\.fileData/, why: 'a part holds one thing, and this one has bytes' },
    { path: /\.thinkingConfig\.includeThoughts$/, why: 'what is shown of thoughts is the gateway’s doing' },
    {
      path: /\.functionCall\.(partialArgs|willContinue)/,
      why: 'a piece of a stream; calls of earlier turns have their arguments whole',
    },
  ],
  ollama: [
    { path: /^model$|^stream$/, why: 'as for openai-chat' },
    { path: /^top_logprobs$/, why: 'means nothing without logprobs, which are refused' },
    { path: /^options\.temperature$/, why: 'two values above the target’s highest are one' },
  ],
};

const always: readonly Exception[] = [
  {
    to: 'anthropic-messages',
    path: /^prompt_cache_key$/,
    why: 'told by marks, where a prompt is long enough for them',
  },
  {
    to: 'openai-completions',
    path: /^(tool_choice|toolConfig)/,
    why: 'means nothing without tools, which are refused',
  },
];

type Outcome = { body: string; dropped: string[] } | { refused: string };

function asked(request: unknown, from: Conversing, to: Conversing): Outcome {
  const inPath = conversationCodec(from).pathOf !== null;
  const named = inPath ? { model: 'asked/model', stream: false, array: false } : null;
  const body = [Buffer.from(JSON.stringify(request))];
  try {
    const sent = translateRequest({ body, named, target: vendorTarget(to) }, from);
    return { body: Buffer.concat(sent.body).toString(), dropped: sent.dropped };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refused: error.param ?? '' };
  }
}

/** Whether the words name the member, or the whole of what it stands in. */
function isNamed({ kinds, path }: MemberCase, words: readonly string[]): boolean {
  const own = new Set([...path, ...kinds]);
  return words.some((word) => own.has(word.slice(word.lastIndexOf('.') + 1)) || own.has(word));
}

/** Whether the refusal is of the member or of what it stands in; that of another is no answer. */
function isRefused({ kinds, path }: MemberCase, param: string): boolean {
  const names = param.split('.').map((name) => name.replace(/\[\d+\]/g, ''));
  const own = new Set([...path, ...kinds]);
  return names.some((name) => own.has(name)) || own.has(param);
}

function fate(one: MemberCase, from: Conversing, to: Conversing): 'arrives' | 'named' | 'refused' | 'silent' {
  const [withField, withoutField] = [asked(one.with, from, to), asked(one.without, from, to)];
  // A request that is refused with and without it loses nothing of it.
  if ('refused' in withField)
    return 'refused' in withoutField || isRefused(one, withField.refused) ? 'refused' : 'silent';
  if ('refused' in withoutField) return 'arrives';
  if (isNamed(one, withField.dropped)) return 'named';
  return withField.body === withoutField.body ? 'silent' : 'arrives';
}

/** Values that say nothing. */
function isEmpty({ path, with: whole }: MemberCase): boolean {
  let values: unknown[] = [whole];
  for (const name of path)
    values = values.flat().flatMap((value) => {
      const member = (value as JsonObject | null)?.[name];
      return member === undefined ? [] : [member];
    });
  return values.every(saysNothing);
}

function saysNothing(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value).every(saysNothing));
}

function isExcepted(path: string, from: Conversing, to: Conversing): boolean {
  return [...exceptions[from], ...always].some(
    (exception) => exception.path.test(path) && (exception.to === undefined || exception.to === to),
  );
}

for (const from of conversing) {
  for (const to of conversing) {
    if (to === from) continue;
    describe(`a declared field of ${from}`, () => {
      it(`arrives at ${to}, is reported as dropped, or is refused`, () => {
        const tools = from !== 'openai-completions' && to !== 'openai-completions';
        const silent = new Set<string>();
        let tried = 0;
        for (const one of declaredCases(from, tools)) {
          const path = one.path.join('.');
          if (isEmpty(one) || isExcepted(path, from, to)) continue;
          tried += 1;
          if (fate(one, from, to) === 'silent') silent.add(path);
        }
        assert.deepEqual([...silent], []);
        assert.ok(tried > 10);
      });
    });
  }
}
