import { isObject, listOf, objectOf } from '../../json/values.ts';
import type { Dialect } from '../../model/dialect.ts';
import { hasCacheControl } from '../../prompt-cache/cache-control.ts';
import { isWorthKeeping, MARK, MAX_MARKS } from '../../prompt-cache/cache-worth.ts';
import type { ChatMessage, ChatRequest, MessagePart } from '../wire.ts';

/** Models whose vendor keeps only what is marked, under the many names that they have at servers of the format. */
const WANTS_MARKS = /claude/i;

/** Turns of the user that are marked at most. */
export function markedTurns(model: string, { cacheFields }: Dialect): number {
  return cacheFields && WANTS_MARKS.test(model) ? MAX_MARKS : 0;
}

const instructing: ReadonlySet<unknown> = new Set(['system', 'developer']);

/**
 * The request with marks for Anthropic's prompt cache, if the server passes marks on and the model is Anthropic's: on
 * the instructions, which come after the tools, and on the last turns of the user.
 * @param shared the client says that other requests begin alike
 */
export function markCache(request: ChatRequest, shared: boolean, dialect: Dialect): ChatRequest {
  const { model } = request;
  if (typeof model !== 'string' || markedTurns(model, dialect) === 0) return request;
  if (hasCacheControl(request) || !isWorthKeeping(request, shared)) return request;
  const messages = listOf(request.messages);
  const ends = turnEnds(messages);
  const others = messages.findIndex((message) => !instructing.has(objectOf<ChatMessage>(message).role));
  const instructions = others > 0 ? [others - 1] : [];
  const places = [...ends.slice(0, 2), ...instructions, ...ends.slice(2)];
  const marked = new Set(places.slice(0, MAX_MARKS));
  return {
    ...request,
    messages: messages.map((message, index) =>
      marked.has(index) && isObject(message) ? withMark(message) : message,
    ),
  };
}

/** The last message of each turn of the user and of tools, the latest turn first. */
function turnEnds(messages: readonly unknown[]): number[] {
  const isTurn = (message: unknown) => {
    const { role } = objectOf<ChatMessage>(message);
    return role === 'user' || role === 'tool';
  };
  return messages
    .flatMap((message, index) => (isTurn(message) && !isTurn(messages[index + 1]) ? [index] : []))
    .reverse();
}

/** Of a result the message itself is marked, and its text stays as it is. */
function withMark(message: ChatMessage): ChatMessage {
  const { content, role } = message;
  if (role === 'tool') return { ...message, cache_control: MARK };
  if (typeof content === 'string')
    return content === ''
      ? message
      : { ...message, content: [{ type: 'text', text: content, cache_control: MARK }] };
  const parts = listOf(content);
  const at = parts.findLastIndex((part) => objectOf<MessagePart>(part).type === 'text');
  return {
    ...message,
    content: parts.map((part, index) =>
      index === at && isObject(part) ? { ...part, cache_control: MARK } : part,
    ),
  };
}
