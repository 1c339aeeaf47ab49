import type { Frame } from '../../lib/sse.ts';
import { isErrorChunk, readChoiceError } from '../choice-stream.ts';
import type { ReportedError } from '../codec.ts';
import { DONE } from '../frames.ts';
import type { Usage } from '../model.ts';
import type { EndReason, PartReader, StreamPart } from '../stream-part.ts';
import { promptUsage } from '../token-counts.ts';
import { isObject, type JsonObject, listOf, parseObject, table, textOf } from '../values.ts';

/** The vendor's finish reasons, and words that others have for them. */
const reasons = table<EndReason>({
  ...{ stop: 'stop', eos: 'stop', length: 'length', max_tokens: 'length' },
  content_filter: 'policy',
});

/** Reads the first choice of a completions stream: an answer of this format is one text. */
class CompletionReader implements PartReader {
  #begun = false;
  /** Whether a choice has come. */
  #answered = false;
  #open = false;
  /** Whether `[DONE]` has come; some send the usage after it. */
  #done = false;
  #ended = false;
  #reason: string | null = null;
  #usage: Usage | null = null;

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const data = frame.data.trim();
    if (data === '') return [];
    if (data === DONE) return this.#onDone();
    const chunk = parseObject(data);
    if (this.#done) {
      if (chunk !== null) this.#noteUsage(chunk);
      return this.#finish();
    }
    if (isErrorChunk(frame, chunk)) return this.#fail(readChoiceError(frame));
    return chunk === null ? [] : this.#chunk(chunk);
  }

  end(): StreamPart[] {
    if (this.#ended) return [];
    if (this.#done || this.#reason !== null) return this.#finish();
    return this.#fail({ status: 502, message: 'The upstream ended its stream without its final event' });
  }

  #onDone(): StreamPart[] {
    if (!this.#answered) return this.#fail({ status: 502, message: 'The upstream sent an empty stream' });
    if (this.#usage !== null || this.#done) return this.#finish();
    this.#done = true;
    return [];
  }

  #fail(error: ReportedError): StreamPart[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #chunk(chunk: JsonObject): StreamPart[] {
    this.#noteUsage(chunk);
    const parts: StreamPart[] = [];
    if (!this.#begun) {
      this.#begun = true;
      const [id, model] = [textOf(chunk['id']), textOf(chunk['model'])];
      parts.push({ type: 'message-start', id, model, usage: null });
    }
    const choice = listOf(chunk['choices'])
      .filter(isObject)
      .find(({ index }) => typeof index !== 'number' || index === 0);
    if (choice === undefined) return parts;
    // Some end with a choice that says nothing more; one that never says anything is no answer of this format.
    this.#answered ||= typeof choice['text'] === 'string';
    const text = textOf(choice['text']);
    if (text !== '') {
      if (!this.#open) parts.push({ type: 'text-start', block: 0 });
      this.#open = true;
      parts.push({ type: 'text-delta', block: 0, text });
    }
    const reason = textOf(choice['finish_reason']);
    if (reason !== '') this.#reason = reason;
    return parts;
  }

  #noteUsage({ usage }: JsonObject): void {
    if (isObject(usage)) this.#usage = promptUsage(usage) ?? this.#usage;
  }

  #finish(): StreamPart[] {
    if (!this.#answered) return this.#fail({ status: 502, message: 'The upstream sent an empty stream' });
    const said = this.#reason ?? 'stop';
    if (said === 'error')
      return this.#fail({ status: 502, message: 'The upstream ended its answer with an error' });
    this.#ended = true;
    const end: StreamPart = {
      ...{ type: 'message-end', reason: reasons[said] ?? 'other' },
      ...{ stopSequence: null, usage: this.#usage },
    };
    return this.#open ? [{ type: 'text-end', block: 0 }, end] : [end];
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new CompletionReader();
}
