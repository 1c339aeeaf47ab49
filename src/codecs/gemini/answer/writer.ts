import type { Frame } from '../../../lib/streams/sse.ts';
import { argumentsOf } from '../../adapt/call-arguments.ts';
import { type JsonObject, objectOf } from '../../json/values.ts';
import type { EncryptedReasoning, Search } from '../../model/conversation.ts';
import { cutsOff } from '../../model/end-reason.ts';
import type { AnswerContext, EndReason, PartWriter, StreamPart } from '../../model/stream-part.ts';
import { withTextFallback } from '../../model/text-fallback.ts';
import { ValueFrame } from '../../stream/frames.ts';
import type { Usage } from '../../wire-format.ts';
import { mediaOf } from '../request/content-encode.ts';
import { signatureOf } from '../signature.ts';
import type { Candidate, ContentPart, GeminiRequest, GenerationConfig, ThinkingConfig } from '../wire.ts';
import { camel } from '../wire-names.ts';
import { finishReasonOf } from './finish.ts';
import { AnswerText, groundingOf } from './grounding.ts';
import { usageMetadataOf } from './usage.ts';

type Start = Extract<StreamPart, { type: 'tool-call-start' }>;
type CitationPart = Extract<StreamPart, { type: 'citation' }>;

/** A block that has begun. Parts have no number on the wire, so that one block at a time is written and the others wait. */
interface Block {
  kind: 'text' | 'thought' | 'call' | 'image' | 'native';
  /** What came for it and was not written. */
  text: string;
  /** The whole thought, which some signatures are worthless without. */
  thought: string;
  call: Start | null;
  /** False when the answer was cut off inside the call. */
  complete: boolean;
  encrypted: EncryptedReasoning | null;
  native: JsonObject;
  ended: boolean;
}

/**
 * Writes an answer as `streamGenerateContent` chunks: text and thoughts as they come, calls whole,
 * and how it ended with the usage in the last one. The encrypted reasoning of thoughts stands on the part after them, for clients
 * send thoughts themselves not back (Gemini CLI).
 */
