import type { IncomingHttpHeaders } from 'node:http';
import type { StreamCodec } from '../../codecs/codec.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { PartReader, StreamPart } from '../../codecs/model/stream-part.ts';
import { reportsError } from '../../codecs/translate/answer.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import type { Target } from '../../combos/target.ts';
import { GatewayError } from '../../lib/error.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import type { Frame } from '../../lib/streams/sse.ts';
import type { ClientStream } from '../answer/client-stream.ts';
import type { AnswerReader, ReaderContext } from '../answer/reader.ts';
import { firstCharacter, shapeOf } from '../answer/shape.ts';
import type { Failure } from '../request/failure.ts';
import type { AnswerSink } from '../request/outcome.ts';
import type { RequestInFormat } from '../request/outgoing.ts';
import type { AttemptControl } from '../upstream/attempt.ts';
import { readUpstreamError } from '../upstream/error.ts';
import { TranslatedAnswer } from './answer.ts';
import { answerParts } from './answer-chain.ts';
import { conversationCodec } from './request.ts';

/** Most bytes of one whole answer, or of one frame of a stream. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Carries one upstream answer of another format to the client, part by part. */
export class Translation implements AnswerReader {
  readonly #sink: AnswerSink;
  readonly #client: ClientStream;
  readonly #redact: ReaderContext['redact'];
  readonly #target: Target;
  /** Another target began the answer. */
  readonly #continues: boolean;
  #attempt: AttemptControl | null = null;
  readonly #upstream: Codec & { stream: StreamCodec };
  readonly #reader: PartReader;
  readonly #answer: TranslatedAnswer;
  #status = 0;
  /** Bytes of an unfinished frame, or all bytes of a whole answer. */
  readonly #bytes: FrameBuffer<Buffer>;
  #shape: 'unknown' | 'stream' | 'whole' = 'unknown';
  /** Whether records wait for the end of this turn of the event loop. */
  #waiting = false;

  constructor(context: ReaderContext, translation: RequestInFormat) {
    const { partial, target } = context.request;
    const { exchange, responseState } = context.facts;
    this.#sink = context.sink;
    this.#client = context.client;
    this.#redact = context.redact;
    this.#target = target;
    this.#continues = partial !== null;
    this.#answer = new TranslatedAnswer(context, translation);
    const upstream = conversationCodec(target.format);
    this.#upstream = upstream;
    this.#bytes = new FrameBuffer((bytes) => upstream.stream.split(bytes));
    this.#reader = answerParts({
      target,
      request: translation,
      compactionOf: responseState?.compacts === true ? exchange.id : null,
      prefix: partial?.prefix ?? null,
    });
  }

  onHead(status: number, headers: IncomingHttpHeaders, attempt: AttemptControl): void {
    this.#status = status;
    this.#attempt = attempt;
    this.#answer.headers = headers;
    this.#sink.head(status, headers);
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
    const mayBeComplete = this.#bytes.add(chunk);
    if (this.#bytes.length > MAX_BUFFERED_BYTES) {
      const what = this.#shape === 'whole' ? 'answer' : 'stream has a record that';
      this.#answer.fail(
        new GatewayError(
          'upstream_protocol',
          `The upstream's ${what} is larger than ${MAX_BUFFERED_BYTES} bytes`,
        ),
      );
      return true;
    }
    if (this.#shape !== 'stream') return true;
    if (mayBeComplete && !this.#waiting) {
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
      this.#attempt?.fail(error);
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
    this.#deliver(this.#bytes.read());
  }

  #deliver(frames: readonly Frame[]): void {
    const parts: StreamPart[] = [];
    for (const frame of frames) for (const part of this.#reader.push(frame)) parts.push(part);
    this.#answer.deliver(parts);
  }

  onEnd(): void {
    this.#read();
    if (this.#answer.ended) return;
    if (this.#shape !== 'stream') {
      this.#onWhole(this.#bytes.take());
      return;
    }
    this.#deliver(this.#bytes.end());
    this.#answer.deliver(this.#reader.end());
    if (!this.#answer.ended)
      this.#answer.fail(
        new GatewayError('upstream_cut', 'The upstream ended its stream without its final event'),
      );
  }

  onFailure(failure: Failure): void {
    this.#readBeforeEnd();
    if (this.#answer.ended) return;
    // The target that was to continue has not received it: its old connection was closed.
    const canRetry = failure.safeToRetry && this.#continues;
    if (this.#answer.committed && !canRetry) this.#answer.fail(failure.error);
    else this.#sink.settled({ kind: 'failed', failure });
  }

  onClientGone(): void {
    this.#readBeforeEnd();
    this.#answer.clientGone();
  }

  interrupt(error: GatewayError): void {
    this.#readBeforeEnd();
    if (!this.#answer.ended) this.#answer.interrupt(error);
  }

  /** What is written are whole frames. */
  takesKeepAlive(): boolean {
    return this.#status < 300 || this.#client.state !== 'unopened';
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
        new GatewayError('upstream_protocol', 'The upstream answered with something that is not JSON'),
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
      target: this.#target,
      redact: this.#redact,
    });
    this.#answer.fail(read.error, { answer: { status, headers, errorText: read.errorText, body: null } });
  }
}
