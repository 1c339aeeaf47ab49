import type { Frame } from '../../../lib/streams/sse.ts';
import { type JsonObject, listOf, objectOf, table, textOf } from '../../json/values.ts';
import { encodeFrames, ValueFrame } from '../../stream/frames.ts';
import type { ItemPart, ResponsesAnswer, ResponsesItem } from '../wire.ts';

type Event = JsonObject & { type: string };

/** Fields that are set only at the end of a response, with their values while it is in progress. */
const unfinished = { status: 'in_progress', output: [], usage: null, error: null, incomplete_details: null };

/** Status of a finished response and the event that reports it. */
const terminalEvents: Readonly<Record<string, string>> = table({
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  failed: 'response.failed',
});

/** A complete response as a stream: created, in progress, every item from added to done, and the terminal event. */
export function framesOf(response: ResponsesAnswer): Frame[] {
  const opening: ResponsesAnswer = {
    ...response,
    ...unfinished,
    ...('completed_at' in response ? { completed_at: null } : {}),
  };
  delete opening.output_text;
  const events: Event[] = [
    { type: 'response.created', response: opening },
    { type: 'response.in_progress', response: opening },
  ];
  for (const [index, item] of listOf(response.output).entries()) {
    events.push(...itemEvents(objectOf(item), index));
  }
  events.push({ type: terminalEvents[textOf(response.status)] ?? 'response.completed', response });
  return events.map(
    ({ type, ...rest }, sequence_number) => new ValueFrame(type, { type, sequence_number, ...rest }),
  );
}

export function encodeFramesOf(response: Record<string, unknown>): string {
  return encodeFrames(framesOf(response));
}

function itemEvents(item: ResponsesItem, output_index: number): Event[] {
  const place = {
    item_id: typeof item.id === 'string' ? item.id : `item_${output_index}`,
    output_index,
  };
  const added = { ...item };
  const inner: Event[] = [];
  if (item.type === 'message' && Array.isArray(item.content)) {
    added.content = [];
    inner.push(...listOf(item.content).flatMap((part, index) => partEvents(objectOf(part), place, index)));
  } else if (item.type === 'reasoning') {
    inner.push(...reasoningEvents(item, added, place));
  } else if (item.type === 'function_call' && typeof item.arguments === 'string') {
    added.arguments = '';
    inner.push(
      { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
      {
        type: 'response.function_call_arguments.done',
        ...place,
        name: item.name,
        arguments: item.arguments,
      },
    );
  } else if (item.type === 'custom_tool_call' && typeof item.input === 'string') {
    added.input = '';
    inner.push(
      { type: 'response.custom_tool_call_input.delta', ...place, delta: item.input },
      { type: 'response.custom_tool_call_input.done', ...place, input: item.input },
    );
  }
  if (typeof item.status === 'string' && inner.length > 0) added.status = 'in_progress';
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...inner,
    { type: 'response.output_item.done', output_index, item },
  ];
}

interface Place {
  item_id: string;
  output_index: number;
}

/** Parts of a kind without deltas are carried whole in their two brackets. */
function partEvents(part: ItemPart, item: Place, content_index: number): Event[] {
  const place = { ...item, content_index };
  const added = { ...part };
  const inner: Event[] = [];
  if (part.type === 'output_text' && typeof part.text === 'string') {
    added.text = '';
    const annotations = listOf(part.annotations);
    if (annotations.length > 0) added.annotations = [];
    inner.push({
      type: 'response.output_text.delta',
      ...place,
      delta: part.text,
      logprobs: listOf(part.logprobs),
    });
    for (const [annotation_index, annotation] of annotations.entries()) {
      inner.push({ type: 'response.output_text.annotation.added', ...place, annotation_index, annotation });
    }
    inner.push({
      type: 'response.output_text.done',
      ...place,
      text: part.text,
      logprobs: listOf(part.logprobs),
    });
  } else if (part.type === 'refusal' && typeof part.refusal === 'string') {
    added.refusal = '';
    inner.push(
      { type: 'response.refusal.delta', ...place, delta: part.refusal },
      { type: 'response.refusal.done', ...place, refusal: part.refusal },
    );
  } else if (part.type === 'reasoning_text' && typeof part.text === 'string') {
    added.text = '';
    inner.push(
      { type: 'response.reasoning_text.delta', ...place, delta: part.text },
      { type: 'response.reasoning_text.done', ...place, text: part.text },
    );
  }
  return [
    { type: 'response.content_part.added', ...place, part: added },
    ...inner,
    { type: 'response.content_part.done', ...place, part },
  ];
}

/** Empties the streamed lists of `added` and gives the events that fill them again. */
function reasoningEvents(item: ResponsesItem, added: ResponsesItem, place: Place): Event[] {
  const events: Event[] = [];
  if (Array.isArray(item.summary)) {
    added.summary = [];
    events.push(...listOf(item.summary).flatMap((part, index) => summaryEvents(part, place, index)));
  }
  if (Array.isArray(item.content)) {
    added.content = [];
    events.push(...listOf(item.content).flatMap((part, index) => partEvents(objectOf(part), place, index)));
  }
  return events;
}

function summaryEvents(part: unknown, item: Place, summary_index: number): Event[] {
  const place = { ...item, summary_index };
  const { text: value }: ItemPart = objectOf(part);
  const text = textOf(value);
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...objectOf(part), text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...place, delta: text },
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ];
}
