import type { Frame } from '../../../lib/streams/sse.ts';
import { isStructured, withLateCitations } from '../../adapt/late-citations.ts';
import { embedEncryptedReasoning, embedWithThought, NOT_ENCRYPTED } from '../../encrypted-reasoning/embed.ts';
import { isObject, type JsonObject, objectOf } from '../../json/values.ts';
import type { EncryptedReasoning, Search } from '../../model/conversation.ts';
import { cutsOff } from '../../model/end-reason.ts';
import type { AnswerContext, Citation, EndReason, PartWriter, StreamPart } from '../../model/stream-part.ts';
import { withTextFallback } from '../../model/text-fallback.ts';
import { anthropicTier } from '../../model/tier.ts';
import { ValueFrame } from '../../stream/frames.ts';
import { noUsage, type Usage } from '../../wire-format.ts';
import { foreignSearch } from '../search.ts';
import type { BlockDelta, MessageBlock, MessagesRequest, OutputConfig, ThinkingOption } from '../wire.ts';

/** A block that has begun. One at a time may be open on the wire; the others wait with what came for them. */
interface Block {
  start: MessageBlock;
  /** False until it has content: an empty block would be refused when it comes back with the next request. */
  begun: boolean;
  deltas: BlockDelta[];
  ended: boolean;
}

const reasons: Readonly<Record<EndReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'context-full': 'model_context_window_exceeded',
  policy: 'refusal',
  paused: 'pause_turn',
  other: 'end_turn',
};

/** Writes an answer as a messages stream. */
class MessagesWriter implements PartWriter {
  readonly #context: AnswerContext;
  /** Blocks that are not closed on the wire, in order; the first one is being written. */
  readonly #blocks = new Map<number, Block>();
  #writing: number | null = null;
  #index = -1;
  #calls = 0;
  #refused = false;
  #cut = false;
  /** The thinking of blocks that the client omits; null where it is shown (`thinking.display`). */
  readonly #hidden: Map<number, string> | null;

  constructor(context: AnswerContext) {
    this.#context = context;
    const { thinking }: MessagesRequest = context.request;
    this.#hidden = objectOf<ThinkingOption>(thinking).display === 'omitted' ? new Map() : null;
  }

  push(part: StreamPart): Frame[] {
    switch (part.type) {
      case 'message-start':
        return this.#begin(part.usage);
      case 'refusal-start':
        this.#refused = true;
        return this.#open(part.block, { type: 'text', text: '' });
      case 'text-start':
        return this.#open(part.block, { type: 'text', text: '' });
      case 'text-delta':
      case 'refusal-delta':
        return this.#grow(part.block, { type: 'text_delta', text: part.text });
      case 'reasoning-start':
        return this.#open(part.block, { type: 'thinking', thinking: '', signature: '' });
      case 'reasoning-delta':
        return this.#think(part.block, part.text);
      case 'reasoning-end':
        return this.#endReasoning(part.block, part.encrypted);
      case 'tool-call-start':
        this.#calls += 1;
        return this.#open(part.block, { type: 'tool_use', id: part.id, name: part.name, input: {} }, true);
      case 'tool-call-delta':
        return this.#grow(part.block, { type: 'input_json_delta', partial_json: part.text });
      case 'tool-call-end':
        this.#cut ||= !part.complete;
        return this.#close(part.block);
      case 'text-end':
      case 'refusal-end':
        return this.#close(part.block);
      case 'citation':
        return this.#grow(part.block, { type: 'citations_delta', citation: locationOf(part.citation) });
      case 'search':
        return this.#search(part.block, part.search);
      case 'native':
        if (part.format !== 'anthropic-messages') return [];
        return this.#whole(part.block, part.value);
      case 'message-end':
        return this.#end(part);
      case 'image':
      case 'error':
        return [];
    }
  }

