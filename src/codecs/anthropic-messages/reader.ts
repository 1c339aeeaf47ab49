import type { Frame } from '../../lib/sse.ts';
import type { Sealed } from '../conversation.ts';
import type { EndReason, PartReader, StreamPart } from '../stream-part.ts';
import { isObject, type JsonObject, objectOf, parseObject, textOf } from '../values.ts';
import { readEventError } from './error.ts';
import { mergeUsage, messageUsage } from './usage.ts';

interface OpenBlock {
  block: number;
  kind: 'text' | 'reasoning' | 'tool-call' | 'native';
  /** The block as its start told it. */
  start: JsonObject;
  /** Input as JSON text, as far as deltas brought it. */
  input: string;
  signature: string;
}

const reasons: Readonly<Record<string, EndReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  pause_turn: 'paused',
  refusal: 'policy',
  model_context_window_exceeded: 'context-full',
};

/** Reads a messages stream (Anthropic API reference, "Streaming Messages"). */
class MessagesReader implements PartReader {
  readonly #open = new Map<unknown, OpenBlock>();
  #next = 0;
  #ended = false;
  #calls = 0;
  #usage: JsonObject = {};
  #reason: string | null = null;
  #stopSequence: string | null = null;

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const event = parseObject(frame.data);
    if (frame.event === 'error' || event?.['type'] === 'error') {
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

  #event(event: JsonObject): StreamPart[] {
    switch (event['type']) {
      case 'message_start':
        return this.#begin(objectOf(event['message']));
      case 'content_block_start':
        return this.#start(event['index'], objectOf(event['content_block']));
      case 'content_block_delta':
        return this.#delta(event['index'], objectOf(event['delta']));
      case 'content_block_stop':
        return this.#stop(event['index']);
      case 'message_delta': {
        const { stop_reason, stop_sequence } = objectOf(event['delta']);
        if (typeof stop_reason === 'string') this.#reason = stop_reason;
        if (typeof stop_sequence === 'string') this.#stopSequence = stop_sequence;
        this.#usage = mergeUsage(this.#usage, objectOf(event['usage']));
        return [];
      }
      case 'message_stop':
        return this.#finish();
      default:
        return [];
    }
  }

  #begin(message: JsonObject): StreamPart[] {
    this.#usage = objectOf(message['usage']);
    const usage = messageUsage(this.#usage);
    return [{ type: 'message-start', id: textOf(message['id']), model: textOf(message['model']), usage }];
  }

  #start(index: unknown, start: JsonObject): StreamPart[] {
    const type = textOf(start['type']);
    const kind =
      type === 'text'
        ? 'text'
        : type === 'tool_use'
          ? 'tool-call'
          : type === 'thinking' || type === 'redacted_thinking'
            ? 'reasoning'
            : 'native';
    const block: OpenBlock = {
      block: this.#next,
      kind,
      start,
      input: '',
      signature: textOf(start['signature']),
    };
    this.#next += 1;
    this.#open.set(index, block);
    const words = textOf(start[type === 'thinking' ? 'thinking' : 'text']);
    switch (kind) {
      case 'text':
        return [{ type: 'text-start', block: block.block }, ...grown('text-delta', block.block, words)];
      case 'reasoning':
        return [
          { type: 'reasoning-start', block: block.block, summary: false },
          ...grown('reasoning-delta', block.block, words),
        ];
      case 'tool-call':
        this.#calls += 1;
        return [
          {
            ...{ type: 'tool-call-start', block: block.block, kind: 'function' },
            id: textOf(start['id']) || `call_${this.#calls}`,
            name: textOf(start['name']),
          },
        ];
      case 'native':
        return [];
    }
  }

  #delta(index: unknown, delta: JsonObject): StreamPart[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    switch (delta['type']) {
      case 'text_delta':
        return grown('text-delta', open.block, textOf(delta['text']));
      case 'thinking_delta':
        return grown('reasoning-delta', open.block, textOf(delta['thinking']));
      case 'signature_delta':
        open.signature += textOf(delta['signature']);
        return [];
      case 'input_json_delta': {
        const text = textOf(delta['partial_json']);
        open.input += text;
        return open.kind === 'tool-call' ? grown('tool-call-delta', open.block, text) : [];
      }
      case 'citations_delta':
        return open.kind === 'text' ? [citationOf(open.block, objectOf(delta['citation']))] : [];
      default:
        return [];
    }
  }

  #stop(index: unknown): StreamPart[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    return closed(open, true);
  }

  #finish(): StreamPart[] {
    this.#ended = true;
    const cut = this.#reason === 'max_tokens';
    const parts = [...this.#open.values()].flatMap((open) => closed(open, !cut));
    const told = reasons[this.#reason ?? ''] ?? 'other';
    const reason = told === 'stop' && this.#calls > 0 ? 'tool-calls' : told;
    const usage = messageUsage(this.#usage);
    return [...parts, { type: 'message-end', reason, stopSequence: this.#stopSequence, usage }];
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

function closed(open: OpenBlock, complete: boolean): StreamPart[] {
  const { block, input, kind, start } = open;
  switch (kind) {
    case 'text':
      return [{ type: 'text-end', block }];
    case 'reasoning':
      return [{ type: 'reasoning-end', block, sealed: sealOf(open) }];
    case 'tool-call':
      return [...wholeInput(open), { type: 'tool-call-end', block, complete }];
    case 'native': {
      const value = input === '' ? start : { ...start, input: parseObject(input) ?? {} };
      return [{ type: 'native', block, format: 'anthropic-messages', name: textOf(start['type']), value }];
    }
  }
}

/** Input that came whole with the start of its block. */
function wholeInput({ block, input, start }: OpenBlock): StreamPart[] {
  const whole = start['input'];
  if (input !== '' || !isObject(whole) || Object.keys(whole).length === 0) return [];
  return [{ type: 'tool-call-delta', block, text: JSON.stringify(whole) }];
}

function sealOf({ signature, start }: OpenBlock): Sealed | null {
  if (start['type'] === 'redacted_thinking')
    return { format: 'anthropic-messages', kind: 'redacted', value: textOf(start['data']) };
  return signature === '' ? null : { format: 'anthropic-messages', kind: 'signature', value: signature };
}

function citationOf(block: number, value: JsonObject): StreamPart {
  const said = (name: string) => (typeof value[name] === 'string' ? value[name] : null);
  return {
    type: 'citation',
    block,
    citation: {
      url: said('url') ?? said('source'),
      title: said('title') ?? said('document_title'),
      text: said('cited_text'),
      ...{ start: null, end: null },
      native: { format: 'anthropic-messages', value },
    },
  };
}
