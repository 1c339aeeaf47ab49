import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../lib/error.ts';
import { type Answering, type AnswerReader, released } from '../answer/reader.ts';
import { firstCharacter } from '../answer/shape.ts';
import { asksForStream, type StreamQuestion, streamFlag } from '../inbound/wants-stream.ts';
import type { Failure } from '../request/failure.ts';
import { usedNothing } from '../request/use.ts';
import type { AttemptControl } from '../upstream/attempt.ts';
import { StreamRelay } from './stream.ts';
import { WholeRelay } from './whole.ts';

/** Some upstreams send white space while they think. Of so much, what the answer is is judged by its headers. */
const MAX_PREFIX_BYTES = 65_536;

/**
 * Carries one upstream answer of the caller's own format to the caller. What the answer is, a stream or a
 * whole body, is decided by its first byte, because upstreams mislabel both.
 */
export class Relay implements AnswerReader {
  #answering: Answering;
  #attempt: AttemptControl | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #stream: StreamRelay | null = null;
  #whole: WholeRelay | null = null;
  /** White space before the first character, kept until the answer's kind is known. */
  readonly #prefix: Buffer[] = [];
  #prefixBytes = 0;

  constructor(answering: Answering) {
    this.#answering = answering;
  }

  onHead(status: number, headers: IncomingHttpHeaders, attempt: AttemptControl): void {
    this.#attempt = attempt;
    this.#status = status;
    this.#headers = headers;
    this.#answering.sink.head(status, headers);
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
    else this.#answering.sink.settled({ kind: 'failed', failure });
  }

  /** The caller left: what was used up to now is what counts. */
  onCallerGone(): void {
    const { caller, sink } = this.#answering;
    if (this.#stream !== null) this.#stream.onCallerGone();
    else {
      const used = this.#whole?.used() ?? usedNothing;
      sink.settled({ kind: 'client-gone', streamed: caller.state !== 'unopened', used });
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
    if (this.#answering.caller.state === 'opened') return true;
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
    if (this.#answering.caller.state === 'unopened' && !asksForStream(this.#asked))
      return this.#openWhole('assembled').onData(bytes);
    this.#stream = new StreamRelay(this.#answering, this.#headers);
    this.#answering = released(this.#answering);
    return this.#stream.onData(bytes);
  }

  #isStream(first: string): boolean {
    const { stream } = this.#answering.facts.codec;
    if (stream === null) return false;
    if (stream.framing === 'lines') return streamFlag(this.#asked);
    const json = first === '{' || first === '[' || first === '<';
    return !json && (/[deri:]/.test(first) || isEventStream(this.#headers));
  }

  #openWhole(shape: 'as-is' | 'assembled'): WholeRelay {
    this.#whole ??= new WholeRelay(this.#answering, {
      status: this.#status,
      headers: this.#headers,
      shape,
      attempt: this.#attempt,
    });
    return this.#whole;
  }

  get #asked(): StreamQuestion {
    const { facts, request } = this.#answering;
    return { body: request.asked, codec: facts.codec, named: facts.named };
  }
}

function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}
