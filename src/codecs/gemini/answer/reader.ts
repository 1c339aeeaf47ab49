import type { Frame } from '../../../lib/streams/sse.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import { cutsOff } from '../../model/end-reason.ts';
import type { PartReader, StreamPart } from '../../model/stream-part.ts';
import { encryptedReasoningOf } from '../signature.ts';
import type {
  Candidate,
  CitationMetadata,
  ContentPart,
  FunctionCall,
  GeminiAnswer,
  GroundingMetadata,
  PromptFeedback,
  UsageMetadata,
} from '../wire.ts';
import { CallReader } from './call-reader.ts';
import {
  blockReasonIn,
  candidateIn,
  chunksOf,
  contentName,
  finishReasonIn,
  isErrorFrame,
  partsIn,
} from './chunk.ts';
import { readError } from './error.ts';
import { meaningOfFinish } from './finish.ts';
import { AnswerText, citationsIn, searchIn } from './grounding.ts';
import { codeIn, imageIn } from './made.ts';
import { tierIn, usageOf } from './usage.ts';

/**
 * Reads the chunks of a `streamGenerateContent` stream, or the one chunk of a complete answer. Only the end of the
 * stream ends the answer: models have sent STOP in every chunk. A signature becomes reasoning before its part; if there
 * are thoughts before the part, it is theirs.
 */
class GeminiReader implements PartReader {
  #begun = false;
  #ended = false;
  #next = 0;
  /** The block of text or thoughts that is being written. */
  #prose: { kind: 'text' | 'reasoning'; block: number } | null = null;
  /** The encrypted reasoning of an empty text. It waits, for citations may still come for the text before it. */
  #waiting: EncryptedReasoning | null = null;
  readonly #calls = new CallReader(() => this.#nextBlock());
  readonly #text = new AnswerText();
  /** The last `finishReason`, or that of a blocked prompt; empty before there is one. */
  #reason = '';
  /** The vendor's word for it: of a blocked prompt why it was blocked. */
  #rawReason = '';
  /** The vendor's explanation why it ended the answer or refused the prompt. */
  #explanation = '';
  #counts: UsageMetadata = {};
  #grounding: GroundingMetadata = {};
  #cited: CitationMetadata = {};

