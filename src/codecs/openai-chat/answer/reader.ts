import type { ReportedError } from '../../codec.ts';
import { sourceOfUrl } from '../../files/data-url.ts';
import { countIn, isObject, listOf, objectOf, parseObject, textOf, textOrNull } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import { cutsOff } from '../../model/end-reason.ts';
import type { PartReader, StreamPart } from '../../model/stream-part.ts';
import { servedTier } from '../../model/tier.ts';
import {
  type ChoiceAnswer,
  choiceReader,
  endedWithError,
  firstChoice,
} from '../../openai-shared/choice-reader.ts';
import { isErrorChunk } from '../../openai-shared/choice-stream.ts';
import type { ChoiceChunk, GroqReport } from '../../openai-shared/wire.ts';
import { TextTemplate } from '../../stream/text-template.ts';
import { promptUsage } from '../../usage/token-counts.ts';
import type { Usage } from '../../wire-format.ts';
import { ReasoningDetails } from '../reasoning-details.ts';
import { reasoningIn, thinkingText } from '../text.ts';
import { signatureOfCall } from '../tool-calls.ts';
import type {
  Annotation,
  Called,
  ChatChoice,
  ChatMessage,
  ImageUrl,
  MessagePart,
  UrlCitation,
} from '../wire.ts';
import { CallReader } from './call-reader.ts';
import { deltaOf, isEmpty } from './delta.ts';
import { meaningOf } from './finish.ts';

type Prose = 'text' | 'refusal' | 'reasoning';

