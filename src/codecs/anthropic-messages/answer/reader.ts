import type { Frame } from '../../../lib/streams/sse.ts';
import { argumentsOf, argumentText } from '../../adapt/call-arguments.ts';
import { callIds } from '../../adapt/call-ids.ts';
import { numberOf } from '../../json/lossless.ts';
import { isObject, objectOf, parseObject, table, textOf, textOrNull } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import { cutsOff } from '../../model/end-reason.ts';
import type { PartReader, StreamPart } from '../../model/stream-part.ts';
import { objectIn } from '../../stream/frames.ts';
import { isSearchCall, searchedBy, searchOf } from '../search.ts';
import type {
  BlockCitation,
  BlockDelta,
  MessageBlock,
  MessagesAnswer,
  MessagesCounts,
  MessagesEvent,
  StopDetails,
} from '../wire.ts';
import { isErrorEvent, readEventError } from './error.ts';
import { meaningOf } from './finish.ts';
import { mergeUsage, messageUsage, tierIn } from './usage.ts';

interface OpenBlock {
  block: number;
  kind: 'text' | 'reasoning' | 'tool-call' | 'native';
  /** The block of its start event. */
  start: MessageBlock;
  /** The input as JSON text, from the deltas so far. */
  input: string;
  signature: string;
}

const kinds: Readonly<Record<string, OpenBlock['kind']>> = table({
  text: 'text',
  thinking: 'reasoning',
  redacted_thinking: 'reasoning',
  tool_use: 'tool-call',
});

/** Types of blocks by the deltas that only they have. */
const announcing: Readonly<Record<string, string>> = table({
  text_delta: 'text',
  thinking_delta: 'thinking',
});

