import type { IncomingHttpHeaders } from 'node:http';
import type { Codec, StreamCodec } from '../codecs/codec.ts';
import { restoreTools } from '../codecs/restore.ts';
import { ownSeals } from '../codecs/seal-owner.ts';
import type { PartReader } from '../codecs/stream-part.ts';
import { isObject, parseObject } from '../codecs/values.ts';
import { GatewayError } from '../lib/error.ts';
import { compacting } from '../responses/compact.ts';
import { firstCharacter, shapeOf } from './answer-shape.ts';
import type { AnswerReader } from './attempt.ts';
import type { Call } from './call.ts';
import type { Failure } from './failure.ts';
import { joined } from './meter.ts';
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

  constructor(call: Call, request: TranslatedRequest, keepAliveMs: number) {
    this.#call = call;
    this.#keepAliveMs = keepAliveMs;
    this.#answer = new TranslatedAnswer(call, request);
    const upstream = conversationCodec(call.target.format);
    this.#upstream = upstream;
    const restored = restoreTools(upstream.conversation.reader(), request.tools);
    const reader = ownSeals(restored, ownerOf(call.target));
    this.#reader = call.turn?.compacts === true ? compacting(reader, call.exchange.id) : reader;
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#answer.headers = headers;
    const id = headers['request-id'] ?? headers['x-request-id'];
    if (typeof id === 'string') this.#call.upstreamRequestId = id;
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
    if (!chunk.includes(LF) && !chunk.includes(CR)) return true;
    const { frames, rest } = this.#upstream.stream.split(joined(this.#pieces));
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#pieceBytes = rest.length;
    return this.#answer.deliver(frames.flatMap((frame) => this.#reader.push(frame)));
  }

  onEnd(): void {
    if (this.#answer.ended) return;
    const body = joined(this.#pieces);
    if (this.#shape !== 'stream') {
      this.#onWhole(body);
      return;
    }
    const { frames } = this.#upstream.stream.split(Buffer.concat([body, Buffer.from('\n\n')]));
    this.#answer.deliver([...frames.flatMap((frame) => this.#reader.push(frame)), ...this.#reader.end()]);
    if (!this.#answer.ended)
      this.#answer.fail(
        new GatewayError('upstream_cut', 'The upstream ended its stream without its final event'),
      );
  }

  onFailure(failure: Failure): void {
    if (this.#answer.ended) return;
    if (this.#answer.committed) this.#answer.fail(failure.error);
    else this.#call.failed(failure);
  }

  onCallerGone(): void {
    this.#answer.gone();
  }

  interrupt(error: GatewayError): void {
    if (!this.#answer.ended) this.#answer.fail(error);
  }

  tick(elapsed: number): void {
    if (this.#status < 300) this.#answer.tick(elapsed, this.#keepAliveMs);
  }

  #onWhole(body: Buffer): void {
    const { format } = this.#upstream;
    if (this.#status >= 400) {
      const { error } = readUpstreamError({
        ...{ format, status: this.#status, headers: this.#answer.headers, body },
        target: this.#call.target,
      });
      if (this.#call.triedAgain(error)) this.#answer.abandon();
      else this.#answer.answerError(error);
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
    const { frames } = stream.split(stream.encodeFramesOf(answer));
    this.#answer.deliver([...frames.flatMap((frame) => this.#reader.push(frame)), ...this.#reader.end()]);
  }
}

const LF = 0x0a;
const CR = 0x0d;
