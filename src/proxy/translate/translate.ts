import type { IncomingHttpHeaders } from 'node:http';
import type { Codec, StreamCodec } from '../../codecs/codec.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { PartReader, StreamPart } from '../../codecs/model/stream-part.ts';
import { reportsError } from '../../codecs/translate/answer.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Frame } from '../../lib/sse.ts';
import { firstCharacter, shapeOf } from '../answer/shape.ts';
import type { Call } from '../dispatch/call.ts';
import { joined } from '../metering/meter.ts';
import type { AnswerReader } from '../upstream/attempt.ts';
import { readUpstreamError } from '../upstream/error.ts';
import type { Failure } from '../upstream/failure.ts';
import { TranslatedAnswer } from './answer.ts';
import { answerParts } from './answer-chain.ts';
import { conversationCodec, type TranslatedRequest } from './request.ts';

/** Most bytes of one whole answer, or of one frame of a stream. */
const HELD_BYTES = 16 * 1024 * 1024;

/** Carries one upstream answer of another format to the caller, part by part. */
export class Translation implements AnswerReader {
  readonly #call: Call;
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

  constructor(call: Call, request: TranslatedRequest) {
    this.#call = call;
    this.#answer = new TranslatedAnswer(call, request);
    this.#upstream = conversationCodec(call.target.format);
    this.#reader = answerParts({
      target: call.target,
      request,
      compactionOf: call.turn?.compacts === true ? call.exchange.id : null,
      begun: call.partialAnswer?.begun ?? null,
    });
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
    const unheard = failure.safeToRetry && this.#call.partialAnswer !== null;
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

  /** What is written are whole frames. */
  takesKeepAlive(): boolean {
    return this.#status < 300 || this.#call.caller.state !== 'unopened';
  }

  #onWhole(body: Buffer): void {
    if (this.#status >= 400) {
      this.#onError(this.#status, body);
      return;
    }
    const { stream } = this.#upstream;
    const answer = parseObject(body.toString('utf8'));
    if (answer !== null && reportsError(answer)) {
      const { status } = stream.readError({ event: 'error', data: body.toString('utf8') });
      this.#onError(status, body);
      return;
    }
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

  /** @param status the upstream's, or the one that an error sent with HTTP 200 deserves */
  #onError(status: number, body: Buffer): void {
    const { headers } = this.#answer;
    const read = readUpstreamError({
      format: this.#upstream.format,
      status,
      headers,
      body,
      target: this.#call.target,
      redact: this.#call.redact,
    });
    if (this.#call.triedAgain(read.error)) this.#answer.abandon();
    else this.#answer.fail(read.error, { answer: { status, headers, said: read.said, body: null } });
  }
}

const LF = 0x0a;
const CR = 0x0d;
