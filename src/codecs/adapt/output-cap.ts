import type { TranslationCodec } from '../codec.ts';
import { countIn, type JsonObject, objectOf } from '../json/values.ts';
import type { Codec } from '../wire-codec.ts';
import { hasField } from './optional-fields.ts';

/** The bound that a request sets, and what it is called there; null where it sets none. */
export function outputCapOf(
  { requestFields }: Pick<Codec, 'requestFields'>,
  request: JsonObject,
): { name: string; cap: number } | null {
  for (const path of requestFields.outputCap ?? []) {
    const [first = '', second] = path.split('.');
    const value = second === undefined ? request[first] : objectOf(request[first])[second];
    const cap = countIn(value);
    if (cap !== null) return { name: second ?? first, cap };
  }
  return null;
}

/** The request with no higher bound than `most`. */
export function withOutputCap(
  { conversation, requestFields }: Pick<TranslationCodec, 'conversation' | 'requestFields'>,
  request: JsonObject,
  outputCap: number,
): JsonObject {
  const lowered = (value: unknown) => ((countIn(value) ?? 0) > outputCap ? outputCap : value);
  let result = request;
  for (const path of requestFields.outputCap ?? []) {
    if (!hasField(result, path)) continue;
    const [first = '', second] = path.split('.');
    const value = result[first];
    result = {
      ...result,
      [first]:
        second === undefined
          ? lowered(value)
          : { ...objectOf(value), [second]: lowered(objectOf(value)[second]) },
    };
  }
  return conversation.fitOutputCap?.(result, outputCap) ?? result;
}

export interface ReportedOutputCap {
  outputCap: number;
  /** True for a bound of the model, false for what is left beside a conversation of this length. */
  lasting: boolean;
}

const number = '[`\'"]?(\\d{1,9})';

/**
 * How servers name the most that a model writes: OpenAI, Azure, DeepSeek, Qwen, Groq, Anthropic, Bedrock, Volcengine,
 * Google (whose end of the range is not in it).
 */
const lasting: readonly { pattern: RegExp; beyond?: true }[] = [
  { pattern: /* @__PURE__ */ new RegExp(`supports at most ${number} (?:completion|output) tokens`, 'i') },
  {
    pattern: /* @__PURE__ */ new RegExp(
      `range (?:of \\S+ (?:is|should be)|from) \\[ ?\\d+ ?, ?${number}`,
      'i',
    ),
  },
  { pattern: /* @__PURE__ */ new RegExp(`must be less than or equal to ${number}`, 'i') },
  {
    pattern: /* @__PURE__ */ new RegExp(
      `> ${number},? which is the maximum allowed number of output tokens`,
      'i',
    ),
  },
  { pattern: /* @__PURE__ */ new RegExp(`exceeds the model limit of ${number}`, 'i') },
  { pattern: /* @__PURE__ */ new RegExp(`expected a value (?:<=|≤) ?${number}`, 'i') },
  {
    pattern: /* @__PURE__ */ new RegExp(
      `supported range is from \\d+ \\(inclusive\\) to ${number} \\(exclusive\\)`,
      'i',
    ),
    beyond: true,
  },
];

/** How they name what the conversation leaves: the window, and the tokens of the input. vLLM, OpenAI, OpenRouter, TGI. */
const left: readonly RegExp[] = [
  /maximum context length is (\d{1,9}) tokens and your request has (\d{1,9}) input tokens/i,
  /maximum context length is (\d{1,9}) tokens\W+however,? you requested (?:about )?\d+ tokens \((\d{1,9}) (?:of text input|in (?:the messages|your prompt|the prompt))/i,
  /max_new_tokens\W+must be (?:<=|≤) ?(\d{1,9})\W+given: (\d{1,9})/i,
];

const aboutOutput =
  /max_?(?:completion_|output_|new_)?tokens|max ?output|output tokens|completion tokens|maximum tokens|in the (?:output|completion)|for the completion/i;

/**
 * The most that an upstream's error says it would write, for a request that asked for more; null when the error is about
 * something else.
 */
export function reportedOutputCap(message: string, requestedCap: number): ReportedOutputCap | null {
  if (!aboutOutput.test(message)) return null;
  const fits = (outputCap: number) =>
    Number.isSafeInteger(outputCap) && outputCap > 0 && outputCap < requestedCap;
  for (const pattern of left) {
    const match = pattern.exec(message);
    const outputCap = Number(match?.[1]) - Number(match?.[2]);
    if (match !== null && fits(outputCap)) return { outputCap, lasting: false };
  }
  for (const { beyond, pattern } of lasting) {
    const match = pattern.exec(message);
    const outputCap = Number(match?.[1]) - (beyond ? 1 : 0);
    if (match !== null && fits(outputCap)) return { outputCap, lasting: true };
  }
  return null;
}
