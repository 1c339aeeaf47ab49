import { type Conversation, emptyConversation, type OutputShape, type Reasoning } from '../conversation.ts';
import { type JsonObject, objectOf, textOf } from '../values.ts';
import { extraMembers, flagAt, listAt, numberAt, objectAt, textAt, wrong } from '../wire-check.ts';
import { readMessages } from './messages-decode.ts';
import { readChoice, readTools } from './tools-decode.ts';

/** Members that are read here; all others are extras. */
const known: ReadonlySet<string> = new Set([
  'model', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls', 'max_tokens', 'max_completion_tokens',
  'temperature', 'top_p', 'top_k', 'stop', 'seed', 'frequency_penalty', 'presence_penalty', 'n', 'logprobs', 'top_logprobs',
  'reasoning_effort', 'response_format', 'verbosity', 'user', 'safety_identifier', 'prompt_cache_key', 'service_tier',
  'metadata', 'store', 'stream', 'stream_options', 'functions', 'function_call', 'web_search_options',
]); // biome-ignore format: a table

/** A chat request (OpenAI API reference, "Create chat completion") as a conversation. */
export function decodeRequest(body: JsonObject): Conversation {
  const members = extraMembers(body, known);
  const search = objectAt(body, 'web_search_options');
  return {
    ...emptyConversation(textOf(body['model'])),
    ...readMessages(listAt(body, 'messages')),
    tools: [
      ...readTools(listAt(body, 'tools')),
      ...readTools(listAt(body, 'functions').map((called) => ({ type: 'function', function: called }))),
      ...(search === null ? [] : [searchTool(search)]),
    ],
    toolChoice: readChoice(body['tool_choice'] ?? legacyChoice(body['function_call'])),
    parallelToolCalls: flagAt(body, 'parallel_tool_calls'),
    maxOutputTokens: numberAt(body, 'max_completion_tokens') ?? numberAt(body, 'max_tokens'),
    temperature: numberAt(body, 'temperature'),
    topP: numberAt(body, 'top_p'),
    topK: numberAt(body, 'top_k'),
    stop: stopOf(body['stop']),
    seed: numberAt(body, 'seed'),
    frequencyPenalty: numberAt(body, 'frequency_penalty'),
    presencePenalty: numberAt(body, 'presence_penalty'),
    candidates: numberAt(body, 'n'),
    logprobs: flagAt(body, 'logprobs') === true ? (numberAt(body, 'top_logprobs') ?? 0) : null,
    reasoning: readEffort(textAt(body, 'reasoning_effort')),
    output: readOutput(objectAt(body, 'response_format')),
    verbosity: textAt(body, 'verbosity'),
    userId: textAt(body, 'safety_identifier') ?? textAt(body, 'user'),
    cacheKey: textAt(body, 'prompt_cache_key'),
    serviceTier: textAt(body, 'service_tier'),
    metadata: objectAt(body, 'metadata'),
    store: flagAt(body, 'store'),
    stream: flagAt(body, 'stream') ?? false,
    includeUsage: objectOf(objectAt(body, 'stream_options'))['include_usage'] === true,
    extras: members === null ? null : { format: 'openai-chat', members },
  };
}

function searchTool(options: JsonObject): Conversation['tools'][number] {
  const location = objectOf(options['user_location']);
  return {
    kind: 'web-search',
    maxUses: null,
    allowedDomains: null,
    blockedDomains: null,
    location:
      Object.keys(location).length === 0
        ? null
        : { type: 'approximate', ...objectOf(location['approximate']) },
    native: { format: 'openai-chat', value: options },
  };
}

function stopOf(stop: unknown): string[] {
  if (stop === undefined || stop === null) return [];
  const list = typeof stop === 'string' ? [stop] : stop;
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string'))
    throw wrong('stop', 'a string or a list of strings');
  return list;
}

function readEffort(effort: string | null): Reasoning | null {
  if (effort === null) return null;
  const none = effort === 'none';
  return { mode: none ? 'off' : 'on', effort: none ? null : effort, budgetTokens: null, display: null };
}

function readOutput(format: JsonObject | null): OutputShape {
  switch (format?.['type']) {
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema': {
      const path = 'response_format.json_schema';
      const said = objectAt(objectOf(format), 'json_schema', path) ?? {};
      return {
        kind: 'schema',
        name: textAt(said, 'name', `${path}.name`),
        description: textAt(said, 'description', `${path}.description`),
        schema: objectAt(said, 'schema', `${path}.schema`) ?? {},
        strict: flagAt(said, 'strict'),
      };
    }
    default:
      return { kind: 'text' };
  }
}

/** The choice of the time before tools: a word, or `{"name"}`. */
function legacyChoice(choice: unknown): unknown {
  const name = textOf(objectOf(choice)['name']);
  return name === '' ? choice : { type: 'function', function: { name } };
}
