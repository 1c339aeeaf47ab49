import { isObject, listOf, objectOf } from '../../json/values.ts';
import { hasCacheControl } from '../../prompt-cache/cache-control.ts';
import { isWorthKeeping, MARK, MAX_MARKS } from '../../prompt-cache/cache-worth.ts';
import type { MessageBlock, MessageParam, MessagesRequest, ToolOffer } from '../wire.ts';

/** From a mark the vendor looks for what earlier requests stored at so many blocks, its own included ("Prompt caching"). */
const LOOK_BACK = 20;
/** Blocks that cannot have a mark. */
const unmarkable: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);
const isLoaded = (tool: unknown) => isObject(tool) && objectOf<ToolOffer>(tool).defer_loading !== true;

/** A turn of the user: where it stands among the messages, and after how many blocks it ends. */
interface UserTurn {
  index: number;
  end: number;
}

/**
 * The request with marks for the vendor's prompt cache, at most four. The vendor stores a prompt only up to marks, so
 * they are set where the next request still begins alike: at the end of the last turn of the user, which is the last but
 * one of the next request; of the turn before it, in case the last one changes; of the instructions and of the tools,
 * which other conversations share. Nothing is marked if the client set marks, or if the conversation may not continue.
 * @param shared the client says that other requests begin alike
 */
export function markCache(request: MessagesRequest, shared: boolean): MessagesRequest {
  if (hasCacheControl(request) || !isWorthKeeping(request, shared)) return request;
  const messages = listOf(request.messages);
  const tools = listOf(request.tools);
  const turns = userTurns(messages);
  const system = listOf(request.system);
  const marked = new Set(placesOf(turns, system.length > 0, tools.length > 0));
  return {
    ...request,
    ...(marked.has('tools') ? { tools: markedTools(tools) } : {}),
    ...(marked.has('system') ? { system: lastMarked(system) } : {}),
    messages: messages.map((message, index) =>
      marked.has(index) && isObject(message)
        ? { ...message, content: lastMarked(listOf(objectOf<MessageParam>(message).content)) }
        : message,
    ),
  };
}

/** Turns of the user that are marked at most. */
export const MARKED_TURNS = 3;

type Place = 'tools' | 'system' | UserTurn['index'];

/** The places to mark, the most useful first, of turns the index of their message. */
function placesOf(turns: readonly UserTurn[], hasSystem: boolean, hasTools: boolean): Place[] {
  const [last, before, third] = turns.toReversed();
  const places: Place[] = [];
  for (const turn of [last, before]) if (turn !== undefined) places.push(turn.index);
  if (hasSystem) places.push('system');
  // When what stood last has changed, the turn before that is the one to find; further back it needs its own mark.
  const far = before !== undefined && third !== undefined && before.end - third.end >= LOOK_BACK;
  if (far) places.push(third.index);
  if (hasTools) places.push('tools');
  if (!far && third !== undefined) places.push(third.index);
  return places.slice(0, MAX_MARKS);
}

function userTurns(messages: readonly unknown[]): UserTurn[] {
  const turns: UserTurn[] = [];
  let end = 0;
  for (const [index, message] of messages.entries()) {
    const { content, role } = objectOf<MessageParam>(message);
    end += listOf(content).length;
    if (role === 'user') turns.push({ index, end });
  }
  return turns;
}

/** Tools with their mark, by the list without it: the requests of a conversation share one list, which is never changed. */
const cache = new WeakMap<readonly unknown[], readonly unknown[]>();

function markedTools(tools: readonly unknown[]): readonly unknown[] {
  const before = cache.get(tools);
  if (before !== undefined) return before;
  const marked = lastMarked(tools, isLoaded);
  cache.set(tools, marked);
  return marked;
}

/** The list with a mark on its last entry, or on the last of a kind. */
function lastMarked(
  blocks: readonly unknown[],
  isMeant: (block: unknown) => boolean = () => true,
): readonly unknown[] {
  const at = blocks.findLastIndex(isMeant);
  const block = blocks[at];
  if (!isObject(block) || unmarkable.has(objectOf<MessageBlock>(block).type)) return blocks;
  return blocks.with(at, { ...block, cache_control: MARK });
}
