import type { WrittenTools } from '../../adapt/shared-tools.ts';
import { definedFields, type JsonObject, table } from '../../json/values.ts';
import type { Concept, ConceptNames } from '../../model/concept.ts';
import type { Conversation } from '../../model/conversation.ts';
import { type Dialect, plainDialect } from '../../model/dialect.ts';
import { putBack } from './own-fields.ts';
import { thinkingOf } from './thinking.ts';
import { toolConfigOf, toolList } from './tools-encode.ts';
import { contentsOf } from './turns.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  temperature: 'generationConfig.temperature',
  topP: 'generationConfig.topP',
  topK: 'generationConfig.topK',
  stop: 'generationConfig.stopSequences',
  seed: 'generationConfig.seed',
  frequencyPenalty: 'generationConfig.frequencyPenalty',
  presencePenalty: 'generationConfig.presencePenalty',
  candidates: 'generationConfig.candidateCount',
  logprobs: 'generationConfig.responseLogprobs',
  reasoning: 'generationConfig.thinkingConfig',
  jsonOutput: 'generationConfig.responseMimeType',
  schemaOutput: 'generationConfig.responseJsonSchema',
  serviceTier: 'serviceTier',
  tools: 'tools.functionDeclarations',
  toolCalls: 'functionCall',
  forcedCall: 'toolConfig.functionCallingConfig',
  allowedTools: 'toolConfig.functionCallingConfig.allowedFunctionNames',
  imageInput: 'inlineData',
  imageUrls: 'fileData.fileUri',
  audioInput: 'inlineData',
  fileInput: 'inlineData',
  uploads: 'fileData',
  webSearch: 'tools.googleSearch',
};

/** A search beside functions is read, and not written (`tools-encode.ts`); nor are domains, which its cloud alone takes. */
export const acceptedOnly: ConceptNames = {
  searchBesideTools: 'tools.googleSearch',
  searchDomains: 'tools.googleSearch.excludeDomains',
  fileNames: 'inlineData.displayName',
};

/** Google's cloud names the tier in a header, and refuses unknown fields. */
export const vendorOnly: readonly Concept[] = ['serviceTier'];

/** What the vendor takes as the name of a function: older models no longer one. */
export const toolRules = {
  custom: false,
  namespaces: false,
  name: /^[a-zA-Z_][a-zA-Z0-9_.-]*$/,
  maxName: 64,
} as const;

/** The vendor takes no more (`GenerationConfig.stopSequences`). */
const MAX_STOPS = 5;

/** A conversation as a generateContent request. The model and whether to stream stand in the path. */
export function encodeRequest(
  conversation: Conversation,
  _: Dialect = plainDialect,
  unencodable: Concept[] = [],
  written: WrittenTools | null = null,
): JsonObject {
  if (conversation.stop.length > MAX_STOPS) unencodable.push('stop');
  const { extras, messages, model, system } = conversation;
  const instructions = system.filter(({ text }) => text !== '').map(({ text }) => ({ text }));
  const tools = toolList(conversation, written);
  const config = definedFields(generationConfig(conversation));
  const request = definedFields({
    systemInstruction: instructions.length === 0 ? null : { parts: instructions },
    contents: contentsOf(messages, model),
    tools: tools.length === 0 ? null : tools,
    toolConfig: toolConfigOf(conversation),
    generationConfig: Object.keys(config).length === 0 ? null : config,
    serviceTier: tierOf(conversation),
  });
  return extras?.format === 'gemini' ? putBack(request, extras.fields) : request;
}

function generationConfig(conversation: Conversation): JsonObject {
  const { logprobs, maxOutputTokens, model, output, reasoning, stop } = conversation;
  return {
    candidateCount: conversation.candidates,
    maxOutputTokens: maxOutputTokens === null ? null : Math.max(1, Math.floor(maxOutputTokens)),
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    seed: conversation.seed,
    presencePenalty: conversation.presencePenalty,
    frequencyPenalty: conversation.frequencyPenalty,
    stopSequences: stop.length === 0 ? null : stop.slice(0, MAX_STOPS),
    responseLogprobs: logprobs === null ? null : true,
    logprobs: logprobs === 0 ? null : logprobs,
    responseMimeType: output.kind === 'text' ? null : 'application/json',
    responseJsonSchema: output.kind === 'schema' ? output.schema : null,
    thinkingConfig: thinkingOf(reasoning, model),
  };
}

const tiers: Readonly<Record<string, string>> = table({
  default: 'standard',
  flex: 'flex',
  priority: 'priority',
  fast: 'priority',
});

/** The vendor's word for a tier; none for one that it does not have. */
function tierOf({ serviceTier }: Conversation): string | null {
  return tiers[serviceTier ?? ''] ?? null;
}
