import { type WrittenTools, writtenTools } from '../../adapt/shared-tools.ts';
import { identifier } from '../../adapt/tool-names.ts';
import { definedFields, type JsonObject, listOf } from '../../json/values.ts';
import type { Concept, ConceptNames } from '../../model/concept.ts';
import type { Conversation } from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';
import { effortOfBudget } from '../../model/effort.ts';
import { withSearchIds } from '../search.ts';
import type { ResponsesRequest, TextOption } from '../wire.ts';
import { items, systemItem } from './input-encode.ts';
import { paired } from './pairing.ts';
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
  fileInput: 'input_file',
  fileNames: 'input_file.filename',
  imageDetail: 'input_image.detail',
  strictTools: 'tools.strict',
  schemaDescription: 'text.format.description',
  uploads: 'file_id',
  parallelToolCalls: 'parallel_tool_calls',
  allowedTools: 'tool_choice.allowed_tools',
  webSearch: 'tools.web_search',
  searchBesideTools: 'tools.web_search',
  searchDomains: 'tools.web_search.filters',
  searchLocation: 'tools.web_search.user_location',
};

/** The vendor declares sound in messages and takes none; marks stand where prompts are cached by a key. */
export const acceptedOnly: ConceptNames = {
  audioInput: 'input_audio',
  cacheMarks: 'prompt_cache_breakpoint',
};

/** The smallest `max_output_tokens` that the vendor takes. */
const LEAST_OUTPUT_TOKENS = 16;

/** A conversation as a responses request. Fields that the client did not speak of are left out, except `store`. */
export function encodeRequest(
  conversation: Conversation,
  dialect: Dialect,
  _unencodable: Concept[] = [],
  written: WrittenTools | null = null,
): JsonObject {
  const { extras, maxOutputTokens: cap, system } = conversation;
  const tools = conversation.tools.filter(
    (tool) => tool.kind !== 'native' || tool.format === 'openai-responses',
  );
  const { namespaces } = conversation;
  // Turns may bring descriptions of namespaces.
  const keepsTools = Object.keys(namespaces).length === 0 ? written : null;
  const listed = writtenTools(conversation.tools, keepsTools, () => toolList(tools, namespaces));
  const text = textOptions(conversation);
  const fields: JsonObject = {
    model: conversation.model,
    instructions: system.length === 1 && system[0] ? system[0].text : undefined,
    input: [
      ...(system.length > 1 ? [systemItem(system, dialect)] : []),
      ...withSearchIds(paired(conversation.messages.flatMap((message) => items(message, dialect)))),
    ],
    tools: tools.length === 0 ? undefined : listed,
    tool_choice: tools.length === 0 ? undefined : choiceOf(conversation.toolChoice, tools),
    parallel_tool_calls: tools.length === 0 ? undefined : conversation.parallelToolCalls,
    max_output_tokens: cap === null ? null : Math.max(LEAST_OUTPUT_TOKENS, cap),
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_logprobs: conversation.logprobs,
    reasoning: reasoningOptions(conversation),
    text: Object.keys(text).length === 0 ? undefined : text,
    // Only with this the reasoning can be given back in the next turn.
    include: includedIn(conversation),
    safety_identifier: identifier(conversation.userId),
    prompt_cache_key: identifier(conversation.cacheKey),
    service_tier: conversation.serviceTier,
    metadata: conversation.metadata,
    store: conversation.store ?? false,
    stream: conversation.stream ? true : undefined,
    ...(extras?.format === 'openai-responses' ? { ...extras.fields, include: includedIn(conversation) } : {}),
  };
  return definedFields(fields);
}

function includedIn({ extras, store }: Conversation): unknown[] | undefined {
  const ownFields: ResponsesRequest = extras?.format === 'openai-responses' ? extras.fields : {};
  const include = [...(store === true ? [] : ['reasoning.encrypted_content']), ...listOf(ownFields.include)];
  return include.length === 0 ? undefined : include;
}

function textOptions({ output, verbosity }: Conversation): TextOption {
  const text: TextOption = {};
  if (output.kind === 'json') text.format = { type: 'json_object' };
  if (output.kind === 'schema') {
    const { description, name, schema, strict } = output;
    text.format = {
      type: 'json_schema',
      name: name ?? 'answer',
      ...(description === null ? {} : { description }),
      schema,
      ...(strict === null ? {} : { strict }),
    };
  }
  if (verbosity !== null) text.verbosity = verbosity;
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
