import type { ConceptNames } from '../concept.ts';
import type { Conversation } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import { effortOfBudget } from '../effort.ts';
import { identifier } from '../tool-names.ts';
import type { JsonObject } from '../values.ts';
import { items, systemItem } from './input-encode.ts';
import { choiceOf, toolList } from './tools-encode.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  temperature: 'temperature',
  topP: 'top_p',
  logprobs: 'top_logprobs',
  reasoning: 'reasoning',
  jsonOutput: 'text.format',
  schemaOutput: 'text.format',
  verbosity: 'text.verbosity',
  userId: 'safety_identifier',
  cacheKey: 'prompt_cache_key',
  serviceTier: 'service_tier',
  metadata: 'metadata',
  store: 'store',
  tools: 'tools',
  toolCalls: 'function_call',
  forcedCall: 'tool_choice',
  imageInput: 'input_image',
  imageUrls: 'input_image.image_url',
  audioInput: 'input_audio',
  fileInput: 'input_file',
  uploads: 'file_id',
  parallelToolCalls: 'parallel_tool_calls',
  webSearch: 'tools.web_search',
  searchBesideTools: 'tools.web_search',
  searchDomains: 'tools.web_search.filters',
};

/** The smallest `max_output_tokens` that the vendor takes. */
const LEAST_OUTPUT_TOKENS = 16;

/** A conversation as a responses request. Members that the caller did not speak of are left out, except `store`. */
export function encodeRequest(conversation: Conversation, dialect: Dialect): JsonObject {
  const { extras, maxOutputTokens: cap, system } = conversation;
  const tools = conversation.tools.filter(
    (tool) => tool.kind !== 'native' || tool.format === 'openai-responses',
  );
  const text = textOptions(conversation);
  const members: JsonObject = {
    model: conversation.model,
    instructions: system.length === 1 && system[0] ? system[0].text : undefined,
    input: [
      ...(system.length > 1 ? [systemItem(system, dialect)] : []),
      ...conversation.messages.flatMap((message) => items(message, dialect)),
    ],
    tools: tools.length === 0 ? undefined : toolList(tools),
    tool_choice: tools.length === 0 ? undefined : choiceOf(conversation.toolChoice, tools),
    parallel_tool_calls: tools.length === 0 ? undefined : conversation.parallelToolCalls,
    max_output_tokens: cap === null ? null : Math.max(LEAST_OUTPUT_TOKENS, cap),
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_logprobs: conversation.logprobs,
    reasoning: reasoningOptions(conversation),
    text: Object.keys(text).length === 0 ? undefined : text,
    // Only with this the reasoning can be given back in the next turn.
    include: conversation.store === true ? undefined : ['reasoning.encrypted_content'],
    safety_identifier: identifier(conversation.userId),
    prompt_cache_key: identifier(conversation.cacheKey),
    service_tier: conversation.serviceTier,
    metadata: conversation.metadata,
    store: conversation.store ?? false,
    stream: conversation.stream ? true : undefined,
    ...(extras?.format === 'openai-responses' ? extras.members : {}),
  };
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  );
}

function textOptions({ output, verbosity }: Conversation): JsonObject {
  const text: JsonObject = {};
  if (output.kind === 'json') text['format'] = { type: 'json_object' };
  if (output.kind === 'schema') {
    const { description, name, schema, strict } = output;
    text['format'] = {
      type: 'json_schema',
      name: name ?? 'answer',
      ...(description === null ? {} : { description }),
      schema,
      ...(strict === null ? {} : { strict }),
    };
  }
  if (verbosity !== null) text['verbosity'] = verbosity;
  return text;
}

const displays: ReadonlySet<string> = new Set(['auto', 'concise', 'detailed']);

function reasoningOptions({ reasoning }: Conversation): JsonObject | undefined {
  if (reasoning === null) return undefined;
  if (reasoning.mode === 'off') return { effort: 'none' };
  const { budgetTokens, display } = reasoning;
  const effort = reasoning.effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
  const summary = display === null || displays.has(display) ? display : display === 'omitted' ? null : 'auto';
  return { ...(effort === null ? {} : { effort }), ...(summary === null ? {} : { summary }) };
}
