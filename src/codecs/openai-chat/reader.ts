import type { Frame } from '../../lib/sse.ts';
import { classifyChoices, readChoiceError } from '../choice-stream.ts';
import { DONE } from '../frames.ts';
import type { Usage } from '../model.ts';
import type { EndReason, PartReader, StreamPart } from '../stream-part.ts';
import { promptUsage } from '../token-counts.ts';
import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from '../values.ts';
import { addToolCalls, type CallSlot } from './tool-calls.ts';

const reasons: Readonly<Record<string, EndReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'policy',
  eos: 'stop',
  end_turn: 'stop',
  max_tokens: 'length',
};

type Prose = 'text' | 'refusal' | 'reasoning';

/** Reads the first choice of a chat stream (OpenAI API reference, "Chat streaming"), with the vendors' own habits. */
class ChatReader implements PartReader {
  #begun = false;
  #ended = false;
  #next = 0;
  /** The block of text, refusal or reasoning that is being written. */
  #prose: { kind: Prose; block: number } | null = null;
  readonly #slots: CallSlot[] = [];
  /** Per call: its block, and how much of its input was told. */
  readonly #calls: { block: number; told: number }[] = [];
  #reason: string | null = null;
  #usage: Usage | null = null;

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const data = frame.data.trim();
    if (data === '') return [];
    if (data === DONE) return this.#reason === null && !this.#begun ? [] : this.#finish();
    if (classifyChoices(frame, () => false) === 'error') {
      this.#ended = true;
      return [{ type: 'error', error: readChoiceError(frame) }];
    }
    const chunk = parseObject(data);
    return chunk === null ? [] : this.#chunk(chunk);
  }

  end(): StreamPart[] {
    if (this.#ended) return [];
    if (this.#reason !== null) return this.#finish();
    this.#ended = true;
    const message = 'The upstream ended its stream without its final event';
    return [{ type: 'error', error: { status: 502, message } }];
  }

  #chunk(chunk: JsonObject): StreamPart[] {
    const choices = listOf(chunk['choices']).filter(isObject);
    const choice = choices.find(({ index }) => index === 0 || index === undefined);
    this.#noteUsage(chunk['usage'] ?? objectOf(chunk['x_groq'])['usage'] ?? choice?.['usage']);
    const parts = this.#begin(chunk);
    if (choice === undefined) return parts;
    const delta = isObject(choice['delta']) ? choice['delta'] : objectOf(choice['message']);
    parts.push(...this.#delta(delta));
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#reason = reason;
    return parts;
  }

  #begin(chunk: JsonObject): StreamPart[] {
    if (this.#begun) return [];
    this.#begun = true;
    return [{ type: 'message-start', id: textOf(chunk['id']), model: textOf(chunk['model']), usage: null }];
  }

  #noteUsage(value: unknown): void {
    const usage = isObject(value) ? promptUsage(value) : null;
    if (usage !== null) this.#usage = usage;
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
    if (this.#prose?.kind === kind) return [{ type: `${kind}-delta`, block: this.#prose.block, text }];
    const parts = this.#closeProse();
    const block = this.#next;
    this.#next += 1;
    this.#prose = { kind, block };
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
    if (this.#prose?.kind !== 'text') return [];
    const value = objectOf(annotation['url_citation']);
    const at = (name: string) => (typeof value[name] === 'number' ? value[name] : null);
    const citation = {
      url: typeof value['url'] === 'string' ? value['url'] : null,
      title: typeof value['title'] === 'string' ? value['title'] : null,
      text: null,
      ...{ start: at('start_index'), end: at('end_index') },
      native: { format: 'openai-chat' as const, value: annotation },
    };
    return [{ type: 'citation', block: this.#prose.block, citation }];
  }

  /** Adds deltas of calls to their slots and tells what is new; a call is told once its name is known. */
  #call(deltas: unknown): StreamPart[] {
    if (listOf(deltas).length === 0) return [];
    addToolCalls(this.#slots, deltas);
    const parts = this.#closeProse();
    for (const [position, { call }] of this.#slots.entries()) {
      const custom = isObject(call['custom']);
      const said = objectOf(custom ? call['custom'] : call['function']);
      const name = textOf(said['name']);
      let told = this.#calls[position];
      if (told === undefined && name !== '') {
        told = { block: this.#next, told: 0 };
        this.#next += 1;
        this.#calls[position] = told;
        const id = textOf(call['id']) || `call_${position}`;
        parts.push({
          ...{ type: 'tool-call-start', block: told.block, id, name },
          kind: custom ? 'custom' : 'function',
        });
      }
      if (told === undefined) continue;
      const text = textOf(said[custom ? 'input' : 'arguments']).slice(told.told);
      if (text !== '') parts.push({ type: 'tool-call-delta', block: told.block, text });
      told.told += text.length;
    }
    return parts;
  }

  #finish(): StreamPart[] {
    this.#ended = true;
    const parts = this.#closeProse();
    const told = reasons[this.#reason ?? 'stop'] ?? 'other';
    for (const call of this.#calls.filter((one) => one !== undefined)) {
      parts.push({ type: 'tool-call-end', block: call.block, complete: told !== 'length' });
    }
    const reason = told === 'stop' && this.#calls.length > 0 ? 'tool-calls' : told;
    parts.push({ type: 'message-end', reason, stopSequence: null, usage: this.#usage });
    return parts;
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new ChatReader();
}

/** DeepSeek's and others' `reasoning_content`, OpenRouter's and Groq's `reasoning` or `reasoning_details`. */
function reasoningIn(delta: JsonObject): string {
  const plain = textOf(delta['reasoning_content']) || textOf(delta['reasoning']);
  if (plain !== '') return plain;
  return listOf(delta['reasoning_details'])
    .map((detail) => textOf(objectOf(detail)['text']) || textOf(objectOf(detail)['summary']))
    .join('');
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