/** Reads a messages stream (Anthropic API reference, "Streaming Messages"). */
class MessagesReader implements PartReader {
  readonly #open = new Map<number | null, OpenBlock>();
  /** Calls whose input is not JSON: what comes after them shows whether they were cut off. */
  #broken: number[] = [];
  #next = 0;
  #ended = false;
  #calls = 0;
  #usage: MessagesCounts = {};
  #reason: string | null = null;
  #stopSequence: string | null = null;
  #begun = false;
  #ids = callIds();
  /** Why its calls cannot be emitted; null while they can. */
  #fault: string | null = null;
  /** Calls of the vendor's search that wait for what they found. */
  readonly #searches = new Map<string, MessageBlock>();
  /** The vendor's explanation of a refusal. */
  #explanation = '';

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const event = objectIn(frame);
    if (frame.event === 'error' || (event !== null && isErrorEvent(event))) {
      this.#ended = true;
      return [{ type: 'error', error: readEventError(event, frame.data) }];
    }
    return event === null ? [] : this.#event(event);
  }

  end(): StreamPart[] {
    if (this.#ended) return [];
    this.#ended = true;
    const message = 'The upstream ended its stream without its final event';
    return [{ type: 'error', error: { status: 502, message } }];
  }

  #event(event: MessagesEvent): StreamPart[] {
    const index = numberOf(event.index);
    switch (event.type) {
      case 'message_start':
        return this.#begin(objectOf(event.message));
      case 'content_block_start':
        return [
          ...this.#begin({}),
          ...this.#stop(index),
          ...this.#start(index, objectOf(event.content_block)),
        ];
      case 'content_block_delta':
        return this.#delta(index, objectOf(event.delta));
      case 'content_block_stop':
        return this.#stop(index);
      case 'message_delta': {
        const { stop_details, stop_reason, stop_sequence } = objectOf<MessagesAnswer>(event.delta);
        if (typeof stop_reason === 'string') this.#reason = stop_reason;
        if (typeof stop_sequence === 'string') this.#stopSequence = stop_sequence;
        this.#explanation = textOf(objectOf<StopDetails>(stop_details).explanation);
        this.#usage = mergeUsage(this.#usage, objectOf(event.usage));
        return [];
      }
      case 'message_stop':
        return this.#finish();
      default:
        return [];
    }
  }

  #begin(message: MessagesAnswer): StreamPart[] {
    if (this.#begun) return [];
    this.#begun = true;
    this.#usage = objectOf(message.usage);
    this.#ids = callIds(textOf(message.id));
    const usage = messageUsage(this.#usage);
    const [id, model] = [textOf(message.id), textOf(message.model)];
    return [{ type: 'message-start', id, model, usage, ...this.#served() }];
  }

  #start(index: number | null, start: MessageBlock): StreamPart[] {
    return [...this.#endBroken(true), ...this.#opened(index, start)];
  }

  /** Ends such calls; the model wrote to the end of those that something follows. */
  #endBroken(complete: boolean): StreamPart[] {
    return this.#broken.splice(0).map((block) => ({ type: 'tool-call-end', block, complete }));
  }

  #opened(index: number | null, start: MessageBlock): StreamPart[] {
    const type = textOf(start.type);
    const kind = kinds[type] ?? 'native';
    const block = this.#next;
    this.#next += 1;
    this.#open.set(index, { block, kind, start, input: '', signature: textOf(start.signature) });
    const words = textOf(start[type === 'thinking' ? 'thinking' : 'text']);
    switch (kind) {
      case 'text':
        return [{ type: 'text-start', block }, ...grown('text-delta', block, words)];
      case 'reasoning':
        return [
          { type: 'reasoning-start', block, summary: false },
          ...grown('reasoning-delta', block, words),
        ];
      case 'tool-call': {
        this.#calls += 1;
        const name = textOf(start.name);
        if (name === '') this.#fault ??= 'The upstream called a tool without naming it';
        const id = textOf(start.id) || this.#ids.next(name);
        return [{ type: 'tool-call-start', block, id, name, kind: 'function' }];
      }
      case 'native':
        return [];
    }
  }

  /** A block without a start event has the kind of its first delta. */
  #announced(index: number | null, delta: BlockDelta): StreamPart[] {
    const type = announcing[textOf(delta.type)];
    if (this.#open.has(index) || type === undefined) return [];
    return [...this.#begin({}), ...this.#start(index, { type })];
  }

  #delta(index: number | null, delta: BlockDelta): StreamPart[] {
    const announced = this.#announced(index, delta);
    const open = this.#open.get(index);
    if (open !== undefined) return [...announced, ...this.#grow(open, delta)];
    if (inputIn(delta) !== '')
      this.#fault ??= 'The upstream sent the input of a tool call that it did not begin';
    return [];
  }

  #grow(open: OpenBlock, delta: BlockDelta): StreamPart[] {
    switch (delta.type) {
      case 'text_delta':
        return open.kind === 'text' ? grown('text-delta', open.block, textOf(delta.text)) : [];
      case 'thinking_delta':
        return open.kind === 'reasoning' ? grown('reasoning-delta', open.block, textOf(delta.thinking)) : [];
      case 'signature_delta':
        open.signature += textOf(delta.signature);
        return [];
      case 'input_json_delta': {
        const text = inputIn(delta);
        open.input += text;
        return open.kind === 'tool-call' ? grown('tool-call-delta', open.block, text) : [];
      }
      case 'citations_delta':
        return open.kind === 'text' ? [citationOf(open.block, objectOf(delta.citation))] : [];
      default:
        return [];
    }
  }

  #stop(index: number | null): StreamPart[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    return this.#closed(open);
  }

  #closed(open: OpenBlock): StreamPart[] {
    if (open.kind === 'tool-call' && !isWhole(open.input)) {
      this.#broken.push(open.block);
      return [];
    }
    if (open.kind !== 'native') return closed(open);
    const value = wholeBlock(open);
    if (isSearchCall(value)) {
      this.#searches.set(textOf(value.id), value);
      return [];
    }
    const id = searchedBy(value);
    const call = id === null ? undefined : this.#searches.get(id);
    if (id === null || call === undefined) return [nativePart(open.block, value)];
    this.#searches.delete(id);
    return [{ type: 'search', block: open.block, search: searchOf(call, value) }];
  }

  /** Searches whose result did not come. */
  #unfinished(): StreamPart[] {
    return [...this.#searches.values()].map((call) => {
      const block = this.#next;
      this.#next += 1;
      return { type: 'search', block, search: searchOf(call, null) };
    });
  }

  #finish(): StreamPart[] {
    this.#ended = true;
    if (this.#next === 0 && this.#reason === null)
      return [{ type: 'error', error: { status: 502, message: 'The upstream sent an empty message' } }];
    if (this.#fault !== null) return [{ type: 'error', error: { status: 502, message: this.#fault } }];
    const meaning = meaningOf(this.#reason ?? '');
    const parts = [
      ...this.#begin({}),
      ...[...this.#open.values()].flatMap((open) => this.#closed(open)),
      ...this.#endBroken(!cutsOff(meaning)),
      ...this.#unfinished(),
      ...refusal(this.#next, this.#reason === 'refusal' ? this.#explanation : ''),
    ];
    const reason = meaning === 'stop' && this.#calls > 0 ? 'tool-calls' : meaning;
    const usage = messageUsage(this.#usage);
    const end = { reason, rawFinishReason: this.#reason, stopSequence: this.#stopSequence, usage };
    return [...parts, { type: 'message-end', ...end, ...this.#served() }];
  }

  #served(): { tier?: string } {
    const tier = tierIn(this.#usage);
    return tier === null ? {} : { tier };
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new MessagesReader();
}

function grown(
  type: 'text-delta' | 'reasoning-delta' | 'tool-call-delta',
  block: number,
  text: string,
): StreamPart[] {
  return text === '' ? [] : [{ type, block, text }];
}

function closed(open: OpenBlock): StreamPart[] {
  const { block, kind } = open;
  switch (kind) {
    case 'text':
      return [{ type: 'text-end', block }];
    case 'reasoning':
      return [{ type: 'reasoning-end', block, encrypted: encryptedReasoningOf(open) }];
    case 'tool-call':
      return [...wholeInput(open), { type: 'tool-call-end', block, complete: true }];
    case 'native':
      return [nativePart(block, wholeBlock(open))];
  }
}

function nativePart(block: number, value: MessageBlock): StreamPart {
  return {
    type: 'native',
    block,
    format: 'anthropic-messages',
    name: textOf(value.type),
    value,
    words: null,
  };
}

/** A block with the input that came in pieces. */
function wholeBlock({ input, start }: OpenBlock): MessageBlock {
  return input === '' ? start : { ...start, input: argumentsOf(input) };
}

function inputIn({ partial_json: json }: BlockDelta): string {
  return isObject(json) ? JSON.stringify(json) : textOf(json);
}

/** Whether the vendor wrote the input of a call to its end: it closes the block also where the bound cut it off. */
function isWhole(input: string): boolean {
  return input.trim() === '' || parseObject(input) !== null;
}

function refusal(block: number, text: string): StreamPart[] {
  if (text === '') return [];
  return [
    { type: 'refusal-start', block },
    { type: 'refusal-delta', block, text },
    { type: 'refusal-end', block },
  ];
}

function isEmpty(input: unknown): boolean {
  return isObject(input) && Object.keys(input).length === 0;
}

/** Input that came whole with the start of its block. */
function wholeInput({ block, input, start }: OpenBlock): StreamPart[] {
  const whole = start.input;
  const text = isEmpty(whole) ? '' : (argumentText(whole) ?? '');
  return input !== '' || text === '' ? [] : [{ type: 'tool-call-delta', block, text }];
}

function encryptedReasoningOf({ signature, start }: OpenBlock): EncryptedReasoning | null {
  if (start.type === 'redacted_thinking')
    return { format: 'anthropic-messages', kind: 'redacted', value: textOf(start.data) };
  return signature === '' ? null : { format: 'anthropic-messages', kind: 'signature', value: signature };
}

function citationOf(block: number, value: BlockCitation): StreamPart {
  return {
    type: 'citation',
    block,
    citation: {
      url: textOrNull(value.url) ?? textOrNull(value.source),
      title: textOrNull(value.title) ?? textOrNull(value.document_title),
      text: textOrNull(value.cited_text),
      start: null,
      end: null,
      native: { format: 'anthropic-messages', value },
    },
  };
}
