import { DONE_FRAME } from '../choice-stream.ts';
import { encodeFrame } from '../frames.ts';
import type { Usage } from '../model.ts';
import type { AnswerContext, Citation, EndReason, PartWriter, StreamPart } from '../stream-part.ts';
import type { JsonObject } from '../values.ts';

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

/** Writes an answer as a chat stream (gateways' E-02). Calls are numbered by themselves, without the texts between. */
class ChatWriter implements PartWriter {
  readonly #context: AnswerContext;
  readonly #calls = new Map<number, { index: number; custom: boolean }>();

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(part: StreamPart): string {
    switch (part.type) {
      case 'message-start':
        return this.#chunk({ role: 'assistant', content: '' });
      case 'text-delta':
        return this.#chunk({ content: part.text });
      case 'refusal-delta':
        return this.#chunk({ refusal: part.text });
      case 'reasoning-delta':
        return this.#chunk({ reasoning_content: part.text });
      case 'tool-call-start':
        return this.#open(part);
      case 'tool-call-delta':
        return this.#grow(part.block, part.text);
      case 'citation':
        return this.#chunk({ annotations: [annotationOf(part.citation)] });
      case 'message-end':
        return this.#end(part.reason, part.usage);
      default:
        return '';
    }
  }

  #frame(rest: JsonObject): string {
    const { id, model, startedAt } = this.#context;
    return encodeFrame('', {
      id: `chatcmpl-${id.replace(/^[a-z]+_/, '')}`,
      object: 'chat.completion.chunk',
      created: Math.floor(startedAt / 1000),
      model,
      ...rest,
    });
  }

  #chunk(delta: JsonObject, finish_reason: string | null = null): string {
    return this.#frame({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  }

  #open({ block, id, kind, name }: Extract<StreamPart, { type: 'tool-call-start' }>): string {
    const call = { index: this.#calls.size, custom: kind === 'custom' };
    this.#calls.set(block, call);
    const said = call.custom
      ? { type: 'custom', custom: { name, input: '' } }
      : { type: 'function', function: { name, arguments: '' } };
    return this.#chunk({ tool_calls: [{ index: call.index, id, ...said }] });
  }

  #grow(block: number, text: string): string {
    const call = this.#calls.get(block);
    if (call === undefined || text === '') return '';
    const said = call.custom ? { custom: { input: text } } : { function: { arguments: text } };
    return this.#chunk({ tool_calls: [{ index: call.index, ...said }] });
  }

  #end(reason: EndReason, usage: Usage | null): string {
    const told = reason === 'stop' && this.#calls.size > 0 ? 'tool_calls' : reasons[reason];
    const shown = this.#context.includeUsage && usage !== null;
    const report = shown ? this.#frame({ choices: [], usage: usageOf(usage) }) : '';
    return this.#chunk({}, told) + report + DONE_FRAME;
  }
}

/** A writer for one stream. */
export function writer(context: AnswerContext): PartWriter {
  return new ChatWriter(context);
}

function annotationOf({ end, native, start, title, url }: Citation): JsonObject {
  if (native.format === 'openai-chat') return native.value;
  const url_citation = { start_index: start ?? 0, end_index: end ?? 0, url: url ?? '', title: title ?? '' };
  return { type: 'url_citation', url_citation };
}

/** Usage in the format's own way: the prompt with everything cached in it, the completion with reasoning (U-01 to U-05). */
function usageOf(usage: Usage): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.input + usage.cacheRead + written + usage.audioInput;
  const completion = usage.output + usage.reasoning + usage.audioOutput;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
      audio_tokens: usage.audioInput,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: usage.audioOutput },
  };
}
