import { GatewayError } from '../../../lib/error.ts';
import { numberOf } from '../../json/lossless.ts';
import { objectOf, textOf } from '../../json/values.ts';
import { extraFields, flagAt, numberAt, objectAt, textAt, textsAt, wrong } from '../../json/wire-check.ts';
import { type Conversation, emptyConversation } from '../../model/conversation.ts';
import type { CompletionsRequest, StreamOptions } from '../wire.ts';

/** Fields that are read here; all others are extras. */
const knownFields: ReadonlySet<string> = new Set<keyof CompletionsRequest>([
  'model',
  'prompt',
  'suffix',
  'echo',
  'best_of',
  'n',
  'logprobs',
  'max_tokens',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'user',
  'stream',
  'stream_options',
]);

/** What the format means where a request names no bound (OpenAI API reference, "Create completion", `max_tokens`). */
const DEFAULT_MAX_TOKENS = 16;

/** A completions request (OpenAI API reference, "Create completion") as a conversation of one message. */
export function decodeRequest(body: CompletionsRequest): Conversation {
  refuseFormatsOwn(body);
  const stream = flagAt(body, 'stream') ?? false;
  const fields = extraFields(body, knownFields);
  return {
    ...emptyConversation(textOf(body.model)),
    messages: [{ role: 'user', parts: [{ type: 'text', text: promptOf(body.prompt) }] }],
    maxOutputTokens: numberAt(body, 'max_tokens') ?? DEFAULT_MAX_TOKENS,
    temperature: numberAt(body, 'temperature'),
    topP: numberAt(body, 'top_p'),
    stop: textsAt(body, 'stop'),
    seed: numberAt(body, 'seed'),
    frequencyPenalty: numberAt(body, 'frequency_penalty'),
    presencePenalty: numberAt(body, 'presence_penalty'),
    candidates: numberAt(body, 'n'),
    logprobs: numberAt(body, 'logprobs'),
    userId: textAt(body, 'user'),
    stream,
    // A whole answer always reports it.
    includeUsage: !stream || objectOf<StreamOptions>(objectAt(body, 'stream_options')).include_usage === true,
    extras: fields === null ? null : { format: 'openai-completions', fields },
  };
}

function promptOf(prompt: unknown): string {
  const list = Array.isArray(prompt) ? prompt : [prompt];
  const [first] = list;
  if (list.length === 1 && typeof first === 'string') return first;
  if (list.length > 1 && list.every((one) => typeof one === 'string'))
    throw refusal('prompt', 'Several prompts in one request');
  const tokens = Array.isArray(first) ? first : list;
  if (Array.isArray(prompt) && tokens.length > 0 && tokens.every((one) => numberOf(one) !== null))
    throw refusal('prompt', 'A prompt of token numbers');
  throw wrong('prompt', 'a string, or a list of one string');
}

/** What the format alone can ask for, and an answer without which would be another. */
function refuseFormatsOwn(body: CompletionsRequest): void {
  if ((textAt(body, 'suffix') ?? '') !== '') throw refusal('suffix', 'Text to be filled in before a suffix');
  if (flagAt(body, 'echo') === true) throw refusal('echo', 'An answer that repeats its prompt');
  if ((numberAt(body, 'best_of') ?? 1) > 1) throw refusal('best_of', 'The best of several answers');
}

function refusal(param: string, what: string): GatewayError {
  return new GatewayError(
    'not_translatable',
    `${what} ("${param}") is only available from a provider that speaks openai-completions: leave it out, or choose such a model`,
    { param },
  );
}
