import type { ConceptNames } from '../concept.ts';
import type { Conversation, Reasoning } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../values.ts';
import { marked } from './cache-marks.ts';
import { messageList, textBlock } from './content-encode.ts';
import { choiceOf, toolList } from './tools-encode.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  topK: 'top_k',
  stop: 'stop_sequences',
  reasoning: 'thinking',
  jsonOutput: 'output_config.format',
  schemaOutput: 'output_config.format',
  userId: 'metadata.user_id',
  cacheKey: 'cache_control',
  cacheMarks: 'cache_control',
  serviceTier: 'service_tier',
  fileInput: 'document',
  webSearch: 'tools.web_search',
};

/** The smallest thinking budget that the vendor takes. */
const LEAST_BUDGET = 1_024;
/** With thinking on, the vendor takes no narrower sampling than this. */
const LEAST_TOP_P_THINKING = 0.95;

/** A conversation as a messages request. */
export function encodeRequest(conversation: Conversation, dialect: Dialect): JsonObject {
  const { cacheKey, extras, reasoning } = conversation;
  const budget = budgetOf(reasoning);
  const messages = messageList(conversation.messages);
  const thinks = reasoning !== null && reasoning.mode !== 'off' && !inUnthoughtLoop(messages);
  const cap = Math.max(1, conversation.maxOutputTokens ?? dialect.defaultMaxTokens);
  const system = [
    ...conversation.system.filter(({ text }) => text !== '').map(textBlock),
    ...(conversation.output.kind === 'json' ? [{ type: 'text', text: JSON_ONLY }] : []),
  ];
  const stop = conversation.stop.filter((text) => text.trim() !== '');
  const tools = toolList(conversation);
  const request: JsonObject = {
    model: conversation.model,
    max_tokens: budget !== null && budget >= cap ? budget + cap : cap,
    system: system.length === 0 ? undefined : system,
    messages,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : choiceOf(conversation, thinks),
    ...sampling(conversation, thinks),
    stop_sequences: stop.length === 0 ? undefined : stop,
    thinking: thinks || reasoning?.mode === 'off' ? thinkingOf(reasoning, budget) : undefined,
    output_config: outputConfig(conversation),
    metadata: metadataOf(conversation),
    service_tier: tiers.has(conversation.serviceTier ?? '') ? conversation.serviceTier : undefined,
    stream: conversation.stream ? true : undefined,
    ...(extras?.format === 'anthropic-messages' ? extras.members : {}),
  };
  const said = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  return cacheKey === null ? said : marked(said);
}

/**
 * Whether the answer goes on after a call that another model made: its turn has no thinking that the vendor signed,
 * without which the vendor refuses to think on.
 */
function inUnthoughtLoop(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const content = listOf(last?.['content']).map(objectOf);
  if (!content.some(({ type }) => type === 'tool_use')) return false;
  return content[0]?.['type'] !== 'thinking' && content[0]?.['type'] !== 'redacted_thinking';
}

/** For models that have no mode for any JSON object (V-04). */
const JSON_ONLY = 'Answer with one JSON object and nothing else.';

const tiers: ReadonlySet<string> = new Set(['auto', 'standard_only']);

function budgetOf(reasoning: Reasoning | null): number | null {
  if (reasoning === null || reasoning.mode !== 'on' || reasoning.budgetTokens === null) return null;
  return Math.max(LEAST_BUDGET, Math.floor(reasoning.budgetTokens));
}

/** The vendor's newer models refuse both kinds of sampling at once, and with thinking nearly all of it. */
function sampling({ temperature, topK, topP }: Conversation, thinks: boolean): JsonObject {
  if (thinks) return { top_p: topP !== null && topP >= LEAST_TOP_P_THINKING ? topP : undefined };
  return {
    temperature: temperature === null ? undefined : Math.min(1, Math.max(0, temperature)),
    top_p: topP === null || temperature !== null ? undefined : topP,
    top_k: topK ?? undefined,
  };
}

const displays: Readonly<Record<string, string>> = {
  ...{ summarized: 'summarized', omitted: 'omitted' },
  ...{ auto: 'summarized', concise: 'summarized', detailed: 'summarized' },
};

function thinkingOf(reasoning: Reasoning | null, budget: number | null): JsonObject | undefined {
  if (reasoning === null) return undefined;
  if (reasoning.mode === 'off') return { type: 'disabled' };
  const display = displays[reasoning.display ?? ''];
  const shown = display === undefined ? {} : { display };
  return budget === null
    ? { type: 'adaptive', ...shown }
    : { type: 'enabled', budget_tokens: budget, ...shown };
}

const efforts: Readonly<Record<string, string>> = { minimal: 'low' };

function outputConfig({ output, reasoning }: Conversation): JsonObject | undefined {
  const effort = reasoning?.effort ?? null;
  if (effort === null && output.kind !== 'schema') return undefined;
  return {
    ...(effort === null ? {} : { effort: efforts[effort] ?? effort }),
    ...(output.kind === 'schema' ? { format: { type: 'json_schema', schema: output.schema } } : {}),
  };
}

function metadataOf({ metadata, userId }: Conversation): JsonObject | undefined {
  if (userId === null && !isObject(metadata)) return undefined;
  return { ...(userId === null ? {} : { user_id: userId }) };
}
