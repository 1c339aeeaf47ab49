import { isObject, type JsonObject, listOf, textOf } from '../codecs/json/values.ts';
import { wrong } from '../codecs/json/wire-check.ts';

/** What the model was shown in an earlier turn, and what it answered. */
export interface PreviousTurn {
  input: unknown;
  output: readonly unknown[];
}

/**
 * A request that continues an earlier one, as a request that stands by itself: earlier input, earlier output, new
 * input, in this order (Open Responses, `previous_response_id`). Instructions are not inherited. What an earlier
 * compaction has summed up is not repeated.
 * @throws GatewayError `invalid_request` for an `input` that is neither a text nor a list
 */
export function continueResponse(previous: PreviousTurn, request: JsonObject): JsonObject {
  const { previous_response_id: _, ...rest } = request;
  return { ...rest, input: [...itemsAfter(previous), ...inputItems(request['input'])] };
}

/**
 * The `input` of a request as a list of items.
 * @throws GatewayError `invalid_request` for anything but a text, a list, null and nothing
 */
export function inputItems(input: unknown): unknown[] {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  if (!Array.isArray(input)) throw wrong('input', 'a string or a list of items');
  return input;
}

/** Everything that is to be shown again after a turn. */
export function itemsAfter({ input, output }: PreviousTurn): unknown[] {
  const compacted = output.findLastIndex(isCompaction);
  return compacted === -1 ? [...inputItems(input), ...output] : output.slice(compacted);
}

/** True for the item that stands for everything before it. */
export function isCompaction(item: unknown): boolean {
  return isObject(item) && item['type'] === 'compaction';
}

/** The id that an item refers to; null for an item that is none of these. */
export function referenceOf(item: unknown): string | null {
  if (!isObject(item) || typeof item['id'] !== 'string') return null;
  if (item['type'] === 'item_reference') return item['id'];
  // `type` may be left out of a reference, which then has nothing but its id.
  const bare = (item['type'] ?? null) === null && item['role'] === undefined && item['content'] === undefined;
  return bare ? item['id'] : null;
}

/** The item with this id among those of a turn; null when it has none. */
export function itemOf({ input, output }: PreviousTurn, id: string): JsonObject | null {
  const item = [...listOf(input), ...output].find((item) => isObject(item) && item['id'] === id);
  return isObject(item) && referenceOf(item) === null ? item : null;
}

const ITEM_ID = /^[a-z]+_([0-9A-Za-z]+)_[a-z]?\d+$/;

/** The response that an item with this id came from, known by the way both get their names here; null for a foreign id. */
export function responseOf(itemId: string): string | null {
  const name = ITEM_ID.exec(itemId)?.[1];
  return name === undefined ? null : `resp_${name}`;
}

/** The input of a turn with an id on every item, made from the response's own. */
export function withIds(input: readonly unknown[], responseId: string): unknown[] {
  const name = responseId.replace(/^[a-z]+_/, '');
  return input.map((item, index) => {
    if (!isObject(item) || typeof item['id'] === 'string') return item;
    return { ...item, id: `${prefixes[textOf(item['type'])] ?? 'item'}_${name}_i${index}` };
  });
}

/** How the vendor's ids begin; a message may leave out its type. */
const prefixes: Readonly<Record<string, string>> = {
  '': 'msg',
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
};
