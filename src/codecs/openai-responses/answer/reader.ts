import type { Frame } from '../../../lib/streams/sse.ts';
import { numberOf } from '../../json/lossless.ts';
import { isObject, listOf, objectOf, textOf, textOrNull } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import type { PartReader, StreamPart } from '../../model/stream-part.ts';
import { servedTier } from '../../model/tier.ts';
import { objectIn } from '../../stream/frames.ts';
import { imageIn } from '../image-call.ts';
import { SEARCH_CALL, searchOf } from '../search.ts';
import type { Annotation, ItemPart, ResponsesAnswer, ResponsesEvent, ResponsesItem } from '../wire.ts';
import { readEventError, typeOfEvent } from './error.ts';
import { finishOf } from './finish.ts';
import { ItemPlaces } from './item-places.ts';
import { responseUsage } from './usage.ts';

/** One output item that has started. */
interface OpenItem {
  /** Blocks by their content index; a call and a reasoning have one, at -1. */
  blocks: Map<number, OpenBlock>;
}

interface OpenBlock {
  block: number;
  kind: 'text' | 'refusal' | 'reasoning' | 'tool-call';
  /** Whether a delta has come, so that the whole text in `.done` is not emitted again. */
  grown: boolean;
  /** Reasoning: `summary` or `content`; only the kind that comes first is emitted. */
  source: string;
  open: boolean;
  /** Sources of a text that were emitted. */
  cited: number;
}

/** The one place of a call or a reasoning in its item. */
const WHOLE = -1;

/** Reads a responses stream (OpenAI API reference, "Streaming events"). */
class ResponsesReader implements PartReader {
  readonly #items = new Map<number, OpenItem>();
  readonly #places = new ItemPlaces();
  #anyDone = false;
  /** Items whose arguments came and whose call did not, yet. */
  readonly #orphans = new Set<number>();
  /** Why its calls cannot be emitted; null while they can. */
  #fault: string | null = null;
  #next = 0;
  #begun = false;
  #ended = false;
  #calls = 0;

  #begin(response: ResponsesAnswer): StreamPart[] {
    if (this.#begun) return [];
    this.#begun = true;
    // The tier here is the one that was requested.
    return [{ type: 'message-start', id: textOf(response.id), model: textOf(response.model), usage: null }];
  }

