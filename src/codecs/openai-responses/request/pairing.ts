import { table, textOf } from '../../json/values.ts';
import type { ResponsesItem } from '../wire.ts';

/** Items that call a tool, and the items of what it gave back. */
const resultTypes: Readonly<Record<string, string>> = table({
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
});

const isResult = ({ type }: ResponsesItem): boolean => Object.values(resultTypes).includes(textOf(type));
const resultTypeOf = ({ type }: ResponsesItem): string | undefined => resultTypes[textOf(type)];

/**
 * Items as the vendor requires them: the id of a call is used once, every call has its result somewhere after it, and
 * every result a call before it. A missing result is added, with a text that explains it; a result without a call
 * becomes a message of the user.
 */
export function paired(items: readonly ResponsesItem[]): ResponsesItem[] {
  const ids = wireIds(items);
  const calls = callsOfResults(items);
  const answered = new Set(calls.values());
  const written: ResponsesItem[] = [];
  let missing: ResponsesItem[] = [];
  for (const [index, item] of items.entries()) {
    const type = resultTypeOf(item);
    if (type === undefined && !isResult(item)) {
      written.push(...missing);
      missing = [];
    }
    const call = calls.get(index);
    if (type !== undefined) {
      written.push(withId(item, ids.get(index)));
      if (!answered.has(index))
        missing.push({ type, call_id: ids.get(index) ?? item.call_id, output: 'No result was given.' });
    } else if (!isResult(item)) {
      written.push(item);
    } else if (call === undefined) {
      if (item.output !== '') written.push(asUserMessage(item));
    } else {
      // A result of the other kind than its call is the client's slip.
      const kind = resultTypeOf(items[call] ?? {});
      written.push({ ...withId(item, ids.get(call)), type: kind });
    }
  }
  return [...written, ...missing];
}

const withId = (item: ResponsesItem, id: string | undefined): ResponsesItem =>
  id === undefined ? item : { ...item, call_id: id };

/** The place of the call that each result answers: the first of its id that stands before it and has no answer yet. */
function callsOfResults(items: readonly ResponsesItem[]): Map<number, number> {
  const waiting = new Map<unknown, { calls: number[]; next: number }>();
  const resultOfCall = new Map<number, number>();
  for (const [index, item] of items.entries()) {
    const id = item.call_id;
    if (resultTypeOf(item) !== undefined) {
      const queue = waiting.get(id);
      if (queue === undefined) waiting.set(id, { calls: [index], next: 0 });
      else queue.calls.push(index);
    } else if (isResult(item)) {
      const queue = waiting.get(id);
      const call = queue?.calls[queue.next];
      if (queue === undefined || call === undefined) continue;
      queue.next += 1;
      resultOfCall.set(index, call);
    }
  }
  return resultOfCall;
}

/** New ids for the calls whose id an earlier one had. */
function wireIds(items: readonly ResponsesItem[]): Map<number, string> {
  const callIds = new Set(items.map((item) => item.call_id));
  const seen = new Set<unknown>();
  const suffixes = new Map<unknown, number>();
  const ids = new Map<number, string>();
  for (const [index, item] of items.entries()) {
    if (resultTypeOf(item) === undefined) continue;
    const id = item.call_id;
    if (!seen.has(id)) {
      seen.add(id);
      continue;
    }
    let suffix = suffixes.get(id) ?? 2;
    while (callIds.has(`${id}_${suffix}`)) suffix += 1;
    suffixes.set(id, suffix + 1);
    callIds.add(`${id}_${suffix}`);
    ids.set(index, `${id}_${suffix}`);
  }
  return ids;
}

function asUserMessage({ output }: ResponsesItem): ResponsesItem {
  const content = typeof output === 'string' ? [{ type: 'input_text', text: output }] : output;
  return { type: 'message', role: 'user', content };
}
