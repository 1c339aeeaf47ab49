import { isObject, type JsonObject, listOf } from '../json/values.ts';
import type { CacheMark, Conversation, Message, Part } from '../model/conversation.ts';

/** The lists of a request whose entries may have a `cache_control`, in Anthropic's format and in chat. */
const LISTS = ['tools', 'system', 'messages'] as const;

/** Whether a request has a mark of what to keep in the prompt cache, wherever the formats allow one. */
export function hasCacheControl(request: JsonObject): boolean {
  return isMarked(request) || LISTS.some((name) => listOf(request[name]).some(bearsMark));
}

/** Whether an entry of a list has a mark, or something in its content has one. */
function bearsMark(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  if (isMarked(entry)) return true;
  const { content } = entry;
  return Array.isArray(content) && content.some(bearsMark);
}

function isMarked({ cache_control: mark }: JsonObject): boolean {
  return mark !== undefined && mark !== null;
}

const FIVE_MINUTES = 300;

/** A mark in Anthropic's format; no field without a mark. */
export function cacheControl({ cache }: { cache?: CacheMark | undefined }): JsonObject {
  if (cache === undefined) return {};
  const ttl = cache.ttl === null ? {} : { ttl: cache.ttl > FIVE_MINUTES ? '1h' : '5m' };
  return { cache_control: { type: 'ephemeral', ...ttl } };
}

/** The conversation without marks of what to keep in the prompt cache. */
export function withoutCacheMarks(conversation: Conversation): Conversation {
  return unmarkedWhere(conversation, () => true);
}

/**
 * The conversation with its latest marks alone, as many as `most`; the same object where it has no more. OpenAI takes a mark on
 * every turn and writes the latest four; Anthropic refuses a request with more than those.
 */
export function withLatestCacheMarks(conversation: Conversation, most: number): Conversation {
  if (most === Number.POSITIVE_INFINITY) return conversation;
  const marked = markedIn(conversation);
  if (marked.length <= most) return conversation;
  const earlier = new Set(marked.slice(0, -most));
  return unmarkedWhere(conversation, (value) => earlier.has(value));
}

/** What bears a mark, in the order in which a vendor reads the prompt. */
function markedIn({ messages, system, tools }: Conversation): object[] {
  const places: object[] = [...tools, ...system];
  for (const { parts } of messages)
    for (const part of parts) {
      // A result ends after its parts.
      if (part.type === 'tool-result') places.push(...part.parts);
      places.push(part);
    }
  return places.filter((value) => 'cache' in value && value.cache !== undefined);
}

function unmarkedWhere(conversation: Conversation, goes: (value: object) => boolean): Conversation {
  const plain = <T extends object>(value: T): T => (goes(value) ? unmarked(value) : value);
  const bare = (part: Part): Part => {
    const own = plain(part);
    return own.type === 'tool-result' ? { ...own, parts: own.parts.map(plain) } : own;
  };
  return {
    ...conversation,
    system: conversation.system.map(plain),
    tools: conversation.tools.map(plain),
    messages: conversation.messages.map(
      (message): Message => ({ ...message, parts: message.parts.map(bare) }),
    ),
  };
}

function unmarked<T extends object>(value: T): T {
  if (!('cache' in value)) return value;
  const { cache: _, ...rest } = value;
  return rest as T;
}
