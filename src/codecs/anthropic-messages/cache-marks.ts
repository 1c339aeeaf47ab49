import { isObject, type JsonObject, listOf } from '../values.ts';

const MARK = { type: 'ephemeral' };
/** Members that can bear a mark. */
const unmarkable: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/**
 * The request with marks where a vendor that caches by itself would have cached: the end of the tools, of the
 * instructions, and of the last two turns of the user. Marks that are there already are left alone.
 */
export function marked(request: JsonObject): JsonObject {
  if (JSON.stringify(request).includes('"cache_control":{')) return request;
  const messages = listOf(request['messages']);
  const turns = messages.flatMap((message, index) =>
    isObject(message) && message['role'] === 'user' ? [index] : [],
  );
  const last = new Set(turns.slice(-2));
  return {
    ...request,
    ...(request['tools'] === undefined ? {} : { tools: lastMarked(request['tools']) }),
    ...(request['system'] === undefined ? {} : { system: lastMarked(request['system']) }),
    messages: messages.map((message, index) =>
      last.has(index) && isObject(message)
        ? { ...message, content: lastMarked(message['content']) }
        : message,
    ),
  };
}

function lastMarked(list: unknown): unknown {
  const blocks = listOf(list);
  const last = blocks.at(-1);
  if (!isObject(last) || unmarkable.has(last['type'])) return list;
  return [...blocks.slice(0, -1), { ...last, cache_control: MARK }];
}
