import type { Frame } from '../../../lib/streams/sse.ts';
import { isStructured, withLateCitations } from '../../adapt/late-citations.ts';
import { NOT_ENCRYPTED } from '../../encrypted-reasoning/embed.ts';
import { urlOfSource } from '../../files/data-url.ts';
import { type JsonObject, objectOf } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import type {
  AnswerContext,
  Citation,
  EndReason,
  ImageSource,
  PartWriter,
  StreamPart,
} from '../../model/stream-part.ts';
import { withTextFallback } from '../../model/text-fallback.ts';
import { doneFrame, ValueFrame } from '../../stream/frames.ts';
import { promptCounts } from '../../usage/token-counts.ts';
import { CarriedDetails } from '../carried-details.ts';
import { signatureFields } from '../tool-calls.ts';
import type { ChatRequest, ReasoningOption } from '../wire.ts';

const reasons: Readonly<Record<EndReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'context-full': 'length',
  policy: 'content_filter',
  paused: 'stop',
  other: 'stop',
};

interface Call {
  index: number;
  custom: boolean;
  /** Whether any of its input was written. */
  grown: boolean;
}

/** Writes an answer as a chat stream. Calls are numbered by themselves, without the texts between. */
class ChatWriter implements PartWriter {
  readonly #context: AnswerContext;
  /** Whether the client speaks of functions as chat did before it had tools. */
  readonly #legacy: boolean;
  /** Whether the client excludes reasoning, by OpenRouter's field. */
  readonly #hidden: boolean;
  readonly #calls = new Map<number, Call>();
  /** Characters (UTF-16) of all text so far, and where each block of it began. */
  #length = 0;
  readonly #textStarts = new Map<number, number>();
  /** Citations of a whole text, which is known at its end. */
  #cited: Citation[] = [];
  #reasoned: number | null = null;
  #images = 0;
  /** Google's signature of the thoughts before the next call, where Google's own chat surface has it. */
  #signature: EncryptedReasoning | null = null;
  readonly #carriedDetails = new CarriedDetails();
  /** What served it, known at the end. */
  #tier: { service_tier?: string } = {};

  constructor(context: AnswerContext) {
    this.#context = context;
    const { functions, include_reasoning: shown, reasoning, tools }: ChatRequest = context.request;
    this.#hidden = shown === false || objectOf<ReasoningOption>(reasoning).exclude === true;
    this.#legacy = Array.isArray(functions) && !Array.isArray(tools);
  }

  push(part: StreamPart): Frame[] {
    switch (part.type) {
      case 'message-start':
        return this.#chunk({ role: 'assistant', content: '', refusal: null });
      case 'text-start':
        this.#textStarts.set(part.block, this.#length);
        this.#carrySignature();
        return this.#encrypted();
      case 'text-delta':
        this.#length += part.text.length;
        return this.#chunk({ content: part.text });
      case 'text-end':
        return this.#citeWhole(part.block);
      case 'refusal-start':
        return this.#encrypted();
      case 'refusal-delta':
        return this.#chunk({ refusal: part.text });
      case 'reasoning-delta':
        this.#carriedDetails.think(part.block, part.text);
        return this.#reason(part.block, part.text);
      case 'reasoning-end':
        if (part.encrypted?.format === 'gemini') {
          this.#carrySignature();
          this.#signature = part.encrypted;
        } else
          this.#carriedDetails.addReasoning(
            part.block,
            part.encrypted ?? (this.#hidden ? NOT_ENCRYPTED : null),
          );
        return [];
      case 'tool-call-start':
        return this.#open(part);
      case 'tool-call-delta':
        return this.#grow(part.block, part.text);
      case 'tool-call-end':
        return this.#close(part.block, part.complete);
      case 'citation':
        if (part.citation.end !== null || part.citation.native.format === 'openai-chat')
          return this.#cite(part.block, part.citation);
        this.#cited.push(part.citation);
        return [];
      case 'image':
        return this.#image(part.source);
      case 'message-end':
        return this.#end(part);
      default:
        return [];
    }
  }

