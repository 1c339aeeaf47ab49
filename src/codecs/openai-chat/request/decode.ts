import { GatewayError } from '../../../lib/error.ts';
import { readOnce, type SharedSettings } from '../../adapt/shared-tools.ts';
import { countIn, isObject, objectOf, textOf } from '../../json/values.ts';
import {
  extraFields,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
  wrong,
} from '../../json/wire-check.ts';
import {
  type Conversation,
  emptyConversation,
  type OutputShape,
  type Reasoning,
} from '../../model/conversation.ts';
import type {
  Called,
  ChatRequest,
  JsonSchemaFormat,
  ReasoningOption,
  ResponseFormat,
  SearchOptions,
  StreamOptions,
  ThinkingOption,
  UserLocation,
} from '../wire.ts';
import { readMessages } from './messages-decode.ts';
import { readChoice, readTools } from './tools-decode.ts';

/** Fields that are read here; all others are extras. */
const knownFields: ReadonlySet<string> = new Set<keyof ChatRequest>([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'n',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'response_format',
  'verbosity',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'metadata',
  'store',
  'stream',
  'stream_options',
  'functions',
  'function_call',
  'web_search_options',
  'modalities',
  'reasoning',
  'thinking',
]);

/** A chat request (OpenAI API reference, "Create chat completion") as a conversation. */
export function decodeRequest(body: ChatRequest, shared: SharedSettings | null = null): Conversation {
  const { messages, system } = readMessages(listAt(body, 'messages'));
  return { ...readOnce(shared, () => readSettings(body)), messages, system };
}

function readSettings(body: ChatRequest): Conversation {
  refuseModalities(body);
  const stream = flagAt(body, 'stream') ?? false;
  const fields = extraFields(body, knownFields);
  const search = objectAt(body, 'web_search_options');
  return {
    ...emptyConversation(textOf(body.model)),
    tools: [
      ...readTools(listAt(body, 'tools')),
      ...readTools(listAt(body, 'functions').map((called) => ({ type: 'function', function: called }))),
      ...(search === null ? [] : [searchTool(search)]),
    ],
    toolChoice: readChoice(body.tool_choice ?? legacyChoice(body.function_call)),
    // A function call of old has room for one.
    parallelToolCalls:
      flagAt(body, 'parallel_tool_calls') ?? (listAt(body, 'functions').length > 0 ? false : null),
    maxOutputTokens: numberAt(body, 'max_completion_tokens') ?? numberAt(body, 'max_tokens'),
    temperature: numberAt(body, 'temperature'),
    topP: numberAt(body, 'top_p'),
    topK: numberAt(body, 'top_k'),
    stop: textsAt(body, 'stop'),
    seed: numberAt(body, 'seed'),
    frequencyPenalty: numberAt(body, 'frequency_penalty'),
    presencePenalty: numberAt(body, 'presence_penalty'),
    candidates: numberAt(body, 'n'),
    logprobs: flagAt(body, 'logprobs') === true ? (numberAt(body, 'top_logprobs') ?? 0) : null,
    reasoning: readReasoning(body),
    output: readOutput(objectAt(body, 'response_format')),
    verbosity: textAt(body, 'verbosity'),
    userId: textAt(body, 'safety_identifier') ?? textAt(body, 'user'),
    cacheKey: textAt(body, 'prompt_cache_key'),
    serviceTier: textAt(body, 'service_tier'),
    metadata: objectAt(body, 'metadata'),
    store: flagAt(body, 'store'),
    stream,
    // A whole answer always reports it.
    includeUsage: !stream || objectOf<StreamOptions>(objectAt(body, 'stream_options')).include_usage === true,
    extras: fields === null ? null : { format: 'openai-chat', fields },
  };
}

function searchTool(options: SearchOptions): Conversation['tools'][number] {
  const location = objectOf<UserLocation>(options.user_location);
  return {
    kind: 'web-search',
    maxUses: null,
    allowedDomains: null,
    blockedDomains: null,
    location:
      Object.keys(location).length === 0 ? null : { type: 'approximate', ...objectOf(location.approximate) },
    native: { format: 'openai-chat', value: options },
  };
}

/** Spoken answers cannot be translated. */
function refuseModalities(body: ChatRequest): void {
  if (listAt(body, 'modalities').every((one) => one === 'text')) return;
  throw new GatewayError(
    'not_translatable',
    '"modalities" other than text are only served by a provider of this format',
    {
      param: 'modalities',
    },
  );
}

/** The vendor's `reasoning_effort`; else what OpenRouter (`reasoning`) or DeepSeek, Kimi and GLM (`thinking`) have for it. */
function readReasoning(body: ChatRequest): Reasoning | null {
  const unspecified = { budgetTokens: null, display: null };
  const effort = textAt(body, 'reasoning_effort');
  if (effort === 'none') return { mode: 'off', effort: null, ...unspecified };
  if (effort !== null) return { mode: 'on', effort, ...unspecified };
  if (isObject(body.reasoning)) {
    const { effort: level, enabled, exclude, max_tokens: budget }: ReasoningOption = body.reasoning;
    const word = textOf(level);
    if (enabled === false || word === 'none') return { mode: 'off', effort: null, ...unspecified };
    return {
      mode: 'on',
      effort: word === '' ? null : word,
      budgetTokens: countIn(budget),
      display: exclude === true ? 'omitted' : null,
    };
  }
  if (!isObject(body.thinking)) return null;
  const thinking: ThinkingOption = body.thinking;
  if (thinking.type === 'disabled') return { mode: 'off', effort: null, ...unspecified };
  const budget = thinking.budget_tokens;
  const mode = thinking.type === 'adaptive' ? 'adaptive' : 'on';
  return { mode, effort: null, budgetTokens: countIn(budget), display: null };
}

function readOutput(format: ResponseFormat | null): OutputShape {
  switch (format?.type) {
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema': {
      const path = 'response_format.json_schema';
      const jsonSchema: JsonSchemaFormat = objectAt(format, 'json_schema', path) ?? {};
      return {
        kind: 'schema',
        name: textAt(jsonSchema, 'name', `${path}.name`),
        description: textAt(jsonSchema, 'description', `${path}.description`),
        schema: objectAt(jsonSchema, 'schema', `${path}.schema`) ?? {},
        strict: flagAt(jsonSchema, 'strict'),
      };
    }
    case 'text':
    case undefined:
      return { kind: 'text' };
    default:
      throw wrong('response_format.type', '"text", "json_object" or "json_schema"');
  }
}

/** The choice of the time before tools: a word, or `{"name"}`. */
function legacyChoice(choice: unknown): unknown {
  const name = textOf(objectOf<Called>(choice).name);
  return name === '' ? choice : { type: 'function', function: { name } };
}
