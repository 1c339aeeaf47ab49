import type { JsonObject } from '../json/values.ts';
import type { WireFormat } from '../wire-format.ts';

/**
 * What a request for an answer says, in no vendor's words: every message format is read into this and written
 * from it. A concept stands here when two formats have it; the rest travels in `extras` and goes back to its own
 * format only. Absent and null mean that the client said nothing, and nothing is made up for it.
 */
export interface Conversation {
  model: string;
  /** Instructions before the first message, in order. */
  system: TextPart[];
  messages: Message[];
  tools: Tool[];
  /** What is said of groups of tools, by their `namespace`. */
  namespaces: Readonly<Record<string, string>>;
  toolChoice: ToolChoice | null;
  /** False: at most one tool call an answer. */
  parallelToolCalls: boolean | null;
  /** Most tokens of the answer, reasoning included. */
  maxOutputTokens: number | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  /** Texts that end the answer. */
  stop: string[];
  seed: number | null;
  frequencyPenalty: number | null;
  presencePenalty: number | null;
  /** How many answers are wanted. */
  candidates: number | null;
  /** How many alternatives to report for each token; 0 for the chosen one alone. */
  logprobs: number | null;
  reasoning: Reasoning | null;
  output: OutputShape;
  verbosity: string | null;
  /** Names the end user to the vendor. */
  userId: string | null;
  /** Requests with the same key share a prompt cache. */
  cacheKey: string | null;
  serviceTier: string | null;
  metadata: JsonObject | null;
  store: boolean | null;
  stream: boolean;
  /** Whether a streaming client requested usage; true for formats that always send it. */
  includeUsage: boolean;
  extras: Extras | null;
}

/** Fields that only one format has, as received. */
export interface Extras {
  format: WireFormat;
  fields: JsonObject;
}

export interface Message {
  role: 'system' | 'user' | 'assistant';
  parts: Part[];
  /** Tells participants of one role apart. */
  name?: string;
}

export type Part =
  | TextPart
  | ImagePart
  | FilePart
  | AudioPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | SearchPart
  | NativePart;

export interface TextPart {
  type: 'text';
  text: string;
  cache?: CacheMark;
}

/** Everything up to here is worth keeping in the vendor's prompt cache. */
export interface CacheMark {
  /** Seconds; null for the vendor's usual time. */
  ttl: number | null;
}

/** Bytes, or where to find them. */
export type Source =
  | { kind: 'data'; mediaType: string; base64: string }
  | { kind: 'url'; url: string }
  /** A file uploaded to the vendor of `format`; no other vendor can read it. */
  | { kind: 'file'; id: string; format: WireFormat };

export interface ImagePart {
  type: 'image';
  source: Source;
  /** `low`, `high`, `auto`, `original`. */
  detail?: string;
  name?: string;
  cache?: CacheMark;
}

/** A document: PDF or text. */
export interface FilePart {
  type: 'file';
  source: Source | { kind: 'text'; text: string };
  name?: string;
  cache?: CacheMark;
  /** Whether the answer shall cite it. */
  citations?: boolean;
}

export interface AudioPart {
  type: 'audio';
  /** `wav`, `mp3`. */
  format: string;
  base64: string;
}

export interface ToolCallPart {
  type: 'tool-call';
  id: string;
  name: string;
  /** Of a function: JSON text, as the model wrote it ('' means {}). Of a custom tool: free text. */
  input: string;
  kind: 'function' | 'custom';
  /** The group that the tool belongs to, where the format groups them. */
  namespace?: string;
  cache?: CacheMark;
}

export interface ToolResultPart {
  type: 'tool-result';
  callId: string;
  /** Texts, images and files. */
  parts: (TextPart | ImagePart | FilePart)[];
  isError: boolean;
  kind: 'function' | 'custom';
  cache?: CacheMark;
}

export interface ReasoningPart {
  type: 'reasoning';
  /** Readable reasoning; '' when only the encrypted form came. */
  text: string;
  /** True for a summary that the vendor made of it. */
  summary: boolean;
  encrypted: EncryptedReasoning | null;
}

