import { isTextFile } from '../files/text-file.ts';
import type { Content } from './content.ts';
import type { Conversation, Part, Source, Tool, WebSearchTool } from './conversation.ts';

/** What a request may ask for and not every format can say. */
export interface ConceptRow {
  /**
   * `drop`: the answer is the same in kind without it. `refuse`: it would mean something else. `hold`: the gateway
   * enforces it on the answer, whether or not the request carries it. `tell`: it is written into the text (`in-text.ts`).
   */
  without: 'drop' | 'refuse' | 'hold' | 'tell';
  /** What the conversation has where it is asked for; absent where its fields or tools ask for it. */
  within?: keyof Content;
  /** Whether the request asks for it. */
  isRequested(conversation: Conversation): boolean;
}

const isSet = (value: unknown) => value !== null;
const somePart = (conversation: Conversation, test: (part: Part) => boolean) =>
  conversation.messages.some(({ parts }) => parts.some(test));
const deepPart = (conversation: Conversation, test: (part: Part) => boolean) =>
  somePart(conversation, (part) => test(part) || (part.type === 'tool-result' && part.parts.some(test)));
const isUpload = (part: Part) => 'source' in part && (part.source as Source).kind === 'file';
const isMarked = (part: Part) => 'cache' in part && part.cache !== undefined;
const isCallable = ({ kind }: Tool) => kind === 'function' || kind === 'custom';
const isSearch = (tool: Tool): tool is WebSearchTool => tool.kind === 'web-search';

