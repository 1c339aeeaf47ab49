import type { IncomingHttpHeaders } from 'node:http';
import type { Codec, StreamCodec } from '../codecs/codec.ts';
import { continuing } from '../codecs/continuation.ts';
import { onlyFirstCall } from '../codecs/one-call.ts';
import { restoreTools } from '../codecs/restore.ts';
import { ownSeals } from '../codecs/seal-owner.ts';
import type { PartReader, StreamPart } from '../codecs/stream-part.ts';
import { isObject, parseObject } from '../codecs/values.ts';
import { wholeCharacters } from '../codecs/whole-characters.ts';
import { GatewayError } from '../lib/error.ts';
import type { Frame } from '../lib/sse.ts';
import { compacting } from '../responses/compact.ts';
import { firstCharacter, shapeOf } from './answer-shape.ts';
import type { AnswerReader } from './attempt.ts';
import type { Call } from './call.ts';
import type { Failure } from './failure.ts';
import { joined } from './meter.ts';
import { prefillOf } from './prefill.ts';
import { TranslatedAnswer } from './translate-answer.ts';
import { conversationCodec, ownerOf, type TranslatedRequest } from './translate-request.ts';
import { readUpstreamError } from './upstream-error.ts';

/** Most bytes of one whole answer, or of one frame of a stream. */
const HELD_BYTES = 16 * 1024 * 1024;

/** Carries one upstream answer of another format to the caller, part by part. */
export class Translation implements AnswerReader {
  readonly #call: Call;
  readonly #keepAliveMs: number;
  readonly #upstream: Codec & { stream: StreamCodec };
  readonly #reader: PartReader;
  readonly #answer: TranslatedAnswer;
  #status = 0;
  /** Bytes of an unfinished frame, or all bytes of a whole answer. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #shape: 'unknown' | 'stream' | 'whole' = 'unknown';
  /** Whether pieces wait for the end of this turn of the event loop. */
  #waiting = false;

  constructor(call: Call, request: TranslatedRequest, keepAliveMs: number) {
    this.#call = call;
    this.#keepAliveMs = keepAliveMs;
    this.#answer = new TranslatedAnswer(call, request);
    const upstream = conversationCodec(call.target.format);
    this.#upstream = upstream;
    const restored = restoreTools(wholeCharacters(upstream.conversation.reader()), request.tools);
    const whole = ownSeals(restored, ownerOf(call.target));
    const reader = request.oneCall ? onlyFirstCall(whole) : whole;
    const own = call.turn?.compacts === true ? compacting(reader, call.exchange.id) : reader;
    const { unfinished } = call;
    const repeated = prefillOf(call.target)?.repeated === true;
    this.#reader = unfinished === null ? own : continuing(own, unfinished.begun, repeated);
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#answer.headers = headers;
    this.#call.heard(status, headers);
    if (status < 300) return;
    this.#shape = 'whole';
    if (status < 400)
      throw new GatewayError(
        'upstream_redirect',
        `The upstream answered with a redirect (${status}); check the connection's base URL`,
      );
  }

  onData(chunk: Buffer): boolean {
    if (this.#answer.ended) return true;
    if (this.#shape === 'unknown')
      this.#shape = this.#upstream.stream.framing === 'lines' ? 'stream' : shapeOf(chunk);
    this.#pieces.push(chunk);
    this.#pieceBytes += chunk.length;
    if (this.#pieceBytes > HELD_BYTES) {
      this.#call.attempt?.abort();
      const what = this.#shape === 'whole' ? 'answer' : 'stream has a record that';
      this.#answer.fail(
        new GatewayError('upstream_protocol', `The upstream's ${what} is larger than ${HELD_BYTES} bytes`),
      );
      return true;
    }
    if (this.#shape !== 'stream') return true;
    // Without a line end no record can have become complete.
    if (!this.#waiting && (chunk.includes(LF) || chunk.includes(CR))) {
      // An upstream in haste sends many pieces at once: they are read as one.
      this.#waiting = true;
      process.nextTick(() => this.#readInTurn());
    }
    return !this.#answer.full;
  }

  #readInTurn(): void {
    try {
      this.#read();
    } catch (error) {
      this.#call.attempt?.fail(error);
    }
  }

  /** Before the answer ends in another way than its upstream meant: what came until then counts. */
  #readBeforeEnd(): void {
    try {
      this.#read();
    } catch {
      // It ends with an error anyway.
    }
  }

  /** Delivers the records that are complete. */
  #read(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    if (this.#answer.ended) return;
    const { frames, rest } = this.#upstream.stream.split(joined(this.#pieces));
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#pieceBytes = rest.length;
    this.#deliver(frames);
  }

