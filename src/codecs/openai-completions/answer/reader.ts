import type { ReportedError } from '../../codec.ts';
import { isObject, textOf } from '../../json/values.ts';
import type { PartReader, StreamPart } from '../../model/stream-part.ts';
import {
  type ChoiceAnswer,
  choiceReader,
  endedWithError,
  firstChoice,
} from '../../openai-shared/choice-reader.ts';
import type { ChoiceChunk } from '../../openai-shared/wire.ts';
import { promptUsage } from '../../usage/token-counts.ts';
import type { Usage } from '../../wire-format.ts';
import type { CompletionsChoice } from '../wire.ts';
import { meaningOf } from './finish.ts';

/** Reads the first choice of a completions stream: an answer of this format is one text. */
class CompletionAnswer implements ChoiceAnswer {
  answered = false;
  #begun = false;
  #open = false;
  #reason: string | null = null;
  #usage: Usage | null = null;

  get finished(): boolean {
    return this.#reason !== null;
  }

  get counted(): boolean {
    return this.#usage !== null;
  }

  late({ usage }: ChoiceChunk): void {
    if (isObject(usage)) this.#usage = promptUsage(usage) ?? this.#usage;
  }

  chunk(chunk: ChoiceChunk): StreamPart[] {
    this.late(chunk);
    const parts: StreamPart[] = [];
    if (!this.#begun) {
      this.#begun = true;
      const [id, model] = [textOf(chunk.id), textOf(chunk.model)];
      parts.push({ type: 'message-start', id, model, usage: null });
    }
    const choice: CompletionsChoice | undefined = firstChoice(chunk);
    if (choice === undefined) return parts;
    // Some servers end with an empty choice; an answer that never has text is not of this format.
    this.answered ||= typeof choice.text === 'string';
    const text = textOf(choice.text);
    if (text !== '') {
      if (!this.#open) parts.push({ type: 'text-start', block: 0 });
      this.#open = true;
      parts.push({ type: 'text-delta', block: 0, text });
    }
    const reason = textOf(choice.finish_reason);
    if (reason !== '') this.#reason = reason;
    return parts;
  }

  finish(): StreamPart[] | ReportedError {
    const rawReason = this.#reason ?? 'stop';
    if (rawReason === 'error') return endedWithError;
    const end: StreamPart = {
      type: 'message-end',
      reason: meaningOf(rawReason),
      rawFinishReason: this.#reason,
      stopSequence: null,
      usage: this.#usage,
    };
    return this.#open ? [{ type: 'text-end', block: 0 }, end] : [end];
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return choiceReader(new CompletionAnswer());
}