  #event(data: JsonObject & { type: string }): Frame[] {
    return [new ValueFrame(data.type, data)];
  }

  #begin(usage: Usage | null): Frame[] {
    const message = {
      id: `msg_${this.#context.id.replace(/^[a-z]+_/, '')}`,
      type: 'message',
      role: 'assistant',
      model: this.#context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: begunUsage(usage ?? this.#estimated()),
    };
    return this.#event({ type: 'message_start', message });
  }

  /** For an upstream that counts the input at the end; the last event has its own count. */
  #estimated(): Usage | null {
    const input = this.#context.inputTokens?.();
    return input === undefined ? null : { ...noUsage, input };
  }

  #open(block: number, start: MessageBlock, begun = false): Frame[] {
    this.#blocks.set(block, { start, begun, deltas: [], ended: false });
    return this.#advance();
  }

  #search(block: number, search: Search): Frame[] {
    const own = search.native.format === 'anthropic-messages';
    const id = `srvtoolu_${this.#context.id.replace(/^[a-z]+_/, '')}_${block}`;
    const blocks = own ? search.native.values : foreignSearch(search, id);
    // All stand before the next block.
    return blocks.flatMap((value, index) => this.#whole(block + index / blocks.length, value));
  }

  /** A block that is known whole. Clients put the input of a call together from its pieces. */
  #whole(block: number, value: MessageBlock): Frame[] {
    const { input, ...rest } = value;
    if (!isObject(input)) return [...this.#open(block, value, true), ...this.#close(block)];
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    return [
      ...this.#open(block, { ...rest, input: {} }, true),
      ...this.#grow(block, delta),
      ...this.#close(block),
    ];
  }

  #grow(block: number, delta: BlockDelta): Frame[] {
    const open = this.#blocks.get(block);
    if (open === undefined) return [];
    open.begun = true;
    const event = { type: 'content_block_delta', index: this.#index, delta };
    if (this.#writing === block) return this.#event(event);
    const started = this.#advance();
    if (this.#writing === block) return [...started, ...this.#event({ ...event, index: this.#index })];
    open.deltas.push(delta);
    return started;
  }

  #think(block: number, text: string): Frame[] {
    if (this.#hidden === null) return this.#grow(block, { type: 'thinking_delta', thinking: text });
    this.#hidden.set(block, (this.#hidden.get(block) ?? '') + text);
    return [];
  }

  /** Ends a block of reasoning. One that is encrypted through and through shows only now what it is. */
  #endReasoning(block: number, own: EncryptedReasoning | null): Frame[] {
    const open = this.#blocks.get(block);
    const thought = this.#hidden?.get(block) ?? '';
    const encrypted = own ?? (thought === '' ? null : NOT_ENCRYPTED);
    if (open === undefined || encrypted === null) return this.#close(block);
    if (!open.begun && encrypted.format === 'anthropic-messages' && encrypted.kind === 'redacted') {
      open.start = { type: 'redacted_thinking', data: encrypted.value };
      open.begun = true;
      return [...this.#advance(), ...this.#close(block)];
    }
    const signature = signatureOf(encrypted, thought);
    return [...this.#grow(block, { type: 'signature_delta', signature }), ...this.#close(block)];
  }

  #close(block: number): Frame[] {
    const open = this.#blocks.get(block);
    if (open === undefined) return [];
    open.ended = true;
    if (this.#writing === block) return [...this.#stop(block), ...this.#advance()];
    return this.#advance();
  }

  #stop(block: number): Frame[] {
    this.#blocks.delete(block);
    this.#writing = null;
    return this.#event({ type: 'content_block_stop', index: this.#index });
  }

  /** Writes waiting blocks, in their order, as far as they go. */
  #advance(): Frame[] {
    const frames: Frame[] = [];
    for (const [block, { begun, deltas, ended, start }] of this.#blocks) {
      if (this.#writing !== null) break;
      if (!begun && ended) {
        this.#blocks.delete(block);
        continue;
      }
      if (!begun) break;
      this.#writing = block;
      this.#index += 1;
      frames.push(...this.#event({ type: 'content_block_start', index: this.#index, content_block: start }));
      for (const delta of deltas)
        frames.push(...this.#event({ type: 'content_block_delta', index: this.#index, delta }));
      deltas.length = 0;
      if (ended) frames.push(...this.#stop(block));
    }
    return frames;
  }

  #end({ reason, stopSequence, tier, usage }: Extract<StreamPart, { type: 'message-end' }>): Frame[] {
    const frames = [...this.#blocks.keys()].flatMap((block) => this.#close(block));
    const stop_reason = this.#stopReason(reason);
    const delta = { stop_reason, stop_sequence: stopSequence, stop_details: null };
    const used = { ...usageOf(usage), ...(tier === undefined ? {} : anthropicTier(tier)) };
    return [
      ...frames,
      ...this.#event({ type: 'message_delta', delta, usage: used }),
      ...this.#event({ type: 'message_stop' }),
    ];
  }

  /** The content that was written decides before the upstream's reason. */
  #stopReason(reason: EndReason): string {
    if (this.#cut && !cutsOff(reason)) return 'max_tokens';
    if (reason === 'stop' && this.#calls > 0) return 'tool_use';
    return reason === 'stop' && this.#refused ? 'refusal' : reasons[reason];
  }
}

/** A writer for one stream. */
export function writer(context: AnswerContext): PartWriter {
  const { output_config }: MessagesRequest = context.request;
  const target = withLateCitations(new MessagesWriter(context), {
    takes: () => true,
    inOpenText: true,
    joint: '',
    structured: isStructured(objectOf<OutputConfig>(output_config).format),
  });
  return withTextFallback(target, { format: 'anthropic-messages', images: 'none' });
}

/** Encrypted reasoning of another format goes along in the place of this one's, for its maker to get it back, and a hidden thought with it. */
function signatureOf(encrypted: EncryptedReasoning, thought: string): string {
  if (encrypted.format === 'anthropic-messages') return encrypted.value;
  return thought === '' ? embedEncryptedReasoning(encrypted) : embedWithThought(encrypted, thought);
}

function locationOf({ native, text, title, url }: Citation): JsonObject {
  if (native.format === 'anthropic-messages') return native.value;
  return {
    type: 'web_search_result_location',
    cited_text: text ?? '',
    encrypted_index: '',
    title,
    url: url ?? '',
  };
}

/** Of the answer no more is known than that it began. */
function begunUsage(usage: Usage | null): JsonObject {
  if (usage === null) return usageOf(null);
  return {
    ...usageOf({ ...usage, reasoning: 0, webSearches: 0 }),
    output_tokens: Math.min(1, outputOf(usage)),
  };
}

function outputOf({ audioOutput, imageOutput, output, reasoning }: Usage): number {
  return output + reasoning + audioOutput + imageOutput;
}

/** Usage in the format's own way: the input without what was cached, the output with thinking. */
function usageOf(usage: Usage | null): JsonObject {
  if (usage === null) return { input_tokens: 0, output_tokens: 0 };
  return {
    input_tokens: usage.input + usage.audioInput + usage.imageInput,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    ...(usage.cacheWrite1h === 0
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: usage.cacheWrite5m,
            ephemeral_1h_input_tokens: usage.cacheWrite1h,
          },
        }),
    output_tokens: outputOf(usage),
    ...(usage.reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } }),
    ...(usage.webSearches === 0 ? {} : { server_tool_use: { web_search_requests: usage.webSearches } }),
  };
}
