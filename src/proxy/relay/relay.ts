import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../lib/error.ts';
import { type AnswerReader, type ReaderContext, released } from '../answer/reader.ts';
import { firstCharacter } from '../answer/shape.ts';
import { asksForStream, type StreamQuestion, streamFlag } from '../inbound/wants-stream.ts';
import { noAnswerUsage } from '../request/answer-usage.ts';
import type { Failure } from '../request/failure.ts';
import type { AttemptControl } from '../upstream/attempt.ts';
import { StreamRelay } from './stream.ts';
import { WholeRelay } from './whole.ts';

/** Some upstreams send white space while they think. Of so much, what the answer is is judged by its headers. */
const MAX_PREFIX_BYTES = 65_536;

/**
 * Carries one upstream answer of the client's own format to the client. What the answer is, a stream or a
 * whole body, is decided by its first byte, because upstreams mislabel both.
 */
export class Relay implements AnswerReader {
  #context: ReaderContext;
  #attempt: AttemptControl | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #stream: StreamRelay | null = null;
  #whole: WholeRelay | null = null;
  /** White space before the first character, kept until the answer's kind is known. */
  readonly #prefix: Buffer[] = [];
  #prefixBytes = 0;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  onHead(status: number, headers: IncomingHttpHeaders, attempt: AttemptControl): void {
    this.#attempt = attempt;
    this.#status = status;
    this.#headers = headers;
    this.#context.sink.head(status, headers);
    if (status >= 300 && status < 400) {
      throw new GatewayError(
        'upstream_redirect',
        `The upstream answered with a redirect (${status}); check the connection's base URL`,
      );
    }
  }

  onData(chunk: Buffer): boolean {
    return (this.#stream ?? this.#whole)?.onData(chunk) ?? this.#choose(chunk);
  }

  onEnd(): void {
    if (this.#stream !== null) this.#stream.onEnd();
    else this.#openWhole('as-is').onEnd();
  }

  onFailure(failure: Failure): void {
    if (this.#stream !== null) this.#stream.onFailure(failure);
    else if (this.#whole !== null) this.#whole.onFailure(failure);
    else this.#context.sink.settled({ kind: 'failed', failure });
  }

  /** The client left: what was used up to now is what counts. */
  onClientGone(): void {
    const { client, sink } = this.#context;
    if (this.#stream !== null) this.#stream.onClientGone();
    else {
      const answerUsage = this.#whole?.answerUsage() ?? noAnswerUsage;
      sink.settled({ kind: 'client-gone', streamed: client.state !== 'unopened', answerUsage });
    }
  }

  /** Ends an open stream with the dialect's error event because the gateway stops. */
  interrupt(error: GatewayError): void {
    const failure = { error, safeToRetry: false };
    if (this.#stream !== null) this.#stream.interrupt(failure);
    else this.onFailure(failure);
  }

  takesKeepAlive(): boolean {
    if (this.#stream !== null) return this.#stream.endsFrame;
    if (this.#context.client.state === 'opened') return true;
    return this.#whole === null && (this.#status === 0 || isEventStream(this.#headers));
  }

  #choose(chunk: Buffer): boolean {
    const first = firstCharacter(chunk);
    if (first === '' && this.#prefixBytes < MAX_PREFIX_BYTES) {
      this.#prefix.push(chunk);
      this.#prefixBytes += chunk.length;
      return true;
    }
    const bytes = this.#prefix.length === 0 ? chunk : Buffer.concat([...this.#prefix, chunk]);
    if (this.#status >= 300 || !this.#isStream(first)) return this.#openWhole('as-is').onData(bytes);
    if (this.#context.client.state === 'unopened' && !asksForStream(this.#streamQuestion))
      return this.#openWhole('assembled').onData(bytes);
    this.#stream = new StreamRelay(this.#context, this.#headers);
    this.#context = released(this.#context);
    return this.#stream.onData(bytes);
  }

  #isStream(first: string): boolean {
    const { stream } = this.#context.facts.codec;
    if (stream === null) return false;
    if (stream.framing === 'lines') return streamFlag(this.#streamQuestion);
    const json = first === '{' || first === '[' || first === '<';
    return !json && (/[deri:]/.test(first) || isEventStream(this.#headers));
  }

  #openWhole(shape: 'as-is' | 'assembled'): WholeRelay {
    this.#whole ??= new WholeRelay(this.#context, {
      status: this.#status,
      headers: this.#headers,
      shape,
      attempt: this.#attempt,
    });
    return this.#whole;
  }

  get #streamQuestion(): StreamQuestion {
    const { facts, request } = this.#context;
    return { body: request.clientBody, codec: facts.codec, named: facts.named };
  }
}

function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}