  push(frame: Pick<Frame, 'event' | 'data'>): StreamPart[] {
    if (this.#ended) return [];
    const chunks = chunksOf(frame);
    if (isErrorFrame(frame, chunks)) {
      // After its end an answer has nothing to fail any more.
      return this.#reason === '' ? this.#fail(readError(frame)) : [];
    }
    return (chunks ?? []).flatMap((chunk) => (this.#ended ? [] : this.#chunk(chunk)));
  }

  end(): StreamPart[] {
    if (this.#ended) return [];
    if (this.#reason !== '') return this.#finish();
    return this.#fail({ status: 502, message: 'The upstream ended its stream without its final event' });
  }

  #fail(error: Extract<StreamPart, { type: 'error' }>['error']): StreamPart[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #nextBlock(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  #chunk(chunk: GeminiAnswer): StreamPart[] {
    if (isObject(chunk.usageMetadata)) this.#counts = chunk.usageMetadata;
    const candidate = candidateIn(chunk);
    const blocked = blockReasonIn(chunk);
    const parts = candidate === null && blocked === '' ? [] : this.#begin(chunk);
    if (candidate !== null) parts.push(...this.#candidate(candidate));
    if (blocked !== '' && this.#reason === '') {
      this.#reason = 'SAFETY';
      this.#rawReason = blocked;
      const blockReason = textOf(objectOf<PromptFeedback>(chunk.promptFeedback).blockReasonMessage);
      this.#explanation = blockReason || `The prompt was blocked: ${blocked}`;
    }
    return parts;
  }

  #begin(chunk: GeminiAnswer): StreamPart[] {
    if (this.#begun) return [];
    this.#begun = true;
    const id = textOf(chunk.responseId);
    this.#calls.scope(id);
    const usage = usageOf(this.#counts, null);
    return [{ type: 'message-start', id, model: textOf(chunk.modelVersion), usage, ...this.#served() }];
  }

  #candidate(candidate: Candidate): StreamPart[] {
    const { citationMetadata, finishMessage, groundingMetadata } = candidate;
    this.#grounding = { ...this.#grounding, ...filled(objectOf(groundingMetadata)) };
    this.#cited = { ...this.#cited, ...filled(objectOf(citationMetadata)) };
    const reason = finishReasonIn(candidate);
    if (reason !== '') {
      this.#reason = reason;
      this.#rawReason = reason;
      this.#explanation = textOf(finishMessage);
    }
    return partsIn(candidate).flatMap((part) => (this.#ended ? [] : this.#part(part)));
  }

  #part(part: ContentPart): StreamPart[] {
    const encrypted = encryptedReasoningOf(textOf(part.thoughtSignature));
    const name = contentName(part);
    if (name === 'functionCall') return this.#call(objectOf(part.functionCall), encrypted);
    // Google writes one or the other; servers like it do not all.
    if (isObject(part.functionCall)) {
      const { functionCall, ...rest } = part;
      return [...this.#part(rest), ...this.#call(objectOf(functionCall), null)];
    }
    if (name === 'text' || name === null) return this.#words(textOf(part.text), part.thought, encrypted);
    const source = imageIn(part);
    const before = [...this.#before(source === null ? null : encrypted), ...this.#closeProse()];
    const block = this.#nextBlock();
    if (source !== null) return [...before, { type: 'image', block, source }];
    return [...before, { type: 'native', block, format: 'gemini', name, value: part, words: codeIn(part) }];
  }

  #call(call: FunctionCall, encrypted: EncryptedReasoning | null): StreamPart[] {
    const parts = textOf(call.name) === '' ? [] : [...this.#before(encrypted), ...this.#closeProse()];
    parts.push(...this.#calls.push(call));
    const { fault } = this.#calls;
    return fault === null ? parts : this.#fail({ status: 502, message: fault });
  }

  #words(text: string, thought: unknown, encrypted: EncryptedReasoning | null): StreamPart[] {
    if (text === '') return this.#signatureWithoutWords(encrypted);
    if (thought !== true) return [...this.#before(encrypted), ...this.#say('text', text)];
    const parts = [...this.#before(null), ...this.#say('reasoning', text)];
    if (encrypted !== null) parts.push(...this.#closeProse(encrypted));
    return parts;
  }

  #signatureWithoutWords(encrypted: EncryptedReasoning | null): StreamPart[] {
    if (encrypted === null) return [];
    if (this.#prose?.kind === 'reasoning') return this.#closeProse(encrypted);
    const parts = this.#before(null);
    this.#waiting = encrypted;
    return parts;
  }

  /** What stands before the next piece: the encrypted reasoning that waited, and its own. */
  #before(encrypted: EncryptedReasoning | null): StreamPart[] {
    const waiting = this.#waiting;
    this.#waiting = null;
    return [waiting, encrypted].flatMap((one) => (one === null ? [] : this.#encrypted(one)));
  }

  #encrypted(encrypted: EncryptedReasoning): StreamPart[] {
    if (this.#prose?.kind === 'reasoning') return this.#closeProse(encrypted);
    const parts = this.#closeProse();
    const block = this.#nextBlock();
    parts.push({ type: 'reasoning-start', block, summary: true });
    parts.push({ type: 'reasoning-end', block, encrypted });
    return parts;
  }

  #say(kind: 'text' | 'reasoning', text: string): StreamPart[] {
    const parts: StreamPart[] = [];
    if (this.#prose?.kind !== kind) {
      parts.push(...this.#closeProse());
      const block = this.#nextBlock();
      this.#prose = { kind, block };
      if (kind === 'text') this.#text.open(block);
      parts.push(
        kind === 'text' ? { type: 'text-start', block } : { type: 'reasoning-start', block, summary: true },
      );
    }
    const { block } = this.#prose ?? { block: 0 };
    if (kind === 'text') this.#text.add(block, text);
    parts.push({ type: `${kind}-delta`, block, text });
    return parts;
  }

  #closeProse(encrypted: EncryptedReasoning | null = null): StreamPart[] {
    const prose = this.#prose;
    this.#prose = null;
    if (prose === null) return [];
    if (prose.kind === 'text') return [{ type: 'text-end', block: prose.block }];
    return [{ type: 'reasoning-end', block: prose.block, encrypted }];
  }

  #finish(): StreamPart[] {
    const meaning = meaningOfFinish(this.#reason);
    if (meaning === 'error') {
      const suffix = this.#explanation === '' ? '' : `: ${this.#explanation}`;
      const message = `The upstream rejected its model's answer (${this.#reason})${suffix}`;
      return this.#fail({ status: 502, message });
    }
    const parts = [
      ...citationsIn(this.#grounding, this.#cited, this.#text),
      ...this.#before(null),
      ...this.#closeProse(),
      ...this.#calls.end(cutsOff(meaning)),
    ];
    if (this.#calls.fault !== null) return this.#fail({ status: 502, message: this.#calls.fault });
    this.#ended = true;
    const search = searchIn(this.#grounding);
    if (search !== null) parts.push({ type: 'search', block: this.#nextBlock(), search });
    if (meaning === 'policy') parts.push(...this.#refusal());
    // What was called decides, for calls end with STOP too.
    const reason = meaning === 'stop' && this.#calls.any ? 'tool-calls' : meaning;
    const usage = usageOf(this.#counts, this.#grounding);
    const end = { reason, rawFinishReason: this.#rawReason, stopSequence: null, usage };
    return [...parts, { type: 'message-end', ...end, ...this.#served() }];
  }

  #served(): { tier?: string } {
    const tier = tierIn(this.#counts);
    return tier === null ? {} : { tier };
  }

  #refusal(): StreamPart[] {
    const text = this.#explanation;
    if (text === '') return [];
    const block = this.#nextBlock();
    return [
      { type: 'refusal-start', block },
      { type: 'refusal-delta', block, text },
      { type: 'refusal-end', block },
    ];
  }
}

/** A reader for one stream. */
export function reader(): PartReader {
  return new GeminiReader();
}

/** The fields of an object that say something: an empty list in a later chunk takes nothing back. */
function filled(value: JsonObject): JsonObject {
  const nonEmptyFields = Object.entries(value).filter(
    ([, field]) => field !== null && (!Array.isArray(field) || listOf(field).length > 0),
  );
  return Object.fromEntries(nonEmptyFields);
}
