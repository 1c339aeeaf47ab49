import type { WireFormat } from './model.ts';
import { isObject, type JsonObject } from './values.ts';

/**
 * Members that only tune an answer, by format. Servers and models that lack one refuse the whole request, each in its own
 * words, and no list of who takes what is ever complete; so a translated request is sent again without it. Paths go at
 * most one level down.
 */
const optional: Readonly<Partial<Record<WireFormat, readonly string[]>>> = {
  'openai-chat': [
    'reasoning_effort', 'reasoning_content', 'parallel_tool_calls', 'stream_options', 'temperature', 'top_p', 'stop',
    'seed', 'frequency_penalty', 'presence_penalty', 'verbosity', 'prompt_cache_key', 'safety_identifier', 'user',
    'metadata', 'store', 'service_tier',
  ],
  'openai-responses': [
    'reasoning', 'include', 'parallel_tool_calls', 'temperature', 'top_p', 'text.verbosity', 'prompt_cache_key',
    'safety_identifier', 'metadata', 'store', 'service_tier',
  ],
  'openai-completions': ['stop', 'seed', 'temperature', 'top_p', 'stream_options', 'user'],
  'anthropic-messages': [
    'thinking', 'output_config.effort', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'metadata',
  ],
  gemini: [
    'generationConfig.thinkingConfig', 'generationConfig.frequencyPenalty', 'generationConfig.presencePenalty',
    'generationConfig.seed', 'generationConfig.topK',
  ],
  ollama: ['think'],
}; // biome-ignore format: a table

/** What a member is also called in an error. */
const aliases: Readonly<Record<string, RegExp>> = {
  reasoning_content: /reasoning_content/i,
  'generationConfig.thinkingConfig': /thinking[ _]?(config|budget|level)?/i,
  'generationConfig.frequencyPenalty': /(frequency[ _]?)?penalty/i,
  'generationConfig.presencePenalty': /(presence[ _]?)?penalty/i,
  include: /include|encrypted[ _]content/i,
  think: /think/i,
};

/** The ways in which servers say that they do not know or take something, as against a bad value of it. */
const refusal =
  /not support|unsupported|unrecognized|unknown|not permitted|not allowed|unexpected|extra (input|field|param)|not enabled|not available|is not valid for|deprecated/i;

/**
 * The member of `request` that an upstream's `message` says it does not take; null when it says something else.
 * The longest name that fits is meant.
 */
export function refusedMember(format: WireFormat, request: JsonObject, message: string): string | null {
  if (!refusal.test(message)) return null;
  const named = (optional[format] ?? []).filter(
    (path) => hasMember(request, path) && saysName(message, path),
  );
  return named.sort((a, b) => b.length - a.length)[0] ?? null;
}

function saysName(message: string, path: string): boolean {
  const alias = aliases[path];
  if (alias !== undefined) return alias.test(message);
  const name = path.slice(path.lastIndexOf('.') + 1);
  return new RegExp(`(^|[^a-z_])${name}($|[^a-z_])`, 'i').test(message);
}

export function hasMember(request: JsonObject, path: string): boolean {
  const [first = '', second] = path.split('.');
  const value = request[first];
  return (second === undefined ? value : isObject(value) ? value[second] : undefined) !== undefined;
}

/** The request without a member, and without the object that it leaves empty. */
export function withoutMember(request: JsonObject, path: string): JsonObject {
  const [first = '', second] = path.split('.');
  const { [first]: value, ...rest } = request;
  if (second === undefined || !isObject(value)) return rest;
  const { [second]: _, ...others } = value;
  return Object.keys(others).length === 0 ? rest : { ...request, [first]: others };
}