/** The concepts that formats differ in. What every message format can say is not listed. */
export const concepts = {
  temperature: { without: 'drop', isRequested: ({ temperature }) => isSet(temperature) && temperature !== 1 },
  topP: { without: 'drop', isRequested: ({ topP }) => isSet(topP) && topP !== 1 },
  topK: { without: 'drop', isRequested: ({ topK }) => isSet(topK) },
  stop: { without: 'drop', isRequested: ({ stop }) => stop.length > 0 },
  seed: { without: 'drop', isRequested: ({ seed }) => isSet(seed) },
  frequencyPenalty: {
    without: 'drop',
    isRequested: ({ frequencyPenalty: value }) => isSet(value) && value !== 0,
  },
  presencePenalty: {
    without: 'drop',
    isRequested: ({ presencePenalty: value }) => isSet(value) && value !== 0,
  },
  candidates: { without: 'refuse', isRequested: ({ candidates }) => candidates !== null && candidates > 1 },
  logprobs: { without: 'refuse', isRequested: ({ logprobs }) => isSet(logprobs) },
  reasoning: {
    without: 'drop',
    isRequested: ({ reasoning }) => reasoning !== null && reasoning.mode !== 'off',
  },
  jsonOutput: { without: 'refuse', isRequested: ({ output }) => output.kind === 'json' },
  schemaOutput: { without: 'refuse', isRequested: ({ output }) => output.kind === 'schema' },
  verbosity: { without: 'drop', isRequested: ({ verbosity }) => isSet(verbosity) },
  userId: { without: 'drop', isRequested: ({ userId }) => isSet(userId) },
  cacheKey: { without: 'drop', isRequested: ({ cacheKey }) => isSet(cacheKey) },
  cacheMarks: {
    without: 'drop',
    within: 'marks',
    isRequested: (conversation) =>
      deepPart(conversation, isMarked) ||
      conversation.system.some(isMarked) ||
      conversation.tools.some((tool) => 'cache' in tool && tool.cache !== undefined),
  },
  serviceTier: {
    without: 'drop',
    isRequested: ({ serviceTier }) => isSet(serviceTier) && serviceTier !== 'auto',
  },
  metadata: { without: 'drop', isRequested: ({ metadata }) => isSet(metadata) },
  store: { without: 'drop', isRequested: ({ store }) => store === true },
  /** Functions and tools with free text. */
  tools: {
    without: 'refuse',
    isRequested: ({ tools }) => tools.some(isCallable),
  },
  /** Arguments that are held to the schema of their tool. */
  strictTools: {
    without: 'drop',
    isRequested: ({ tools }) => tools.some((tool) => tool.kind === 'function' && tool.strict === true),
  },
  /** Calls of an earlier turn, and their results. */
  toolCalls: {
    without: 'refuse',
    within: 'calls',
    isRequested: (all) => somePart(all, ({ type }) => type === 'tool-call' || type === 'tool-result'),
  },
  imageInput: {
    without: 'refuse',
    within: 'media',
    isRequested: (all) => deepPart(all, ({ type }) => type === 'image'),
  },
  /** Images that the provider has to fetch. */
  imageUrls: {
    without: 'refuse',
    within: 'media',
    isRequested: (all) => deepPart(all, (part) => part.type === 'image' && part.source.kind === 'url'),
  },
  /** How closely to look at an image. */
  imageDetail: {
    without: 'drop',
    within: 'media',
    isRequested: (all) =>
      deepPart(all, (part) => part.type === 'image' && part.detail !== undefined && part.detail !== 'auto'),
  },
  audioInput: {
    without: 'refuse',
    within: 'media',
    isRequested: (all) => deepPart(all, ({ type }) => type === 'audio'),
  },
  /** Documents that are more than text, which every format can say. */
  fileInput: {
    without: 'refuse',
    within: 'media',
    isRequested: (all) => deepPart(all, (part) => part.type === 'file' && !isTextFile(part)),
  },
  /** Names of documents that are more than text; of pictures no format has any. */
  fileNames: {
    without: 'tell',
    within: 'media',
    isRequested: (all) =>
      deepPart(all, (part) => part.type === 'file' && part.name !== undefined && !isTextFile(part)),
  },
  /** Which of several users says something. */
  participants: {
    without: 'tell',
    within: 'names',
    isRequested: ({ messages }) =>
      messages.some(({ name, role }) => name !== undefined && role !== 'assistant'),
  },
  /** Which of several assistants said something: in its text, models would write the like themselves. */
  assistantNames: {
    without: 'drop',
    within: 'names',
    isRequested: ({ messages }) =>
      messages.some(({ name, role }) => name !== undefined && role === 'assistant'),
  },
  /** Documents that the answer shall cite by their places. */
  citedDocuments: {
    without: 'drop',
    within: 'media',
    isRequested: (all) => deepPart(all, (part) => part.type === 'file' && part.citations === true),
  },
  /** A file that was uploaded to one vendor. */
  uploads: { without: 'refuse', within: 'media', isRequested: (all) => deepPart(all, isUpload) },
  /** A call that the answer must have. */
  forcedCall: {
    without: 'drop',
    isRequested: ({ toolChoice, tools }) =>
      tools.some(isCallable) &&
      (toolChoice?.kind === 'required' ||
        toolChoice?.kind === 'tool' ||
        (toolChoice?.kind === 'allowed' && toolChoice.required)),
  },
  /** At most one call an answer. */
  parallelToolCalls: {
    without: 'hold',
    isRequested: ({ parallelToolCalls, toolChoice, tools }) =>
      parallelToolCalls === false && toolChoice?.kind !== 'none' && tools.some(isCallable),
  },
  /** Some of the tools, the only ones that may be called. */
  allowedTools: {
    without: 'hold',
    isRequested: ({ toolChoice, tools }) => toolChoice?.kind === 'allowed' && tools.some(isCallable),
  },
  webSearch: { without: 'drop', isRequested: ({ tools }) => tools.some(isSearch) },
  /** A search and tools that the client runs, in one request. */
  searchBesideTools: {
    without: 'drop',
    isRequested: ({ tools }) => tools.some(isSearch) && tools.some(isCallable),
  },
  /** Where to search and where not. */
  searchDomains: {
    without: 'drop',
    isRequested: ({ tools }) =>
      tools.some((tool) => isSearch(tool) && (isSet(tool.allowedDomains) || isSet(tool.blockedDomains))),
  },
  /** From where to search. */
  searchLocation: {
    without: 'drop',
    isRequested: ({ tools }) => tools.some((tool) => isSearch(tool) && isSet(tool.location)),
  },
  /** How often to search at most. */
  searchUses: {
    without: 'drop',
    isRequested: ({ tools }) => tools.some((tool) => isSearch(tool) && isSet(tool.maxUses)),
  },
  /** What an answer that fits a schema is for. */
  schemaDescription: {
    without: 'tell',
    isRequested: ({ output }) => output.kind === 'schema' && isSet(output.description),
  },
} as const satisfies Record<string, ConceptRow>;

export type Concept = keyof typeof concepts;

/**
 * What no translated request may ask for, even where both formats have a word for it: the neutral model carries one
 * answer without probabilities, and a vendor's upload is known to no other.
 */
export const untranslatable: readonly Concept[] = ['candidates', 'logprobs', 'uploads'];

/** What a format calls each concept that it can say; one it cannot say is missing. */
export type ConceptNames = Readonly<Partial<Record<Concept, string>>>;

/** Words that a format has for a concept besides the first one: each with the paths at which a request says it. */
export type ConceptWords = Readonly<Partial<Record<Concept, Readonly<Record<string, readonly string[]>>>>>;
