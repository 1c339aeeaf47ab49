import type { Frame } from '../../../lib/streams/sse.ts';
import { argumentText } from '../../adapt/call-arguments.ts';
import { type CallIds, callIds } from '../../adapt/call-ids.ts';
import { isObject, listOf, objectOf, textOf } from '../../json/values.ts';
import type { PartReader, StreamPart } from '../../model/stream-part.ts';
import { objectIn } from '../../stream/frames.ts';
import { sourceOf } from '../images.ts';
import type { Called, OllamaAnswer, OllamaMessage, ToolCall } from '../wire.ts';
import { isErrorLine, readError } from './error.ts';
import { meaningOf } from './finish.ts';
import { countersUsage } from './usage.ts';

type Prose = 'text' | 'reasoning';

/** Reads a chat stream (API reference, "Streaming"): pieces of text and thinking, whole calls, and one last line. */
class OllamaReader implements PartReader {
  #ids: CallIds | null = null;
  #ended = false;
  #next = 0;
  /** The block of text or reasoning that is being written. */
  #prose: { kind: Prose; block: number } | null = null;
  #called = false;

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const line: OllamaAnswer | null = objectIn(frame);
    if (line === null) return [];
    if (isErrorLine(line)) {
      this.#ended = true;
      return [{ type: 'error', error: readError(frame) }];
    }
    const done = line.done === true;
    if (!isObject(line.message)) {
      if (!done) return [];
      if (this.#ids === null) return this.#fail('The upstream sent an answer without a message');
    }
    const parts = [...this.#begin(line), ...this.#message(objectOf(line.message))];
    if (done && !this.#ended) parts.push(...this.#finish(line));
    return parts;
  }

  end(): StreamPart[] {
    return this.#ended ? [] : this.#fail('The upstream ended its stream without its final event');
  }

  #fail(message: string): StreamPart[] {
    this.#ended = true;
    return [{ type: 'error', error: { status: 502, message } }];
  }

  #begin(line: OllamaAnswer): StreamPart[] {
    if (this.#ids !== null) return [];
    // Ids must differ between the turns of a conversation, and the time is all that names an answer.
    this.#ids = callIds(textOf(line.created_at).replace(/\D/g, ''));
    return [{ type: 'message-start', id: '', model: textOf(line.model), usage: null }];
  }

  #message({ content, images, thinking, tool_calls }: OllamaMessage): StreamPart[] {
    const parts = [...this.#say('reasoning', textOf(thinking)), ...this.#say('text', textOf(content))];
    for (const call of isObject(tool_calls) ? [tool_calls] : listOf(tool_calls)) {
      if (this.#ended) break;
      parts.push(...this.#call(objectOf(call)));
    }
    for (const image of listOf(images)
      .map(textOf)
      .filter((one) => one !== '')) {
      parts.push(...this.#closeProse());
      parts.push({ type: 'image', block: this.#nextBlock(), source: sourceOf(image) });
    }
    return parts;
  }

  #nextBlock(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  #say(kind: Prose, text: string): StreamPart[] {
    if (text === '') return [];
    if (this.#prose?.kind === kind) return [{ type: `${kind}-delta`, block: this.#prose.block, text }];
    const parts = this.#closeProse();
    const block = this.#nextBlock();
    this.#prose = { kind, block };
    parts.push(
      kind === 'text' ? { type: 'text-start', block } : { type: 'reasoning-start', block, summary: false },
    );
    parts.push({ type: `${kind}-delta`, block, text });
    return parts;
  }

  #closeProse(): StreamPart[] {
    const prose = this.#prose;
    this.#prose = null;
    if (prose === null) return [];
    const { block, kind } = prose;
    return [
      kind === 'text' ? { type: 'text-end', block } : { type: 'reasoning-end', block, encrypted: null },
    ];
  }

  /** A call comes whole; newer servers name it. */
  #call(call: ToolCall): StreamPart[] {
    const called = objectOf<Called>(isObject(call.function) ? call.function : call);
    const name = textOf(called.name);
    const text = argumentText(called.arguments);
    if (name === '') return this.#fail('The upstream called a tool without naming it');
    if (text === null)
      return this.#fail('The upstream called a tool with arguments that are nested too deeply');
    this.#called = true;
    const id = textOf(call.id) || (this.#ids?.next(name) ?? '');
    const parts = this.#closeProse();
    const block = this.#nextBlock();
    parts.push({ type: 'tool-call-start', block, id, name, kind: 'function' });
    if (text !== '') parts.push({ type: 'tool-call-delta', block, text });
    parts.push({ type: 'tool-call-end', block, complete: true });
    return parts;
  }

  #finish(line: OllamaAnswer): StreamPart[] {
    this.#ended = true;
    const raw = textOf(line.done_reason);
    const meaning = meaningOf(raw);
    // The vendor says `stop` also where it calls.
    const reason = meaning === 'stop' && this.#called ? 'tool-calls' : meaning;
    const usage = countersUsage(line);
    const end = { reason, rawFinishReason: raw === '' ? null : raw, stopSequence: null, usage };
    return [...this.#closeProse(), { type: 'message-end', ...end }];
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new OllamaReader();
}
