import type { SchemaRuleName } from './schema/targets.ts';
import type { JsonObject } from './values.ts';

/** What tells a chat server to go on with the assistant's message that stands last, instead of answering it. */
export interface ChatPrefill {
  /** Members of that message. */
  message?: JsonObject;
  /** Members of the request. */
  request?: JsonObject;
  /** The answer begins with that message once more. */
  repeated?: boolean;
}

/**
 * How an upstream departs from the format it speaks. Data on the provider; a codec reads it and never asks who the
 * provider is.
 */
export interface Dialect {
  /** Chat: the member that bounds the answer. OpenAI's reasoning models refuse the older name, most others know only it. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Chat and responses: the role of instructions. */
  systemRole: 'system' | 'developer';
  /** Chat: the member of an assistant message that takes its earlier reasoning back; null where none is known. */
  reasoningField: 'reasoning_content' | 'reasoning' | null;
  /** Chat: whether calls bear seals of Google's own format (`extra_content`), whoever they are from. */
  googleSeals: boolean;
  /** Chat: whether `reasoning_effort` is understood. */
  reasoningEffort: boolean;
  /** Chat: whether tools with free text (`type: custom`) are understood. */
  customTools: boolean;
  /** Chat: whether OpenAI's own optional members (cache key, tier, verbosity, metadata, store) are understood; strict servers refuse them. */
  vendorMembers: boolean;
  /** Chat: members that go by another name there; null for one that is refused. */
  memberNames: Readonly<Record<string, string | null>>;
  /** Chat: `short`: ids of calls must be nine letters or digits. */
  callIds: 'any' | 'short';
  /** Chat: how a begun answer is gone on with; null where that is not possible or not known. */
  prefill: ChatPrefill | null;
  /** Messages: what `max_tokens` is when the caller named no bound, for the format requires one. */
  defaultMaxTokens: number;
  /** What it takes as the schema of a tool or of an answer. */
  schema: SchemaRuleName;
}

export const plainDialect: Dialect = {
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  reasoningField: null,
  googleSeals: false,
  reasoningEffort: true,
  customTools: false,
  vendorMembers: false,
  memberNames: {},
  callIds: 'any',
  prefill: null,
  defaultMaxTokens: 8192,
  schema: 'full',
};
