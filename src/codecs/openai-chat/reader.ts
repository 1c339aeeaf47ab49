import type { Frame } from '../../lib/sse.ts';
import { isErrorChunk, readChoiceError } from '../choice-stream.ts';
import { DONE } from '../frames.ts';
import type { Usage } from '../model.ts';
import type { EndReason, PartReader, StreamPart } from '../stream-part.ts';
import { promptUsage } from '../token-counts.ts';
import {
  isCount,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parseObject,
  table,
  textOf,
} from '../values.ts';
import { CallReader } from './call-reader.ts';
import { deltaOf } from './stream.ts';
import { reasoningIn } from './text.ts';

/** The vendor's finish reasons, and words that others have for them. */
const reasons = table<EndReason>({
  ...{ stop: 'stop', eos: 'stop', end_turn: 'stop' },
  ...{ length: 'length', max_tokens: 'length', model_length: 'context-full' },
  ...{ tool_calls: 'tool-calls', function_call: 'tool-calls' },
  content_filter: 'policy',
});

type Prose = 'text' | 'refusal' | 'reasoning';

/** Reads the first choice of a chat stream (OpenAI API reference, "Chat streaming"), with the vendors' own habits. */
class ChatReader implements PartReader {
  #begun = false;
  /** Whether a choice has come. */
  #answered = false;
  /** Whether `[DONE]` has come; some send the usage after it. */
  #done = false;
  #ended = false;
  #id = '';
  #next = 0;
  /** The block of text, refusal or reasoning that is being written. */
  #prose: { kind: Prose; block: number } | null = null;
  /** The last block of text, and how many characters of the content stood before it. */
  #lastText: { block: number; from: number } | null = null;
  #length = 0;
  readonly #calls = new CallReader({
    nextBlock: () => this.#nextBlock(),
    // Ids must differ between the turns of a conversation.
    idOf: (position) => `call_${this.#id === '' ? '' : `${this.#id}_`}${position}`,
  });
  #reason: string | null = null;
  #usage: Usage | null = null;

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const data = frame.data.trim();
    if (data === '') return [];
    if (data === DONE) return this.#onDone();
    const chunk = parseObject(data);
    if (this.#done) {
      if (chunk !== null) this.#noteUsage(chunk, firstChoice(chunk));
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

  #fail(error: Extract<StreamPart, { type: 'error' }>['error']): StreamPart[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #chunk(chunk: JsonObject): StreamPart[] {
    const choice = firstChoice(chunk);
    this.#noteUsage(chunk, choice);
    const parts = this.#begin(chunk);
    if (choice === undefined) return parts;
    this.#answered = true;
    parts.push(...this.#delta(deltaOf(choice)));
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#reason = reason;
    return parts;
  }

  #begin(chunk: JsonObject): StreamPart[] {
    if (this.#begun) return [];
    this.#begun = true;
    this.#id = textOf(chunk['id']);
    return [{ type: 'message-start', id: this.#id, model: textOf(chunk['model']), usage: null }];
  }

  /** Usage stands at the root; Groq has it in `x_groq`, Moonshot in the choice. The last report counts. */
  #noteUsage(chunk: JsonObject, choice: JsonObject | undefined): void {
    for (const value of [chunk['usage'], objectOf(chunk['x_groq'])['usage'], choice?.['usage']]) {
      const usage = isObject(value) ? promptUsage(value) : null;
      if (usage === null) continue;
      this.#usage = usage;
      return;
    }
  }

  #nextBlock(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  #delta(delta: JsonObject): StreamPart[] {
    const parts = this.#say('reasoning', reasoningIn(delta));
    const { reasoning, text } = contentIn(delta['content']);
    parts.push(...this.#say('reasoning', reasoning));
    parts.push(...this.#say('text', text));
    parts.push(...this.#say('refusal', textOf(delta['refusal'])));
    for (const annotation of listOf(delta['annotations'])) parts.push(...this.#cite(objectOf(annotation)));
    parts.push(...this.#call(delta['tool_calls']));
    const legacy = delta['function_call'];
    if (isObject(legacy)) parts.push(...this.#call([{ index: 0, function: legacy }]));
    return parts;
  }

  #say(kind: Prose, text: string): StreamPart[] {
    if (text === '') return [];
    const from = this.#length;
    if (kind === 'text') this.#length += text.length;
    if (this.#prose?.kind === kind) return [{ type: `${kind}-delta`, block: this.#prose.block, text }];
    const parts = this.#closeProse();
    const block = this.#nextBlock();
    this.#prose = { kind, block };
    if (kind === 'text') this.#lastText = { block, from };
    if (kind === 'reasoning') parts.push({ type: 'reasoning-start', block, summary: false });
    else parts.push({ type: `${kind}-start`, block });
    parts.push({ type: `${kind}-delta`, block, text });
    return parts;
  }

  #closeProse(): StreamPart[] {
    const prose = this.#prose;
    this.#prose = null;
    if (prose === null) return [];
    return prose.kind === 'reasoning'
      ? [{ type: 'reasoning-end', block: prose.block, sealed: null }]
      : [{ type: `${prose.kind}-end`, block: prose.block }];
  }

  #cite(annotation: JsonObject): StreamPart[] {
    if (this.#lastText === null) return [];
    const { block, from } = this.#lastText;
    const value = objectOf(annotation['url_citation']);
    const at = (name: string) => (isCount(value[name]) ? Math.max(0, value[name] - from) : null);
    const said = (name: string) => (typeof value[name] === 'string' ? value[name] : null);
    const citation = {
      ...{ url: said('url'), title: said('title'), text: said('content') },
      ...{ start: at('start_index'), end: at('end_index') },
      native: { format: 'openai-chat' as const, value: annotation },
    };
    return [{ type: 'citation', block, citation }];
  }

  #call(deltas: unknown): StreamPart[] {
    if (listOf(deltas).length === 0) return [];
    const called = this.#calls.push(deltas);
    // Text that goes on beside a call's arguments stays one text.
    return called.some(({ type }) => type === 'tool-call-start')
      ? [...this.#closeProse(), ...called]
      : called;
  }

  #finish(): StreamPart[] {
    const said = this.#reason ?? 'stop';
    if (said === 'error')
      return this.#fail({ status: 502, message: 'The upstream ended its answer with an error' });
    const told = reasons[said] ?? 'other';
    const cut = told === 'length' || told === 'context-full';
    if (this.#calls.nameless && !cut)
      return this.#fail({ status: 502, message: 'The upstream called a tool without naming it' });
    this.#ended = true;
    const any = this.#calls.any;
    const parts = [...this.#closeProse(), ...this.#calls.end(cut)];
    // What was called decides, not what the reason says of it (S-04).
    const reason = told === 'stop' || told === 'tool-calls' ? (any ? 'tool-calls' : 'stop') : told;
    return [...parts, { type: 'message-end', reason, stopSequence: null, usage: this.#usage }];
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new ChatReader();
}

function firstChoice(chunk: JsonObject): JsonObject | undefined {
  return listOf(chunk['choices'])
    .filter(isObject)
    .find(({ index }) => typeof index !== 'number' || index === 0);
}

/** Content is text, or a list of parts; Mistral's have thinking among them. */
function contentIn(content: unknown): { text: string; reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' };
  let text = '';
  let reasoning = '';
  for (const part of listOf(content).map(objectOf)) {
    if (part['type'] === 'thinking')
      reasoning += listOf(part['thinking'])
        .map((piece) => textOf(objectOf(piece)['text']))
        .join('');
    else text += textOf(part['text']);
  }
  return { text, reasoning };
}