/** Reasoning that only its maker can read: a signature over the text, or the whole of it encrypted. Never changed, never made up. */
export interface EncryptedReasoning {
  format: WireFormat;
  kind: 'signature' | 'encrypted' | 'redacted';
  /** As it came. */
  value: string;
  /** The item's own id, where the format has one. */
  id?: string;
  /** Who can read it (`encrypted-reasoning/owner.ts`); absent where that is not known. */
  owner?: string;
}

export interface RefusalPart {
  type: 'refusal';
  text: string;
}

/** A search of the web that the vendor made by itself while it answered. */
export interface Search {
  /** What was searched for; of a page that was opened its address. */
  queries: string[];
  sources: { url: string; title: string | null }[];
  failed: boolean;
  /** What it says in words, for a format that cannot carry it. */
  text: string;
  /** As it came, for its own format: one item, or a call and its result. */
  native: { format: WireFormat; values: JsonObject[] };
}

export interface SearchPart extends Search {
  type: 'search';
}

/** A block or item that one format alone has (a server tool's call other than a search, a compaction). */
export interface NativePart {
  type: 'native';
  format: WireFormat;
  /** The wire's own type name. */
  name: string;
  value: JsonObject;
  /** What it says, for a format that cannot carry it; null when leaving it out would change the meaning. */
  text: string | null;
}

export type Tool = FunctionTool | CustomTool | WebSearchTool | NativeTool;

export interface FunctionTool {
  kind: 'function';
  name: string;
  description: string | null;
  /** JSON Schema; null when the client gave none. */
  schema: JsonObject | null;
  strict: boolean | null;
  namespace?: string;
  cache?: CacheMark;
}

/** A tool whose input is free text, perhaps held to a grammar. */
export interface CustomTool {
  kind: 'custom';
  name: string;
  description: string | null;
  grammar: { syntax: string; definition: string } | null;
  namespace?: string;
}

/** A search that the vendor runs itself. */
export interface WebSearchTool {
  kind: 'web-search';
  maxUses: number | null;
  allowedDomains: string[] | null;
  blockedDomains: string[] | null;
  location: JsonObject | null;
  /** The tool as it came, for its own format. */
  native: { format: WireFormat; value: JsonObject };
}

export interface NativeTool {
  kind: 'native';
  format: WireFormat;
  /** The wire's own type name. */
  name: string;
  value: JsonObject;
}

export type ToolChoice =
  | { kind: 'auto' | 'none' | 'required' }
  | { kind: 'tool'; name: string }
  /** Only these of the tools may be called. */
  | { kind: 'allowed'; names: string[]; required: boolean };

export interface Reasoning {
  /** `off`: none. `adaptive`: the model decides. `on`: as `effort` or `budgetTokens` say. */
  mode: 'off' | 'on' | 'adaptive';
  /** `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  effort: string | null;
  budgetTokens: number | null;
  /** How much of it the client requested: `auto`, `concise`, `detailed`, `omitted`, `summarized`. */
  display: string | null;
}

export type OutputShape =
  | { kind: 'text' }
  /** Any JSON object. */
  | { kind: 'json' }
  | {
      kind: 'schema';
      name: string | null;
      description: string | null;
      schema: JsonObject;
      strict: boolean | null;
    };

/** A conversation that says nothing but its model, for decoders to fill. */
export function emptyConversation(model: string): Conversation {
  return {
    model,
    system: [],
    messages: [],
    tools: [],
    namespaces: {},
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: null,
    temperature: null,
    topP: null,
    topK: null,
    stop: [],
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    candidates: null,
    logprobs: null,
    reasoning: null,
    output: { kind: 'text' },
    verbosity: null,
    userId: null,
    cacheKey: null,
    serviceTier: null,
    metadata: null,
    store: null,
    stream: false,
    includeUsage: false,
    extras: null,
  };
}
