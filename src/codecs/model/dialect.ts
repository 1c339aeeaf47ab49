import type { JsonObject } from '../json/values.ts';
import type { SchemaRuleName } from '../schema/targets.ts';

/** What makes a chat server continue the assistant's last message, instead of answering it. */
export interface ChatPrefill {
  /** Fields of that message. */
  message?: JsonObject;
  /** Fields of the request. */
  request?: JsonObject;
  /** The answer begins with that message once more. */
  repeated?: boolean;
}

/**
 * How an upstream departs from the format it speaks. Data on the provider; a codec reads it and never asks who the
 * provider is.
 */
export interface Dialect {
  /** Chat: the field that bounds the answer. OpenAI's reasoning models refuse the older name; others have only that. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Chat and responses: the role of instructions. */
  systemRole: 'system' | 'developer';
  /** Chat: the field of an assistant message that takes its earlier reasoning back; null where none is known. */
  reasoningField: 'reasoning_content' | 'reasoning' | null;
  /** Chat: what stands for the reasoning before a call where there was none, at servers that refuse a call without; else null. */
  noReasoning: string | null;
  /** Chat: whether a message with a field that the server does not support is refused. */
  strictMessages: boolean;
  /** Chat: whether all calls carry signatures of Google's own format (`extra_content`). */
  googleSignatures: boolean;
  /** Messages: whether the vendor signs all thinking and refuses it unsigned. Others expect theirs back. */
  signedThinking: boolean;
  /** Chat: whether `reasoning_effort` is understood. */
  reasoningEffort: boolean;
  /** Chat: whether tools with free text (`type: custom`) are understood. */
  customTools: boolean;
  /** Chat: whether OpenAI's own optional fields (cache key, tier, verbosity, metadata, store) are understood; strict servers refuse them. */
  vendorFields: boolean;
  /** Chat, messages: whether a tier of service may be asked for, where that is not said by `vendorFields`. */
  serviceTier: boolean;
  /**
   * Chat: whether `prompt_cache_key`, and `cache_control` on texts, are sent; some servers ignore them. One
   * that refuses them is not sent them again.
   */
  cacheFields: boolean;
  /** Chat: whether instructions, users and tools may say a list of texts; else several are sent as one. DeepSeek and others refuse lists. */
  textParts: boolean;
  /** Chat: texts that end the answer, at most. */
  maxStops: number;
  /** Chat: fields that go by another name there; null for one that is refused. */
  fieldNames: Readonly<Record<string, string | null>>;
  /** Chat: `short`: ids of calls must be nine letters or digits. */
  callIds: 'any' | 'short';
  /** Chat: how a begun answer is gone on with; null where that is not possible or not known. */
  prefill: ChatPrefill | null;
  /** Messages: what `max_tokens` is when the client named no bound, for the format requires one. */
  defaultMaxTokens: number;
  /** What it takes as the schema of a tool or of an answer. */
  schema: SchemaRuleName;
}

export const plainDialect: Dialect = {
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  reasoningField: null,
  noReasoning: null,
  strictMessages: false,
  googleSignatures: false,
  signedThinking: false,
  reasoningEffort: true,
  customTools: false,
  vendorFields: false,
  serviceTier: false,
  cacheFields: false,
  textParts: false,
  // OpenAI API reference, "Create chat completion", `stop`.
  maxStops: 4,
  fieldNames: {},
  callIds: 'any',
  prefill: null,
  defaultMaxTokens: 8192,
  schema: 'full',
};

/** A dialect of which a provider says how it departs from the plain one. */
export function dialectOf(departures: Partial<Dialect> | undefined): Dialect {
  return { ...plainDialect, ...departures };
}
