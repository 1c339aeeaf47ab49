import type { Concept, ConceptNames } from '../concept.ts';
import type { Conversation } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import type { JsonObject } from '../values.ts';
import { messageList } from './messages-encode.ts';
import { choiceOf, toolList } from './tools-encode.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
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
  audioInput: 'input_audio',
  fileInput: 'file',
};

export const vendorOnly: readonly Concept[] = ['verbosity', 'cacheKey', 'serviceTier', 'metadata', 'store'];

/** A conversation as a chat request. Members that the caller did not speak of are left out. */
export function encodeRequest(conversation: Conversation, dialect: Dialect): JsonObject {
  const { extras, logprobs, stop } = conversation;
  const tools = toolList(conversation.tools, dialect);
  const request: JsonObject = {
    model: conversation.model,
    messages: messageList(conversation, dialect),
    tools: tools.length === 0 ? null : tools,
    tool_choice: tools.length === 0 ? null : choiceOf(conversation.toolChoice, conversation.tools),
    parallel_tool_calls: tools.length === 0 ? null : conversation.parallelToolCalls,
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
    [dialect.vendorMembers ? 'safety_identifier' : 'user']: conversation.userId,
    ...(dialect.vendorMembers ? vendorMembers(conversation) : {}),
    stream: conversation.stream ? true : null,
    // The gateway needs the usage, whether the caller wants to see it or not.
    stream_options: conversation.stream ? { include_usage: true } : null,
    ...(extras?.format === 'openai-chat' ? extras.members : {}),
  };
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined && value !== null),
  );
}

function vendorMembers({ cacheKey, metadata, serviceTier, store, verbosity }: Conversation): JsonObject {
  return {
    ...{ verbosity, prompt_cache_key: cacheKey, service_tier: serviceTier, metadata },
    store: store === true ? true : null,
  };
}

/** Tokens for thinking as an effort (the steps of the vendors' own guides). */
function effortOf({ reasoning }: Conversation): string | null {
  if (reasoning === null) return null;
  if (reasoning.mode === 'off') return 'none';
  if (reasoning.effort !== null) return reasoning.effort;
  if (reasoning.budgetTokens === null) return null;
  if (reasoning.budgetTokens <= 2_048) return 'low';
  return reasoning.budgetTokens <= 8_192 ? 'medium' : 'high';
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
