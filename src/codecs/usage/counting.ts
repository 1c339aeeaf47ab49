import { countIn, isObject, type JsonObject, objectOf } from '../json/values.ts';
import type { WireFormat } from '../wire-format.ts';

/** How a format's API tells the tokens of a request ahead, without answering it. */
export interface Counting {
  /** What follows the format's own path, and the model where the path names it. */
  path: string;
  /** The body that asks, from the request that is to be counted. */
  ask(request: JsonObject, model: string): JsonObject;
  /** The count in an answer; null when there is none. */
  read(answer: JsonObject): number | null;
  write(tokens: number): JsonObject;
}

/** Anthropic API reference, "Count tokens": what shapes the answer, and not the prompt, is refused there. */
const notCounted: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
]);

/** OpenAI API reference, "Get input token counts". */
const inputMembers: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'reasoning',
  'text',
  'truncation',
  'parallel_tool_calls',
  'previous_response_id',
  'conversation',
]);

const only = (request: JsonObject, keep: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(request).filter(([name]) => keep(name)));

export const countings: Readonly<Partial<Record<WireFormat, Counting>>> = {
  'anthropic-messages': {
    path: '/count_tokens',
    ask: (request) => only(request, (name) => !notCounted.has(name)),
    read: (answer) => countIn(answer['input_tokens']),
    write: (tokens) => ({ input_tokens: tokens }),
  },
  'openai-responses': {
    path: '/input_tokens',
    ask: (request) => only(request, (name) => inputMembers.has(name)),
    read: (answer) => countIn(answer['input_tokens']),
    write: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  },
  gemini: {
    path: ':countTokens',
    // Gemini API, `models.countTokens`: instructions and tools are counted in this form only.
    ask: (request, model) => ({ generateContentRequest: { ...request, model: `models/${model}` } }),
    read: (answer) => countIn(answer['totalTokens']),
    write: (tokens) => ({
      totalTokens: tokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
    }),
  },
};

/** The request that a caller wants counted: Google's clients may wrap it. */
export function countedRequest(body: JsonObject): JsonObject {
  const wrapped = body['generateContentRequest'];
  return isObject(wrapped) ? objectOf(wrapped) : body;
}