class GeminiWriter implements PartWriter {
  readonly #context: AnswerContext;
  /** Whether the client asked for thoughts (`includeThoughts`); others would read them as text. */
  readonly #showsThoughts: boolean;
  /** Blocks that are not written to their end, in order; the first one is being written. */
  readonly #blocks = new Map<number, Block>();
  readonly #text = new AnswerText();
  readonly #citations: CitationPart[] = [];
  readonly #searches: Search[] = [];
  /** The signature for the next part. */
  #signature = '';
  #refused = false;
  #cut = false;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#showsThoughts = asksForThoughts(context.request);
  }

  push(part: StreamPart): Frame[] {
    switch (part.type) {
      case 'refusal-start':
        this.#refused = true;
        return this.#open(part.block, 'text');
      case 'text-start':
        return this.#open(part.block, 'text');
      case 'reasoning-start':
        return this.#open(part.block, 'thought');
      case 'tool-call-start':
        return this.#open(part.block, 'call', { call: part });
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
      case 'tool-call-delta':
        return this.#grow(part.block, part.text);
      case 'text-end':
      case 'refusal-end':
        return this.#close(part.block, {});
      case 'reasoning-end':
        return this.#close(part.block, { encrypted: part.encrypted });
      case 'tool-call-end':
        return this.#close(part.block, { complete: part.complete });
      case 'citation':
        this.#citations.push(part);
        return [];
      case 'search':
        this.#searches.push(part.search);
        return [];
      case 'image': {
        const native = mediaOf({ type: 'image', source: part.source });
        return this.#open(part.block, 'image', { native, ended: true });
      }
      case 'native':
        if (part.format !== 'gemini') return [];
        return this.#open(part.block, 'native', { native: part.value, ended: true });
      case 'message-end':
        return this.#end(part.reason, part.usage);
      // The format has no first chunk without content, and an error ends the stream in its own way.
      case 'message-start':
      case 'error':
        return [];
    }
  }

  #open(block: number, kind: Block['kind'], more: Partial<Block> = {}): Frame[] {
    const start = {
      text: '',
      thought: '',
      call: null,
      complete: true,
      encrypted: null,
      native: {},
      ended: false,
    };
    this.#blocks.set(block, { ...start, kind, ...more });
    return this.#advance();
  }

  #grow(block: number, text: string): Frame[] {
    const open = this.#blocks.get(block);
    if (open === undefined) return [];
    open.text += text;
    return this.#advance();
  }

  #close(block: number, how: Partial<Block>): Frame[] {
    const open = this.#blocks.get(block);
    if (open === undefined) return [];
    this.#blocks.set(block, { ...open, ...how, ended: true });
    return this.#advance();
  }

  /** Writes what waits, in the order of blocks, as far as it goes. */
  #advance(): Frame[] {
    const frames: Frame[] = [];
    for (const [block, open] of this.#blocks) {
      frames.push(...this.#write(block, open));
      if (!open.ended) break;
      this.#blocks.delete(block);
    }
    return frames;
  }

  #write(block: number, open: Block): Frame[] {
    const { kind, text } = open;
    switch (kind) {
      case 'text':
        if (this.#text.span(block) === undefined) this.#text.open(block);
        this.#text.add(block, text);
        open.text = '';
        return text === '' ? [] : this.#part({ text });
      case 'thought': {
        open.thought += text;
        open.text = '';
        const frames = text === '' || !this.#showsThoughts ? [] : this.#thought(text);
        if (!open.ended || open.encrypted === null) return frames;
        return [...frames, ...this.#sign(open.encrypted, open.thought)];
      }
      case 'call':
        return open.ended ? this.#call(open) : [];
      case 'image':
        return this.#part(open.native);
      case 'native':
        return [...this.#signed(), ...this.#chunk([open.native])];
    }
  }

  /** A part with the pending signature, if there is one. */
  #part(part: ContentPart): Frame[] {
    const signature = this.#signature;
    this.#signature = '';
    return this.#chunk([signature === '' ? part : { ...part, thoughtSignature: signature }]);
  }

  /** The signature that waits, on an empty text: a thought or a part with its own signature must not take it. */
  #signed(): Frame[] {
    return this.#signature === '' ? [] : this.#part({ text: '' });
  }

  #thought(text: string): Frame[] {
    return [...this.#signed(), ...this.#chunk([{ text, thought: true }])];
  }

  #sign(encrypted: EncryptedReasoning, thought: string): Frame[] {
    const frames = this.#signed();
    this.#signature = signatureOf(encrypted, thought);
    return frames;
  }

  /** Leaves out an incomplete call, as the vendor does: clients would run it. The finish reason shows that one is missing. */
  #call({ call, complete, text }: Block): Frame[] {
    if (call === null) return [];
    this.#cut ||= !complete;
    if (!complete) return [];
    const args = call.kind === 'custom' ? { input: text } : argumentsOf(text);
    return this.#part({ functionCall: { id: call.id, name: call.name, args } });
  }

  #end(reason: EndReason, usage: Usage | null): Frame[] {
    const waiting = [...this.#blocks.keys()];
    const frames = waiting.flatMap((block) => this.#close(block, { complete: false }));
    const grounding = groundingOf(this.#citations, this.#searches, this.#text);
    const last = this.#signature === '' ? { text: '' } : { text: '', thoughtSignature: this.#signature };
    const more = grounding === null ? {} : { groundingMetadata: grounding };
    return [...frames, ...this.#chunk([last], { finishReason: this.#finishReason(reason), ...more }, usage)];
  }

  /** The content that was written decides before the upstream's reason. */
  #finishReason(reason: EndReason): string {
    if (this.#cut && !cutsOff(reason)) return finishReasonOf('length');
    return finishReasonOf(this.#refused && reason === 'stop' ? 'policy' : reason);
  }

  #chunk(parts: ContentPart[], end: Candidate = {}, usage: Usage | null = null): Frame[] {
    const chunk = new ValueFrame('', {
      candidates: [{ content: { parts, role: 'model' }, ...end, index: 0 }],
      ...(usage === null ? {} : { usageMetadata: usageMetadataOf(usage) }),
      modelVersion: this.#context.model,
      responseId: this.#context.answerId ?? this.#context.id.replace(/^[a-z]+_/, ''),
    });
    return [chunk];
  }
}

/** A writer for one stream. */
export function writer(context: AnswerContext): PartWriter {
  return withTextFallback(new GeminiWriter(context), { format: 'gemini', images: 'any' });
}

function asksForThoughts(request: GeminiRequest): boolean {
  const { generationConfig }: GeminiRequest = camel(request);
  const { thinkingConfig }: GenerationConfig = camel(objectOf(generationConfig));
  const { includeThoughts }: ThinkingConfig = camel(objectOf(thinkingConfig));
  return includeThoughts === true;
}
