import { isObject, type JsonObject, listOf, objectOf } from '../json/values.ts';
import { hasCacheControl } from '../prompt-cache/cache-control.ts';
import type { WireFormat } from '../wire-format.ts';

/** All marks of the prompt cache, wherever they are. */
export const CACHE_CONTROL = 'cache_control';

/**
 * Members that only tune an answer, by format. Servers and models that lack one refuse the whole request, each in its own
 * words, and no list of who takes what is ever complete; so a request is sent again without it. Paths go at most one level
 * down; `messages.` is every message, and every call in it, and `cache_control` stands for all marks of the prompt cache, wherever they are.
 */
const optional: Readonly<Partial<Record<WireFormat, readonly string[]>>> = {
  'openai-chat': [
    'reasoning_effort',
    'messages.reasoning_content',
    'messages.reasoning',
    'messages.reasoning_details',
    'messages.extra_content',
    'parallel_tool_calls',
    'stream_options',
    'temperature',
    'top_p',
    'stop',
    'seed',
    'frequency_penalty',
    'presence_penalty',
    'verbosity',
    'prompt_cache_key',
    'safety_identifier',
    'user',
    'metadata',
    'store',
    'service_tier',
    CACHE_CONTROL,
  ],
  'openai-responses': [
    'reasoning',
    'include',
    'parallel_tool_calls',
    'temperature',
    'top_p',
    'text.verbosity',
    'prompt_cache_key',
    'safety_identifier',
    'metadata',
    'store',
    'service_tier',
  ],
  'openai-completions': ['stop', 'seed', 'temperature', 'top_p', 'stream_options', 'user'],
  'anthropic-messages': [
    'thinking',
    'output_config.effort',
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'metadata',
    'service_tier',
    CACHE_CONTROL,
  ],
  gemini: [
    'serviceTier',
    'generationConfig.thinkingConfig',
    'generationConfig.frequencyPenalty',
    'generationConfig.presencePenalty',
    'generationConfig.seed',
    'generationConfig.topK',
  ],
  ollama: ['think'],
};

/** What a member is also called in an error. */
const aliases: Readonly<Record<string, RegExp>> = {
  'generationConfig.thinkingConfig': /thinking[ _]?(config|budget|level)?/i,
  'generationConfig.frequencyPenalty': /(frequency[ _]?)?penalty/i,
  'generationConfig.presencePenalty': /(presence[ _]?)?penalty/i,
  include: /include|encrypted[ _]content/i,
  think: /think/i,
  [CACHE_CONTROL]: /cache_control|prompt caching/i,
};

/** The ways in which servers say that they do not know or take something, as against a bad value of it. */
const refusal =
  /not support|unsupported|unrecognized|unknown|not permitted|not allowed|unexpected|extra (input|field|param)|not enabled|not available|is not valid for|deprecated/i;

/** How servers say that a message of theirs is a text: one with a mark is a list. */
const noLists = /content\b.{0,60}\b(must|should|expected)\b.{0,20}\bstring|should be a valid string/i;

/**
 * The member of `request` that an upstream's `message` says it does not take; null when it says something else.
 * The longest name that fits is meant.
 * @param among which members may be meant
 */
export function refusedMember(
  format: WireFormat,
  request: JsonObject,
  message: string,
  among: (path: string) => boolean = () => true,
): string | null {
  const isList = format === 'openai-chat' && among(CACHE_CONTROL) && hasCacheControl(request);
  if (isList && noLists.test(message)) return CACHE_CONTROL;
  if (!refusal.test(message)) return null;
  const named = (optional[format] ?? []).filter(
    (path) => among(path) && hasMember(request, path) && saysName(message, path),
  );
  return named.sort((a, b) => b.length - a.length)[0] ?? null;
}

function saysName(message: string, path: string): boolean {
  const alias = aliases[path];
  if (alias !== undefined) return alias.test(message);
  const name = path.slice(path.lastIndexOf('.') + 1);
  return new RegExp(`(^|[^a-z_])${name}($|[^a-z_])`, 'i').test(message);
}

/** Whether a member is one of earlier messages: it came with an answer, perhaps of another server. */
export function isOfMessages(path: string): boolean {
  return path.startsWith('messages.');
}

export function hasMember(request: JsonObject, path: string): boolean {
  if (path === CACHE_CONTROL) return hasCacheControl(request);
  const [first = '', second] = path.split('.');
  const value = request[first];
  if (second !== undefined && isOfMessages(path))
    return bearers(value).some((one) => one[second] !== undefined);
  return (second === undefined ? value : isObject(value) ? value[second] : undefined) !== undefined;
}

/** The request without a member, and without the object that it leaves empty. */
export function withoutMember(request: JsonObject, path: string): JsonObject {
  const [first = '', second] = path.split('.');
  const { [first]: value, ...rest } = request;
  if (second !== undefined && isOfMessages(path))
    return { ...request, messages: listOf(value).map((message) => withoutOwn(message, second)) };
  if (second === undefined || !isObject(value)) return rest;
  const { [second]: _, ...others } = value;
  return Object.keys(others).length === 0 ? rest : { ...request, [first]: others };
}

/** The messages and the calls in them. */
function bearers(messages: unknown): JsonObject[] {
  return listOf(messages).flatMap((message) => {
    const own = objectOf(message);
    return [own, ...listOf(own['tool_calls']).map(objectOf)];
  });
}

function withoutOwn(bearer: unknown, name: string): unknown {
  if (!isObject(bearer)) return bearer;
  const { [name]: _, ...rest } = bearer;
  const calls = rest['tool_calls'];
  return Array.isArray(calls) ? { ...rest, tool_calls: calls.map((call) => withoutOwn(call, name)) } : rest;
}
