import type { Frame } from '../../../lib/streams/sse.ts';
import { numberOf } from '../../json/lossless.ts';
import { addTo, ownObject } from '../../json/merge.ts';
import { isObject, type JsonObject, listOf, objectOf, table, textOf } from '../../json/values.ts';
import { objectIn } from '../../stream/frames.ts';
import type { ResponsesAnswer, ResponsesEvent, ResponsesItem } from '../wire.ts';

/**
 * A complete stream as the response it stands for: that of the terminal event. Some upstreams leave its output
 * empty; it is then put together from the items. Null when the stream failed or was cut.
 */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const events: { event: ResponsesEvent; type: string }[] = [];
  for (const frame of frames) {
    const event: ResponsesEvent | null = objectIn(frame);
    if (event === null) continue;
    const type = textOf(event.type) || frame.event;
    if (type === 'error' || type === 'response.failed') return null;
    if (type === 'response.completed' || type === 'response.incomplete') {
      const response: ResponsesAnswer = objectOf(event.response);
      return listOf(response.output).length > 0 ? response : withItems(response, events);
    }
    events.push({ event, type });
  }
  return null;
}

function withItems(
  response: ResponsesAnswer,
  events: readonly { event: ResponsesEvent; type: string }[],
): ResponsesAnswer {
  const items = new Map<number, ItemSoFar>();
  for (const { event, type } of events) addItemEvent(items, type, event);
  return items.size === 0 ? response : { ...response, output: inOrder(items).map(finished) };
}

/** An item that still grows: its parts by the numbers that the stream gives them. */
interface ItemSoFar {
  fields: ResponsesItem & JsonObject;
  content: Map<number, JsonObject>;
  summary: Map<number, JsonObject>;
}

function begun(item: ResponsesItem): ItemSoFar {
  const parts = (list: unknown) =>
    new Map(listOf(list).map((part, index) => [index, ownObject(objectOf(part))]));
  return { fields: { ...item }, content: parts(item.content), summary: parts(item.summary) };
}

function finished({ fields, content, summary }: ItemSoFar): ResponsesItem {
  const item = { ...fields };
  if (content.size > 0) item.content = inOrder(content);
  if (summary.size > 0) item.summary = inOrder(summary);
  return item;
}

/** By their numbers, which need not follow on one another. */
function inOrder<T>(numbered: ReadonlyMap<number, T>): T[] {
  return [...numbered].sort(([a], [b]) => a - b).map(([, value]) => value);
}

function addItemEvent(items: Map<number, ItemSoFar>, type: string, event: ResponsesEvent): void {
  const index = numberOf(event.output_index) ?? Math.max(0, items.size - 1);
  if (type === 'response.output_item.added' || type === 'response.output_item.done') {
    if (isObject(event.item)) items.set(index, begun(event.item));
    return;
  }
  const item = items.get(index);
  if (item === undefined) return;
  const kind = type.replace(/^response\./, '');
  const field = callFields[kind];
  if (field !== undefined) growField(item.fields, field, event);
  else if (kind.startsWith('reasoning_summary_'))
    growPart(item.summary, numberOf(event.summary_index), event, 'summary_text');
  else if (kind.startsWith('content_part.'))
    growPart(item.content, numberOf(event.content_index), event, 'output_text');
  else if (/^(?:output_text|refusal|reasoning_text)\./.test(kind))
    growPart(item.content, numberOf(event.content_index), event, kind.split('.', 1)[0]);
}

/** What an event may bring of a text. */
type EventText = 'arguments' | 'input' | 'code' | 'text' | 'refusal';

/** Events that bring a field of an item: in pieces as `delta`, or whole under its own name. */
const callFields = table<EventText>({
  'function_call_arguments.delta': 'arguments',
  'function_call_arguments.done': 'arguments',
  'custom_tool_call_input.delta': 'input',
  'custom_tool_call_input.done': 'input',
  'mcp_call_arguments.delta': 'arguments',
  'mcp_call_arguments.done': 'arguments',
  'code_interpreter_call_code.delta': 'code',
  'code_interpreter_call_code.done': 'code',
});

function growField(target: JsonObject, field: EventText, event: ResponsesEvent): void {
  if (typeof event.delta === 'string') target[field] = textOf(target[field]) + event.delta;
  else if (event[field] !== undefined) target[field] = event[field];
}

/** Some vendors omit the event that announces a part: `type` follows from the event of its text. */
function growPart(
  parts: Map<number, JsonObject>,
  index: number | null,
  event: ResponsesEvent,
  type: string | undefined,
): void {
  const part = parts.get(index ?? 0) ?? { type };
  parts.set(index ?? 0, isObject(event.part) ? ownObject(event.part) : part);
  if (isObject(event.part)) return;
  if ('annotation' in event) addTo(part, 'annotations', event.annotation);
  else growField(part, type === 'refusal' ? 'refusal' : 'text', event);
}