  #frame(rest: JsonObject): Frame {
    const { answerId, id, model, startedAt } = this.#context;
    return new ValueFrame('', {
      id: answerId ?? `chatcmpl-${id.replace(/^[a-z]+_/, '')}`,
      object: 'chat.completion.chunk',
      created: Math.floor(startedAt / 1000),
      model,
      ...rest,
      ...this.#tier,
    });
  }

  #chunk(delta: JsonObject, finish_reason: string | null = null): Frame[] {
    return [this.#frame({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })];
  }

  /** The encrypted reasoning that have come, where what they are of is over and no call follows. */
  #encrypted(): Frame[] {
    const fields = this.#carriedDetails.take(null);
    return fields === null ? [] : this.#chunk(fields);
  }

  /** A Google signature without a call is embedded like those of other vendors. */
  #carrySignature(): void {
    if (this.#signature !== null) this.#carriedDetails.addReasoning(null, this.#signature);
    this.#signature = null;
  }

  /** A later reasoning is a paragraph of its own. */
  #reason(block: number, text: string): Frame[] {
    if (this.#hidden) return [];
    const joint = this.#reasoned === null || this.#reasoned === block ? '' : '\n\n';
    this.#reasoned = block;
    return this.#chunk({ reasoning_content: joint + text });
  }

  #open({ block, id, kind, name }: Extract<StreamPart, { type: 'tool-call-start' }>): Frame[] {
    const call = { index: this.#calls.size, custom: kind === 'custom', grown: false };
    this.#calls.set(block, call);
    if (this.#legacy)
      return call.index === 0
        ? [...this.#encrypted(), ...this.#chunk({ function_call: { name, arguments: '' } })]
        : [];
    const startFields = call.custom
      ? { type: 'custom', custom: { name, input: '' } }
      : { type: 'function', function: { name, arguments: '' } };
    const signature = this.#signature;
    this.#signature = null;
    const tool_calls = [
      { index: call.index, id, ...startFields, ...signatureFields(signature?.value ?? null) },
    ];
    return this.#chunk({ ...this.#carriedDetails.take(id), tool_calls });
  }

  #grow(block: number, text: string): Frame[] {
    const call = this.#calls.get(block);
    if (call === undefined || text === '') return [];
    call.grown = true;
    if (this.#legacy) return call.index === 0 ? this.#chunk({ function_call: { arguments: text } }) : [];
    const deltaFields = call.custom ? { custom: { input: text } } : { function: { arguments: text } };
    return this.#chunk({ tool_calls: [{ index: call.index, ...deltaFields }] });
  }

  /** Clients parse the arguments of a function, also of one that was called without any. */
  #close(block: number, complete: boolean): Frame[] {
    const call = this.#calls.get(block);
    if (call === undefined || call.custom || call.grown || !complete) return [];
    return this.#grow(block, '{}');
  }

  /** As OpenRouter and LiteLLM have it: the vendor's own format has no place for pictures. */
  #image(source: ImageSource): Frame[] {
    const index = this.#images;
    this.#images += 1;
    return this.#chunk({ images: [{ index, type: 'image_url', image_url: { url: urlOfSource(source) } }] });
  }

  #citeWhole(block: number): Frame[] {
    const cited = this.#cited;
    this.#cited = [];
    return cited.flatMap((citation) => this.#cite(block, citation));
  }

  /** The format counts in the whole content, and can name nothing but addresses. */
  #cite(block: number, { end, native, start, title, url }: Citation): Frame[] {
    if (native.format === 'openai-chat') return this.#chunk({ annotations: [native.value] });
    if (url === null) return [];
    const from = this.#textStarts.get(block) ?? 0;
    const url_citation = {
      start_index: from + (start ?? 0),
      end_index: end === null ? this.#length : from + end,
      url,
      title: title ?? '',
    };
    return this.#chunk({ annotations: [{ type: 'url_citation', url_citation }] });
  }

  #end({ reason, tier, usage }: Extract<StreamPart, { type: 'message-end' }>): Frame[] {
    if (tier !== undefined) this.#tier = { service_tier: tier };
    const shown = this.#context.includeUsage && usage !== null;
    const report = shown ? [this.#frame({ choices: [], usage: promptCounts(usage) })] : [];
    const cited = this.#citeWhole([...this.#textStarts.keys()].at(-1) ?? 0);
    this.#carrySignature();
    return [
      ...cited,
      ...this.#encrypted(),
      ...this.#chunk({}, this.#finishReason(reason)),
      ...report,
      doneFrame(),
    ];
  }

  /** What was called decides. */
  #finishReason(reason: EndReason): string {
    if (reason !== 'stop' && reason !== 'tool-calls') return reasons[reason];
    if (this.#calls.size === 0) return 'stop';
    return this.#legacy ? 'function_call' : 'tool_calls';
  }
}

/** A writer for one stream. */
export function writer(context: AnswerContext): PartWriter {
  const { response_format }: ChatRequest = context.request;
  const target = withLateCitations(new ChatWriter(context), {
    takes: ({ native, url }) => url !== null || native.format === 'openai-chat',
    inOpenText: false,
    joint: '\n\n',
    structured: isStructured(response_format),
  });
  return withTextFallback(target, { format: 'openai-chat', images: 'any' });
}
