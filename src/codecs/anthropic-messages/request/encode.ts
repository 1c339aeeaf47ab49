import type { WrittenTools } from '../../adapt/shared-tools.ts';
import { definedFields, type JsonObject } from '../../json/values.ts';
import type { Concept, ConceptNames } from '../../model/concept.ts';
import type { Conversation, OutputShape } from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';
import type { MessagesRequest } from '../wire.ts';
import { blocksOf } from './content-encode.ts';
import { putBack, STANDARD_ONLY } from './own-fields.ts';
import { hasMap, outputSchema, schemaText } from './structured-output.ts';
import { effortOf, thinkingOf } from './thinking.ts';
import { choiceOf, toolList } from './tools-encode.ts';
import { messageList } from './turns.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop_sequences',
  reasoning: 'thinking',
  jsonOutput: 'output_config.format',
  schemaOutput: 'output_config.format',
  userId: 'metadata.user_id',
  cacheKey: 'cache_control',
  serviceTier: 'service_tier',
  cacheMarks: 'cache_control',
  tools: 'tools',
  toolCalls: 'tool_use',
  forcedCall: 'tool_choice',
  imageInput: 'image',
  imageUrls: 'image.source.url',
  fileInput: 'document',
  fileNames: 'document.title',
  strictTools: 'tools.strict',
  citedDocuments: 'citations',
  uploads: 'file_id',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  webSearch: 'tools.web_search',
  searchBesideTools: 'tools.web_search',
  searchDomains: 'tools.web_search.allowed_domains',
  searchLocation: 'tools.web_search.user_location',
  searchUses: 'tools.web_search.max_uses',
};

/** Only the vendor is sure to support the tier. */
export const vendorOnly: readonly Concept[] = ['serviceTier'];

/** With thinking on, the vendor takes no narrower sampling than this. */
const LEAST_TOP_P_THINKING = 0.95;

/** A conversation as a messages request. */
export function encodeRequest(
  conversation: Conversation,
  dialect: Dialect,
  unencodable: Concept[] = [],
  written: WrittenTools | null = null,
): JsonObject {
  const { extras, maxOutputTokens } = conversation;
  const messages = messageList(conversation.messages);
  const thinking = thinkingOf(conversation, messages);
  const budget = thinking.budget ?? 0;
  const cap = Math.max(1, Math.floor(maxOutputTokens ?? dialect.defaultMaxTokens));
  const system = [
    ...blocksOf(conversation.system),
    ...outputWords(conversation.output).map((text) => ({ type: 'text', text })),
  ];
  const stop = conversation.stop.filter((text) => text.trim() !== '');
  const tools = toolList(conversation, written);
  const { temperature, top_k, top_p } = sampling(conversation, thinking.on);
  const request: MessagesRequest = {
    model: conversation.model,
    // Thinking counts towards the token limit, which must leave room for an answer.
    max_tokens: budget >= cap ? budget + cap : cap,
    system: system.length === 0 ? undefined : system,
    messages,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : choiceOf(conversation),
    temperature,
    top_p,
    top_k,
    stop_sequences: stop.length === 0 ? undefined : stop,
    thinking: thinking.field,
    output_config: outputConfig(conversation),
    service_tier: conversation.serviceTier === 'default' ? STANDARD_ONLY : undefined,
    metadata: conversation.userId === null ? undefined : { user_id: conversation.userId },
    stream: conversation.stream ? true : undefined,
  };
  unencodable.push(...ruledOut(conversation, request, thinking.on));
  const nonNull = definedFields(request);
  return extras?.format === 'anthropic-messages' ? putBack(nonNull, extras.fields) : nonNull;
}

/** For models that have no mode for any JSON object. */
const JSON_ONLY = 'Answer with one JSON object and nothing else.';

/** The instruction on the shape of the answer, where the format has no field for it. */
function outputWords(output: OutputShape): string[] {
  if (output.kind === 'json') return [JSON_ONLY];
  return output.kind === 'schema' && hasMap(output.schema) ? [schemaText(output.schema)] : [];
}

/** With thinking on the vendor takes next to no sampling, and its newer models never both kinds. */
function sampling({ temperature, topK, topP }: Conversation, thinks: boolean): MessagesRequest {
  if (thinks) return { top_p: topP !== null && topP >= LEAST_TOP_P_THINKING ? topP : undefined };
  // Of the two, the one that changes something.
  const byTopP = topP !== null && (temperature === null || (temperature === 1 && topP !== 1));
  return {
    temperature: temperature === null || byTopP ? undefined : Math.min(1, Math.max(0, temperature)),
    top_p: byTopP ? topP : undefined,
    top_k: topK ?? undefined,
  };
}

/** What the vendor does not take beside the rest of this very request. */
function ruledOut(conversation: Conversation, request: MessagesRequest, thinks: boolean): Concept[] {
  const { output, reasoning, serviceTier, stop, temperature, topK, topP } = conversation;
  const lost: Concept[] = [];
  if (temperature !== null && request.temperature === undefined) lost.push('temperature');
  if (topP !== null && request.top_p === undefined) lost.push('topP');
  if (topK !== null && request.top_k === undefined) lost.push('topK');
  if (serviceTier !== null && serviceTier !== 'auto' && serviceTier !== 'default') lost.push('serviceTier');
  // Blank stops are refused.
  if (stop.some((text) => text.trim() === '')) lost.push('stop');
  // It is written into the prompt, and nothing enforces it.
  if (output.kind === 'schema' && hasMap(output.schema)) lost.push('schemaOutput');
  if (reasoning !== null && reasoning.mode !== 'off' && !thinks) lost.push('reasoning');
  return lost;
}

function outputConfig({ model, output, reasoning }: Conversation): JsonObject | undefined {
  const effort = effortOf(reasoning, model);
  const schema = output.kind === 'schema' && !hasMap(output.schema) ? output.schema : null;
  if (effort === undefined && schema === null) return undefined;
  return {
    ...(effort === undefined ? {} : { effort }),
    ...(schema !== null ? { format: { type: 'json_schema', schema: outputSchema(schema) } } : {}),
  };
}
