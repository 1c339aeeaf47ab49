import type { JsonObject } from '../json/values.ts';
import type { Concept } from '../model/concept.ts';
import type { Conversation, Tool } from '../model/conversation.ts';
import type { ToolTable } from './tool-names.ts';

/** Entries of a request's tools, by the list of tools that they were written for. */
export type WrittenTools = WeakMap<readonly Tool[], readonly JsonObject[]>;

/** The tools of a conversation, adapted to a target. */
export interface AdaptedTools {
  /** As they were asked for. */
  requested: readonly Tool[];
  /** With schemas that the target takes. */
  fitted: Tool[];
  /** With names that the target takes, as it is sent them. */
  bridged: Tool[];
  names: ToolTable;
  /** What of them cannot be said. */
  dropped: readonly string[];
  /** Null where nothing is kept. */
  written: WrittenTools | null;
}

/**
 * What the translations of one conversation by one route keep for each other: agents send the same tools and settings with
 * every request. It is for requests that are equal in all fields but their turns. Whoever translates a single request needs none.
 */
export interface SharedSettings {
  /** What is said beside the turns, as it was read; null until it is. It is never changed. */
  read: Conversation | null;
  last: AdaptedTools | null;
  /** What the target can say; null until that is known. */
  rules: TargetRules | null;
  /** What is asked for beside the turns and cannot be said; null until that is known. */
  missed: readonly string[] | null;
  /** What is not read of the fields beside the turns; null until that is known. */
  unread: readonly string[] | null;
}

/** What a target can say to requests for one model. */
export interface TargetRules {
  /** Concepts that it has no word for, and that have to be looked for. */
  missing: readonly Concept[];
  /** Those that its format has a word for and that it refuses. */
  unsupported: readonly Concept[];
  canExpress(concept: Concept): boolean;
}

/** What is said beside the turns, read once for all requests that share it. */
export function readOnce(shared: SharedSettings | null, read: () => Conversation): Conversation {
  if (shared === null) return read();
  shared.read ??= read();
  return shared.read;
}

/**
 * What tools are written as; what they were written as before where that is known. It is never changed.
 * @param written null where nothing is kept
 * @param write it depends on the tools and the target alone
 */
export function writtenTools(
  tools: readonly Tool[],
  written: WrittenTools | null,
  write: () => readonly JsonObject[],
): readonly JsonObject[] {
  const before = written?.get(tools);
  if (before !== undefined) return before;
  const entries = write();
  written?.set(tools, entries);
  return entries;
}

/** Whether two lists offer the same tools, read of the same values. */
export function areSameTools(some: readonly Tool[], others: readonly Tool[]): boolean {
  if (some === others) return true;
  return some.length === others.length && some.every((tool, index) => isSameTool(tool, others[index]));
}

function isSameTool(one: Tool, other: Tool | undefined): boolean {
  if (one === other) return true;
  switch (one.kind) {
    case 'function':
      return (
        other?.kind === 'function' &&
        one.name === other.name &&
        one.description === other.description &&
        one.schema === other.schema &&
        one.strict === other.strict &&
        one.namespace === other.namespace &&
        one.cache?.ttl === other.cache?.ttl
      );
    case 'custom':
      return (
        other?.kind === 'custom' &&
        one.name === other.name &&
        one.description === other.description &&
        one.grammar?.syntax === other.grammar?.syntax &&
        one.grammar?.definition === other.grammar?.definition &&
        one.namespace === other.namespace
      );
    case 'web-search':
      return other?.kind === 'web-search' && one.native.value === other.native.value;
    case 'native':
      return other?.kind === 'native' && one.value === other.value;
  }
}