  #deliver(frames: readonly Frame[]): void {
    const parts: StreamPart[] = [];
    for (const frame of frames) for (const part of this.#reader.push(frame)) parts.push(part);
    this.#answer.deliver(parts);
  }

  onEnd(): void {
    this.#read();
    if (this.#answer.ended) return;
    const body = joined(this.#pieces);
    if (this.#shape !== 'stream') {
      this.#onWhole(body);
      return;
    }
    const { frames } = this.#upstream.stream.split(Buffer.concat([body, Buffer.from('\n\n')]));
    this.#deliver(frames);
    this.#answer.deliver(this.#reader.end());
    if (!this.#answer.ended)
      this.#answer.fail(
        new GatewayError('upstream_cut', 'The upstream ended its stream without its final event'),
      );
  }

  onFailure(failure: Failure): void {
    this.#readBeforeEnd();
    if (this.#answer.ended) return;
    // Who was to go on has not heard of it yet: its old connection was closed.
    const unheard = failure.safeToRetry && this.#call.unfinished !== null;
    if (this.#answer.committed && !unheard) this.#answer.fail(failure.error);
    else this.#call.failed(failure);
  }

  onCallerGone(): void {
    this.#readBeforeEnd();
    this.#answer.gone();
  }

  interrupt(error: GatewayError): void {
    this.#readBeforeEnd();
    if (!this.#answer.ended) this.#answer.interrupt(error);
  }

  tick(elapsed: number): void {
    if (this.#status < 300) this.#answer.tick(elapsed, this.#keepAliveMs);
  }

  #onWhole(body: Buffer): void {
    const { format } = this.#upstream;
    if (this.#status >= 400) {
      const { headers } = this.#answer;
      const read = readUpstreamError({
        ...{ format, status: this.#status, headers, body },
        target: this.#call.target,
      });
      // Once the head of an answer has gone out, only one that goes on with another can be asked for again.
      const begins = !this.#answer.committed || this.#call.unfinished !== null;
      if (begins && this.#call.triedAgain(read.error)) this.#answer.abandon();
      else this.#answer.fail(read.error, { status: this.#status, headers, said: read.said, body: null });
      return;
    }
    const answer = parseObject(body.toString('utf8'));
    if (answer !== null && isObject(answer['error'])) {
      const { error } = readUpstreamError({
        ...{ format, status: 502, headers: this.#answer.headers, body },
        target: this.#call.target,
      });
      this.#answer.fail(error);
      return;
    }
    const { stream } = this.#upstream;
    if (answer === null && firstCharacter(body) === '[') {
      // Some stream a list of chunks although they were asked for events.
      const data = body.toString('utf8');
      this.#answer.deliver([...this.#reader.push({ event: '', data }), ...this.#reader.end()]);
      return;
    }
    if (answer === null) {
      this.#answer.fail(
        new GatewayError('upstream_protocol', 'The upstream answered with something that is no JSON'),
      );
      return;
    }
    this.#deliver(stream.framesOf(answer));
    this.#answer.deliver(this.#reader.end());
  }
}

const LF = 0x0a;
const CR = 0x0d;
