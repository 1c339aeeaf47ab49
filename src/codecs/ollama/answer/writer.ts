import type { Frame } from '../../../lib/streams/sse.ts';
import { argumentsOf } from '../../adapt/call-arguments.ts';
import { cutsOff } from '../../model/end-reason.ts';
import type { AnswerContext, EndReason, PartWriter, StreamPart } from '../../model/stream-part.ts';
import { withTextFallback } from '../../model/text-fallback.ts';
import { ValueFrame } from '../../stream/frames.ts';
import type { Usage } from '../../wire-format.ts';
import type { OllamaAnswer, OllamaMessage } from '../wire.ts';
import { counters } from './usage.ts';

/** The vendor has two; it has none for a refusal, and clients accept any word. */
const reasons: Readonly<Record<EndReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'stop',
  'context-full': 'length',
  policy: 'content_filter',
  paused: 'stop',
  other: 'stop',
};

/**
 * In nanoseconds. How long anything took at the upstream is not known here; 0 is what the vendor's own client takes
 * for unknown (`Metrics.Summary`).
 */
const unknownDurations = {
  total_duration: 0,
  load_duration: 0,
  prompt_eval_duration: 0,
  eval_duration: 0,
} as const;

interface Call {
  id: string;
  name: string;
  input: string;
}

/** Writes an answer as a chat stream. Calls are held until they are whole, for the format has no piece of one. */
class OllamaWriter implements PartWriter {
  readonly #context: AnswerContext;
  readonly #calls = new Map<number, Call>();
  #written = 0;
  #reasoned: number | null = null;
  /** Whether a call was left out because the answer was cut off inside it. */
  #cut = false;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(part: StreamPart): Frame[] {
    switch (part.type) {
      case 'text-delta':
      case 'refusal-delta':
        return this.#piece({ content: part.text });
      case 'reasoning-delta':
        return this.#reason(part.block, part.text);
      case 'tool-call-start':
        this.#calls.set(part.block, { id: part.id, name: part.name, input: '' });
        return [];
      case 'tool-call-delta':
        this.#grow(part.block, part.text);
        return [];
      case 'tool-call-end':
        return this.#call(part.block, part.complete);
      case 'image':
        return part.source.kind === 'data' ? this.#piece({ content: '', images: [part.source.base64] }) : [];
      case 'message-end':
        return this.#end(part.reason, part.usage);
      default:
        // Sources have no place in the format, and what begins or ends a block none either.
        return [];
    }
  }

  #line(message: OllamaMessage, rest: OllamaAnswer): Frame[] {
    const { model, startedAt } = this.#context;
    const created_at = new Date(startedAt).toISOString();
    return [new ValueFrame('', { model, created_at, message: { role: 'assistant', ...message }, ...rest })];
  }

  #piece(message: OllamaMessage): Frame[] {
    return this.#line(message, { done: false });
  }

  /** A later reasoning is a paragraph of its own. */
  #reason(block: number, text: string): Frame[] {
    const joint = this.#reasoned === null || this.#reasoned === block ? '' : '\n\n';
    this.#reasoned = block;
    return this.#piece({ content: '', thinking: joint + text });
  }

  #grow(block: number, text: string): void {
    const call = this.#calls.get(block);
    if (call !== undefined) call.input += text;
  }

  /** One that was cut off is left out, as the vendor does: the reason of the end tells, and half a call cannot be made. */
  #call(block: number, complete: boolean): Frame[] {
    const call = this.#calls.get(block);
    this.#calls.delete(block);
    this.#cut ||= !complete;
    if (call === undefined || !complete) return [];
    const { id, input, name } = call;
    const index = this.#written;
    this.#written += 1;
    return this.#piece({
      content: '',
      tool_calls: [{ id, function: { index, name, arguments: argumentsOf(input) } }],
    });
  }

  #end(reason: EndReason, usage: Usage | null): Frame[] {
    return this.#line(
      { content: '' },
      {
        done: true,
        done_reason: this.#cut && !cutsOff(reason) ? 'length' : reasons[reason],
        ...unknownDurations,
        ...counters(usage),
      },
    );
  }
}

/** A writer for one stream. */
export function writer(context: AnswerContext): PartWriter {
  return withTextFallback(new OllamaWriter(context), { format: 'ollama', images: 'bytes' });
}