  #itemAt(index: number): OpenItem {
    let item = this.#items.get(index);
    if (item === undefined) {
      item = { blocks: new Map() };
      this.#items.set(index, item);
    }
    return item;
  }

  #openBlock(item: OpenItem, at: number, kind: OpenBlock['kind'], source = ''): OpenBlock {
    const block: OpenBlock = { block: this.#next, kind, grown: false, source, open: true, cited: 0 };
    this.#next += 1;
    item.blocks.set(at, block);
    return block;
  }

  #text(event: ResponsesEvent, kind: 'text' | 'refusal', words: string, isDelta: boolean): StreamPart[] {
    const item = this.#itemAt(indexOf(event));
    const at = placeOf(event);
    const existing = item.blocks.get(at);
    if (existing !== undefined && (!existing.open || !isProse(existing))) return [];
    const block = existing ?? this.#openBlock(item, at, kind);
    const parts: StreamPart[] = existing === undefined ? [{ type: `${kind}-start`, block: block.block }] : [];
    if (words !== '' && (isDelta || !block.grown))
      parts.push({
        type: `${block.kind === 'refusal' ? 'refusal' : 'text'}-delta`,
        block: block.block,
        text: words,
      });
    block.grown ||= words !== '';
    return parts;
  }

  #reasoning(event: ResponsesEvent, source: string, words: string, isDelta: boolean): StreamPart[] {
    const item = this.#itemAt(indexOf(event));
    const existing = item.blocks.get(WHOLE);
    if (existing !== undefined && (!existing.open || existing.source !== source)) return [];
    const block = existing ?? this.#openBlock(item, WHOLE, 'reasoning', source);
    const parts: StreamPart[] =
      existing === undefined
        ? [{ type: 'reasoning-start', block: block.block, summary: source === 'summary' }]
        : [];
    if (words !== '' && (isDelta || !block.grown))
      parts.push({ type: 'reasoning-delta', block: block.block, text: words });
    block.grown ||= words !== '';
    return parts;
  }

  /** A later part of a summary is a paragraph of its own. */
  #summaryPart(event: ResponsesEvent): StreamPart[] {
    const block = this.#items.get(indexOf(event))?.blocks.get(WHOLE);
    if (block === undefined || !block.open || !block.grown || block.source !== 'summary') return [];
    return [{ type: 'reasoning-delta', block: block.block, text: '\n\n' }];
  }

  #call(event: ResponsesEvent, item: ResponsesItem): StreamPart[] {
    const slot = this.#itemAt(indexOf(event));
    if (slot.blocks.has(WHOLE)) return [];
    const name = textOf(item.name);
    if (name === '') this.#fault ??= 'The upstream called a tool without naming it';
    this.#orphans.delete(indexOf(event));
    const { block } = this.#openBlock(slot, WHOLE, 'tool-call');
    this.#calls += 1;
    return [
      {
        type: 'tool-call-start',
        block,
        id: textOf(item.call_id) || textOf(item.id) || `call_${this.#calls}`,
        name,
        kind: item.type === 'custom_tool_call' ? 'custom' : 'function',
        ...(typeof item.namespace === 'string' ? { namespace: item.namespace } : {}),
      },
    ];
  }

  #input(event: ResponsesEvent, words: string, isDelta: boolean): StreamPart[] {
    const block = this.#items.get(indexOf(event))?.blocks.get(WHOLE);
    if (block === undefined && words !== '') this.#orphans.add(indexOf(event));
    if (block?.kind !== 'tool-call' || !block.open || words === '' || (!isDelta && block.grown)) return [];
    block.grown = true;
    return [{ type: 'tool-call-delta', block: block.block, text: words }];
  }

  #closed(block: OpenBlock, item: ResponsesItem): StreamPart[] {
    if (!block.open) return [];
    block.open = false;
    switch (block.kind) {
      case 'reasoning':
        return [{ type: 'reasoning-end', block: block.block, encrypted: encryptedReasoningOf(item) }];
      case 'tool-call':
        return [{ type: 'tool-call-end', block: block.block, complete: item.status !== 'incomplete' }];
      default:
        return [{ type: `${block.kind}-end`, block: block.block }];
    }
  }

  /** @param event null where the end of the item was emitted before */
  #itemDone(event: ResponsesEvent | null, item: ResponsesItem): StreamPart[] {
    if (event === null) return [];
    this.#anyDone = true;
    const parts = this.#wholeItem(event, item);
    for (const block of this.#items.get(indexOf(event))?.blocks.values() ?? [])
      parts.push(...this.#closed(block, item));
    return parts;
  }

  /** The content of a finished item that its events did not have. */
  #wholeItem(event: ResponsesEvent, item: ResponsesItem): StreamPart[] {
    switch (item.type) {
      case 'message':
        return listOf(item.content).flatMap((value, content_index) => {
          const part = objectOf<ItemPart>(value);
          const refusal = part.type === 'refusal';
          const words = textOf(refusal ? part.refusal : part.text);
          const at = { ...event, content_index };
          return [
            ...this.#text(at, refusal ? 'refusal' : 'text', words, false),
            ...this.#newCitations(at, listOf(part.annotations)),
          ];
        });
      case 'reasoning':
        return this.#wholeReasoning(event, item);
      case 'function_call':
      case 'custom_tool_call':
        return [...this.#call(event, item), ...this.#input(event, inputOf(item), false)];
      default: {
        const block = this.#next;
        this.#next += 1;
        const name = textOf(item.type);
        if (name === SEARCH_CALL) return [{ type: 'search', block, search: searchOf(item) }];
        const source = imageIn(item);
        if (source !== null) return [{ type: 'image', block, source }];
        return [{ type: 'native', block, format: 'openai-responses', name, value: item, words: null }];
      }
    }
  }

  #wholeReasoning(event: ResponsesEvent, item: ResponsesItem): StreamPart[] {
    const words = (list: unknown) => listOf(list).map((part) => textOf(objectOf<ItemPart>(part).text));
    const content = words(item.content).join('');
    const summary = words(item.summary).join('\n\n');
    if (content === '' && summary === '' && encryptedReasoningOf(item) === null) return [];
    return content === ''
      ? this.#reasoning(
          event,
          this.#items.get(indexOf(event))?.blocks.get(WHOLE)?.source ?? 'summary',
          summary,
          false,
        )
      : this.#reasoning(event, 'content', content, false);
  }

  #finish(response: ResponsesAnswer): StreamPart[] {
    if (!Array.isArray(response.output) && this.#items.size === 0 && !this.#anyDone) {
      this.#ended = true;
      return [
        { type: 'error', error: { status: 502, message: 'The upstream sent a response without output' } },
      ];
    }
    const parts = this.#begin(response);
    for (const [output_index, item] of listOf(response.output).entries()) {
      const whole = objectOf(item);
      parts.push(...this.#itemDone(this.#places.listed(output_index, whole), whole));
    }
    if (this.#orphans.size > 0)
      this.#fault ??= 'The upstream sent the arguments of a tool call that it did not begin';
    if (this.#fault !== null) {
      this.#ended = true;
      return [...parts, { type: 'error', error: { status: 502, message: this.#fault } }];
    }
    // An item without an end event is as complete as its response.
    for (const item of this.#items.values())
      for (const block of item.blocks.values())
        parts.push(...this.#closed(block, { status: response.status }));
    this.#ended = true;
    const searches = listOf(response.output).filter(
      (item) => objectOf<ResponsesItem>(item).type === SEARCH_CALL,
    );
    const usage = isObject(response.usage) ? responseUsage(response.usage, searches.length) : null;
    const { meaning: reason, raw: rawFinishReason } = finishOf(response, this.#calls > 0);
    const end = { reason, rawFinishReason, stopSequence: null, usage };
    return [...parts, { type: 'message-end', ...end, ...servedTier(response.service_tier) }];
  }

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    const event = objectIn(frame);
    if (this.#ended) return [];
    if (event === null && frame.event !== 'error') return [];
    const type = typeOfEvent(event, frame.event);
    if (type === 'error' || type === 'response.failed') {
      this.#ended = true;
      return [{ type: 'error', error: readEventError(event, frame.data) }];
    }
    const parts = event === null ? [] : this.#eventParts(type, event);
    // Some servers omit the first event.
    return parts.length === 0 ? parts : [...this.#begin({}), ...parts];
  }

  #eventParts(type: string, event: ResponsesEvent): StreamPart[] {
    const item = objectOf<ResponsesItem>(event.item);
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        return this.#begin(objectOf(event.response));
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectOf(event.response));
      case 'response.output_item.added':
        return this.#itemAdded(this.#places.announced(event, item), item);
      case 'response.output_item.done':
        return this.#itemDone(this.#places.finished(event, item), item);
      default:
        return this.#within(type, this.#places.about(event));
    }
  }

  /** A call whose name is still missing has it at its end. */
  #itemAdded(event: ResponsesEvent, item: ResponsesItem): StreamPart[] {
    const isCall = /^(?:function|custom_tool)_call$/.test(textOf(item.type));
    return isCall && textOf(item.name) !== '' ? this.#call(event, item) : this.#begin({});
  }

  /** What an event inside an item brings. */
  #within(type: string, event: ResponsesEvent): StreamPart[] {
    const delta = textOf(event.delta);
    switch (type) {
      case 'response.output_text.delta':
        return this.#text(event, 'text', delta, true);
      case 'response.output_text.done':
        return this.#text(event, 'text', textOf(event.text), false);
      case 'response.refusal.delta':
        return this.#text(event, 'refusal', delta, true);
      case 'response.refusal.done':
        return this.#text(event, 'refusal', textOf(event.refusal), false);
      case 'response.reasoning_summary_part.added':
        return this.#summaryPart(event);
      case 'response.reasoning_summary_text.delta':
        return this.#reasoning(event, 'summary', delta, true);
      case 'response.reasoning_text.delta':
        return this.#reasoning(event, 'content', delta, true);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#input(event, delta, true);
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        return this.#input(event, inputOf(event), false);
      case 'response.output_text.annotation.added':
        return this.#citation(event);
      default:
        return [];
    }
  }

  #citation(event: ResponsesEvent): StreamPart[] {
    const at = placeOf(event);
    const item = this.#itemAt(indexOf(event));
    const started = item.blocks.has(at) ? [] : this.#text(event, 'text', '', true);
    const open = item.blocks.get(at);
    if (open === undefined) return started;
    open.cited += 1;
    return [...started, citationOf(open.block, objectOf(event.annotation))];
  }

  /** The sources that no event contained. */
  #newCitations(event: ResponsesEvent, annotations: readonly unknown[]): StreamPart[] {
    const citedBefore = this.#items.get(indexOf(event))?.blocks.get(placeOf(event))?.cited ?? 0;
    return annotations.slice(citedBefore).flatMap((annotation) => this.#citation({ ...event, annotation }));
  }

  end(): StreamPart[] {
    if (this.#ended) return [];
    this.#ended = true;
    const message = 'The upstream ended its stream without its final event';
    return [{ type: 'error', error: { status: 502, message } }];
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new ResponsesReader();
}

function indexOf(event: ResponsesEvent): number {
  return numberOf(event.output_index) ?? 0;
}

/** Where in its item a text stands. */
function placeOf(event: ResponsesEvent): number {
  return numberOf(event.content_index) ?? 0;
}

function isProse({ kind }: OpenBlock): boolean {
  return kind === 'text' || kind === 'refusal';
}

/** Arguments of a function or the input of a custom tool; some upstreams send the former as an object. */
function inputOf(item: Pick<ResponsesItem, 'arguments' | 'input'>): string {
  const value = item.arguments ?? item.input;
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function citationOf(block: number, value: Annotation): StreamPart {
  const citation = {
    url: textOrNull(value.url),
    title: textOrNull(value.title) ?? textOrNull(value.filename),
    text: null,
    start: numberOf(value.start_index),
    end: numberOf(value.end_index),
    native: { format: 'openai-responses' as const, value },
  };
  return { type: 'citation', block, citation };
}

function encryptedReasoningOf(item: ResponsesItem): EncryptedReasoning | null {
  const value = textOf(item.encrypted_content);
  if (value === '') return null;
  const id = typeof item.id === 'string' ? { id: item.id } : {};
  return { format: 'openai-responses', kind: 'encrypted', value, ...id };
}
