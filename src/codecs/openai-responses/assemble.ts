import type { Frame } from '../../lib/sse.ts';
import { objectIn } from '../frames.ts';
import { isObject, type JsonObject, listOf, objectOf, table, textOf } from '../values.ts';

/**
 * A complete stream as the response it stands for: that of the terminal event. Some upstreams leave its output
 * empty; it is then put together from the items. Null when the stream failed or was cut.
 */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const items = new Map<number, JsonObject>();
  let response: JsonObject | null = null;
  for (const frame of frames) {
    const event = objectIn(frame);
    if (event === null || response !== null) continue;
    const type = textOf(event['type']) || frame.event;
    if (type === 'error' || type === 'response.failed') return null;
    if (type === 'response.completed' || type === 'response.incomplete')
      response = objectOf(event['response']);
    else addItemEvent(items, type, event);
  }
  if (response === null) return null;
  if (listOf(response['output']).length > 0 || items.size === 0) return response;
  return { ...response, output: [...items].sort(([a], [b]) => a - b).map(([, item]) => item) };
}

function addItemEvent(items: Map<number, JsonObject>, type: string, event: JsonObject): void {
  const index =
    typeof event['output_index'] === 'number' ? event['output_index'] : Math.max(0, items.size - 1);
  if (type === 'response.output_item.added' || type === 'response.output_item.done') {
    if (isObject(event['item'])) items.set(index, structuredClone(event['item']));
    return;
  }
  const item = items.get(index);
  if (item === undefined) return;
  const kind = type.replace(/^response\./, '');
  const member = callMembers[kind];
  if (member !== undefined) growMember(item, member, event);
  else if (kind.startsWith('reasoning_summary_')) growPart(item, 'summary', event, 'summary_text');
  else if (kind.startsWith('content_part.')) growPart(item, 'content', event, 'output_text');
  else if (/^(?:output_text|refusal|reasoning_text)\./.test(kind))
    growPart(item, 'content', event, kind.split('.', 1)[0]);
}

/** Events that bring a member of an item: in pieces as `delta`, or whole under its own name. */
const callMembers: Readonly<Record<string, string>> = table({
  'function_call_arguments.delta': 'arguments',
  'function_call_arguments.done': 'arguments',
  'custom_tool_call_input.delta': 'input',
  'custom_tool_call_input.done': 'input',
  'mcp_call_arguments.delta': 'arguments',
  'mcp_call_arguments.done': 'arguments',
  'code_interpreter_call_code.delta': 'code',
  'code_interpreter_call_code.done': 'code',
});

function growMember(target: JsonObject, member: string, event: JsonObject): void {
  if (typeof event['delta'] === 'string') target[member] = textOf(target[member]) + event['delta'];
  else if (event[member] !== undefined) target[member] = event[member];
}

/** Vendors leave out the event that announces a part: `type` is what its text says it is. */
function growPart(
  item: JsonObject,
  list: 'content' | 'summary',
  event: JsonObject,
  type: string | undefined,
): void {
  const position = event[list === 'summary' ? 'summary_index' : 'content_index'];
  const index = typeof position === 'number' ? position : 0;
  const parts = listOf(item[list]).slice();
  const part: JsonObject = isObject(parts[index]) ? { ...parts[index] } : { type };
  if ('annotation' in event) part['annotations'] = [...listOf(part['annotations']), event['annotation']];
  else growMember(part, type === 'refusal' ? 'refusal' : 'text', event);
  parts[index] = isObject(event['part']) ? event['part'] : part;
  item[list] = parts;
}