/** Reads the first choice of a chat stream (OpenAI API reference, "Chat streaming"), with the vendors' own habits. */
class ChatAnswer implements ChoiceAnswer {
  #begun = false;
  answered = false;
  #id = '';
  #next = 0;
  /** The block of text, refusal or reasoning that is being written. */
  #prose: { kind: Prose; block: number } | null = null;
  /** The last block of text, and how many characters of the content stood before it. */
  #lastText: { block: number; from: number } | null = null;
  #length = 0;
  /** Annotations that came before any text. */
  readonly #early: Annotation[] = [];
  readonly #calls = new CallReader({
    nextBlock: () => this.#nextBlock(),
    // Ids must differ between the turns of a conversation.
    idOf: (position) => `call_${this.#id === '' ? '' : `${this.#id}_`}${position}`,
    before: (call) => this.#encrypted(signatureOfCall(call)),
  });
  #hasLegacyCall = false;
  readonly #details = new ReasoningDetails();
  #reason: string | null = null;
  #usage: Usage | null = null;
  #tier: { tier?: string } = {};
  readonly #pieces = new TextTemplate(plainText);

  get finished(): boolean {
    return this.#reason !== null;
  }

  get counted(): boolean {
    return this.#usage !== null;
  }

  readByTemplate(data: string): StreamPart[] | null {
    const text = this.#pieces.textIn(data);
    return text === null ? null : this.#say('text', text);
  }

  seen(data: string): void {
    if (this.#prose?.kind === 'text') this.#pieces.learn(data);
  }

  late(chunk: ChoiceChunk): void {
    this.#noteUsage(chunk, firstChoice(chunk));
  }

  chunk(chunk: ChoiceChunk): StreamPart[] {
    const choice: ChatChoice | undefined = firstChoice(chunk);
    this.#noteUsage(chunk, choice);
    this.#noteTier(chunk.service_tier);
    const parts = this.#begin(chunk);
    if (choice === undefined) return parts;
    this.answered = true;
    parts.push(...this.#delta(deltaOf(choice)));
    const reason = choice.finish_reason;
    if (typeof reason === 'string' && reason !== '') this.#reason = reason;
    return parts;
  }

  /** The last tier that is named counts; a record that a template reads has the same as the record that was learned. */
  #noteTier(serviceTier: unknown): void {
    const { tier } = servedTier(serviceTier);
    if (tier === undefined || tier === this.#tier.tier) return;
    this.#tier = { tier };
    this.#pieces.forget();
  }

  #begin(chunk: ChoiceChunk): StreamPart[] {
    if (this.#begun) return [];
    this.#begun = true;
    this.#id = textOf(chunk.id);
    return [{ type: 'message-start', id: this.#id, model: textOf(chunk.model), usage: null, ...this.#tier }];
  }

  /** Usage stands at the root; Groq has it in `x_groq`, Moonshot in the choice. The last report counts. */
  #noteUsage(chunk: ChoiceChunk, choice: ChatChoice | undefined): void {
    for (const value of [chunk.usage, objectOf<GroqReport>(chunk.x_groq).usage, choice?.usage]) {
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

  #delta(delta: ChatMessage): StreamPart[] {
    this.#details.add(delta.reasoning_details);
    const parts = this.#say('reasoning', reasoningIn(delta));
    const { reasoning, text } = contentIn(delta.content);
    parts.push(...this.#say('reasoning', reasoning));
    const signature = signatureOfCall(delta);
    // In a whole answer Google's signature is beside its text, in a stream after it.
    const late = this.#prose?.kind === 'text';
    if (signature !== null && !late) parts.push(...this.#encrypted(signature));
    parts.push(...this.#say('text', text));
    if (signature !== null && late) parts.push(...this.#encrypted(signature));
    parts.push(...this.#say('refusal', textOf(delta.refusal)));
    for (const image of listOf(delta.images)) parts.push(...this.#image(objectOf(image)));
    for (const annotation of listOf(delta.annotations)) parts.push(...this.#cite(objectOf(annotation)));
    parts.push(...this.#calls.push(delta.tool_calls));
    parts.push(...this.#legacyCall(delta.function_call));
    return parts;
  }

  /** The one call of chat before it had tools. Some servers write it beside the same call in `tool_calls`. */
  #legacyCall(call: unknown): StreamPart[] {
    if (!isObject(call)) return [];
    const name = textOf(objectOf<Called>(call).name);
    if (!this.#hasLegacyCall && (name === '' || this.#calls.calls(name))) return [];
    this.#hasLegacyCall = true;
    return this.#calls.push([{ index: LEGACY_INDEX, function: call }]);
  }

  #say(kind: Prose, text: string): StreamPart[] {
    if (text === '') return [];
    const from = this.#length;
    if (kind === 'text') this.#length += text.length;
    if (this.#prose?.kind === kind) return [{ type: `${kind}-delta`, block: this.#prose.block, text }];
    const parts = kind === 'reasoning' ? this.#closeProse() : this.#encrypted();
    const block = this.#nextBlock();
    this.#prose = { kind, block };
    if (kind === 'text') this.#lastText = { block, from };
    if (kind === 'reasoning') parts.push({ type: 'reasoning-start', block, summary: false });
    else parts.push({ type: `${kind}-start`, block });
    parts.push({ type: `${kind}-delta`, block, text });
    if (kind === 'text') parts.push(...this.#citeEarly(block));
    return parts;
  }

  #closeProse(): StreamPart[] {
    const prose = this.#prose;
    this.#prose = null;
    if (prose === null) return [];
    return prose.kind === 'reasoning'
      ? [{ type: 'reasoning-end', block: prose.block, encrypted: this.#details.take() }]
      : [{ type: `${prose.kind}-end`, block: prose.block }];
  }

  /** Ends the open text or reasoning, and writes the encrypted reasoning that arrived without text or after it. */
  #encrypted(own: EncryptedReasoning | null = null): StreamPart[] {
    const parts = this.#closeProse();
    for (const encrypted of [this.#details.take(), own]) {
      if (encrypted === null) continue;
      const block = this.#nextBlock();
      parts.push(
        { type: 'reasoning-start', block, summary: false },
        { type: 'reasoning-end', block, encrypted },
      );
    }
    return parts;
  }

  #image({ image_url }: MessagePart): StreamPart[] {
    const url = textOf(objectOf<ImageUrl>(image_url).url);
    if (url === '') return [];
    const before = this.#encrypted();
    return [...before, { type: 'image', block: this.#nextBlock(), source: sourceOfUrl(url) }];
  }

  #cite(annotation: Annotation): StreamPart[] {
    if (this.#lastText === null) {
      this.#early.push(annotation);
      return [];
    }
    const { block, from } = this.#lastText;
    return [citationOf(annotation, block, from)];
  }

  #citeEarly(block: number): StreamPart[] {
    return this.#early.splice(0).map((annotation) => citationOf(annotation, block, 0));
  }

  finish(): StreamPart[] | ReportedError {
    const rawReason = this.#reason ?? 'stop';
    if (rawReason === 'error') return endedWithError;
    const meaning = meaningOf(rawReason);
    const cut = cutsOff(meaning);
    if (this.#calls.nameless && !cut)
      return { status: 502, message: 'The upstream called a tool without naming it' };
    const any = this.#calls.any;
    const parts = [...this.#encrypted(), ...this.#calls.end(cut)];
    if (this.#early.length > 0) parts.push(...this.#citeEarly(this.#nextBlock()));
    // Calls decide, whatever the finish reason says.
    const reason = meaning === 'stop' || meaning === 'tool-calls' ? (any ? 'tool-calls' : 'stop') : meaning;
    const end = { rawFinishReason: this.#reason, stopSequence: null, usage: this.#usage, ...this.#tier };
    return [...parts, { type: 'message-end', reason, ...end }];
  }
}

/** No call in `tool_calls` has it. */
const LEGACY_INDEX = -1;

/** A reader for one stream. */
export function reader(): PartReader {
  return choiceReader(new ChatAnswer());
}

function citationOf(annotation: Annotation, block: number, from: number): StreamPart {
  const { content, end_index, start_index, title, url } = objectOf<UrlCitation>(annotation.url_citation);
  const at = (value: unknown) => {
    const index = countIn(value);
    return index === null ? null : Math.max(0, index - from);
  };
  const citation = {
    url: textOrNull(url),
    title: textOrNull(title),
    text: textOrNull(content),
    start: at(start_index),
    end: at(end_index),
    native: { format: 'openai-chat' as const, value: annotation },
  };
  return { type: 'citation', block, citation };
}

/** The text of a chunk whose first choice continues a text and that has nothing else; null for any other. */
function plainText(data: string): string | null {
  const chunk: ChoiceChunk | null = parseObject(data);
  const choice: ChatChoice | undefined = chunk === null ? undefined : firstChoice(chunk);
  if (chunk === null || choice === undefined || isErrorChunk({ event: '', data }, chunk)) return null;
  const { content, ...rest } = deltaOf(choice);
  const others = [chunk.usage, chunk.x_groq, choice.usage, choice.finish_reason];
  const otherValues = [...others, ...Object.values({ ...rest, role: null })];
  return typeof content === 'string' && otherValues.every(isEmpty) ? content : null;
}

/** Content is text, or a list of parts; Mistral's have thinking among them. */
function contentIn(content: unknown): { text: string; reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' };
  let text = '';
  let reasoning = '';
  for (const part of listOf(content).map(objectOf<MessagePart>)) {
    if (part.type === 'thinking') reasoning += thinkingText(part.thinking);
    else text += textOf(part.text);
  }
  return { text, reasoning };
}
