import type { WrittenTools } from '../../adapt/shared-tools.ts';
import { identifier } from '../../adapt/tool-names.ts';
import type { JsonObject } from '../../json/values.ts';
import type { Concept, ConceptNames } from '../../model/concept.ts';
import type { Conversation, Part } from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';
import { effortOfBudget } from '../../model/effort.ts';
import { messageList } from './messages-encode.ts';
import { toolFields } from './tools-encode.ts';

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
  cacheMarks: 'cache_control',
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
  fileNames: 'file.filename',
  imageDetail: 'image_url.detail',
  participants: 'messages.name',
  assistantNames: 'messages.name',
  strictTools: 'tools.function.strict',
  schemaDescription: 'response_format.json_schema.description',
  uploads: 'file_id',
  parallelToolCalls: 'parallel_tool_calls',
  allowedTools: 'tool_choice.allowed_tools',
};

/** Fields of others' servers, and of the vendor's that too few models take to be written. */
export const acceptedOnly: ConceptNames = {
  topK: 'top_k',
  webSearch: 'web_search_options',
  searchBesideTools: 'web_search_options',
  searchLocation: 'web_search_options.user_location',
};

export const vendorOnly: readonly Concept[] = [
  ...(['verbosity', 'cacheKey', 'serviceTier', 'metadata', 'store', 'allowedTools'] as const),
];

export const onTrial: readonly Concept[] = ['cacheKey', 'cacheMarks'];

/** A conversation as a chat request. Fields that the client did not speak of are left out. */
export function encodeRequest(
  conversation: Conversation,
  dialect: Dialect,
  unencodable: Concept[] = [],
  written: WrittenTools | null = null,
): JsonObject {
  if (dialect.cacheFields && hasUnplacedMark(conversation)) unencodable.push('cacheMarks');
  const { extras, logprobs, reasoning, stream, userId } = conversation;
  const effort = dialect.reasoningEffort ? effortOf(conversation) : null;
  // That it shall think, and not how much, is no word of the format.
  if (reasoning !== null && reasoning.mode !== 'off' && effort === null) unencodable.push('reasoning');
  const stop = conversation.stop.slice(0, dialect.maxStops);
  if (stop.length < conversation.stop.length) unencodable.push('stop');
  const request: JsonObject = {
    model: conversation.model,
    messages: messageList(conversation, dialect),
    ...toolFields(conversation, dialect, written),
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
    reasoning_effort: effort,
    response_format: formatOf(conversation),
    [dialect.vendorFields ? 'safety_identifier' : 'user']: identifier(userId),
    service_tier: dialect.vendorFields || dialect.serviceTier ? conversation.serviceTier : null,
    ...(dialect.vendorFields ? vendorFields(conversation) : {}),
    prompt_cache_key: dialect.vendorFields || dialect.cacheFields ? identifier(conversation.cacheKey) : null,
    stream: stream ? true : null,
    // The gateway needs the usage, even where the client did not request it.
    stream_options: stream ? { include_usage: true } : null,
    ...(extras?.format === 'openai-chat' ? extras.fields : {}),
  };
  const optionalFields: JsonObject = {};
  for (const name of Object.keys(request)) {
    const value = request[name];
    const wire = dialect.fieldNames[name] === undefined ? name : dialect.fieldNames[name];
    if (value !== undefined && value !== null && wire !== null) optionalFields[wire] = value;
  }
  return optionalFields;
}

/** Whether there is a mark for the prompt cache on something that has no place for one in the format. */
function hasUnplacedMark({ messages, tools }: Conversation): boolean {
  const isMarked = (value: object) => 'cache' in value && value.cache !== undefined;
  return (
    tools.some(isMarked) ||
    messages.some(({ parts }) => parts.some((part) => !bearsMark.has(part.type) && isMarked(part)))
  );
}

const bearsMark: ReadonlySet<Part['type']> = new Set(['text', 'file', 'tool-result']);

function vendorFields({ metadata, store, verbosity }: Conversation): JsonObject {
  return {
    verbosity,
    metadata,
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
