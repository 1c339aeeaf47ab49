import type { Concept, ConceptNames } from '../concept.ts';
import type { Conversation } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import { effortOfBudget } from '../effort.ts';
import { identifier } from '../tool-names.ts';
import type { JsonObject } from '../values.ts';
import { messageList } from './messages-encode.ts';
import { toolMembers } from './tools-encode.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  temperature: 'temperature',
  topP: 'top_p',
  stop: 'stop',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  candidates: 'n',
  logprobs: 'logprobs',
  reasoning: 'reasoning_effort',
  jsonOutput: 'response_format',
  schemaOutput: 'response_format',
  verbosity: 'verbosity',
  userId: 'safety_identifier',
  cacheKey: 'prompt_cache_key',
  serviceTier: 'service_tier',
  metadata: 'metadata',
  store: 'store',
  tools: 'tools',
  toolCalls: 'tool_calls',
  forcedCall: 'tool_choice',
  imageInput: 'image_url',
  imageUrls: 'image_url.url',
  audioInput: 'input_audio',
  fileInput: 'file',
  uploads: 'file_id',
  parallelToolCalls: 'parallel_tool_calls',
};

/** Members of others' servers, and of the vendor's that too few models take to be written. */
export const heard: ConceptNames = {
  topK: 'top_k',
  cacheMarks: 'cache_control',
  webSearch: 'web_search_options',
  searchBesideTools: 'web_search_options',
};

export const vendorOnly: readonly Concept[] = ['verbosity', 'cacheKey', 'serviceTier', 'metadata', 'store'];

/** A conversation as a chat request. Members that the caller did not speak of are left out. */
export function encodeRequest(conversation: Conversation, dialect: Dialect): JsonObject {
  const { extras, logprobs, stop, stream, userId } = conversation;
  const request: JsonObject = {
    model: conversation.model,
    messages: messageList(conversation, dialect),
    ...toolMembers(conversation, dialect),
    [dialect.maxTokensField]: conversation.maxOutputTokens,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    stop: stop.length === 0 ? null : stop,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    n: conversation.candidates,
    logprobs: logprobs === null ? null : true,
    top_logprobs: logprobs === null || logprobs === 0 ? null : logprobs,
    reasoning_effort: dialect.reasoningEffort ? effortOf(conversation) : null,
    response_format: formatOf(conversation),
    [dialect.vendorMembers ? 'safety_identifier' : 'user']: identifier(userId),
    ...(dialect.vendorMembers ? vendorMembers(conversation) : {}),
    stream: stream ? true : null,
    // The gateway needs the usage, whether the caller wants to see it or not.
    stream_options: stream ? { include_usage: true } : null,
    ...(extras?.format === 'openai-chat' ? extras.members : {}),
  };
  const said: JsonObject = {};
  for (const name of Object.keys(request)) {
    const value = request[name];
    const wire = dialect.memberNames[name] === undefined ? name : dialect.memberNames[name];
    if (value !== undefined && value !== null && wire !== null) said[wire] = value;
  }
  return said;
}

function vendorMembers({ cacheKey, metadata, serviceTier, store, verbosity }: Conversation): JsonObject {
  return {
    ...{ verbosity, prompt_cache_key: identifier(cacheKey), metadata },
    // Anthropic's word for the ordinary tier.
    service_tier: serviceTier === 'standard_only' ? 'default' : serviceTier,
    store: store === true ? true : null,
  };
}

function effortOf({ reasoning }: Conversation): string | null {
  if (reasoning === null) return null;
  if (reasoning.mode === 'off') return 'none';
  const { budgetTokens, effort } = reasoning;
  return effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
}

function formatOf({ output }: Conversation): JsonObject | null {
  if (output.kind === 'json') return { type: 'json_object' };
  if (output.kind === 'text') return null;
  const { description, name, schema, strict } = output;
  return {
    type: 'json_schema',
    json_schema: {
      name: name ?? 'answer',
      ...(description === null ? {} : { description }),
      schema,
      ...(strict === null ? {} : { strict }),
    },
  };
}
