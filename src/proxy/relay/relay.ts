import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../lib/error.ts';
import { firstCharacter } from '../answer/shape.ts';
import { type Call, callerGone } from '../dispatch/call.ts';
import { asksForStream, streamFlag } from '../inbound/wants-stream.ts';
import type { AnswerReader } from '../upstream/attempt.ts';
import type { Failure } from '../upstream/failure.ts';
import { StreamRelay } from './stream.ts';
import { WholeRelay } from './whole.ts';

/** Some upstreams send white space while they think. Of so much, what the answer is is judged by its headers. */
const MAX_PREFIX_BYTES = 65_536;

/**
 * Carries one upstream answer of the caller's own format to the caller. What the answer is, a stream or a
 * whole body, is decided by its first byte, because upstreams mislabel both.
 */
export class Relay implements AnswerReader {
  readonly #call: Call;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #stream: StreamRelay | null = null;
  #whole: WholeRelay | null = null;
  /** White space before the first character, kept until the answer's kind is known. */
  readonly #prefix: Buffer[] = [];
  #prefixBytes = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    this.#call.heard(status, headers);
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
    else this.#call.failed(failure);
  }

  /** The caller left: what was used up to now is what counts. */
  onCallerGone(): void {
    if (this.#stream !== null) this.#stream.onCallerGone();
    else this.#call.end(callerGone(this.#call.caller.state !== 'unopened'));
  }

  /** Ends an open stream with the dialect's error event because the gateway stops. */
  interrupt(error: GatewayError): void {
    const failure = { error, safeToRetry: false };
    if (this.#stream !== null) this.#stream.interrupt(failure);
    else this.onFailure(failure);
  }

  takesKeepAlive(): boolean {
    if (this.#stream !== null) return this.#stream.endsFrame;
    if (this.#call.caller.state === 'opened') return true;
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
    if (this.#call.caller.state === 'unopened' && !asksForStream(this.#call))
      return this.#openWhole('assembled').onData(bytes);
    this.#stream = new StreamRelay(this.#call, this.#headers);
    return this.#stream.onData(bytes);
  }

  #isStream(first: string): boolean {
    const { stream } = this.#call.codec;
    if (stream === null) return false;
    if (stream.framing === 'lines') return streamFlag(this.#call);
    const json = first === '{' || first === '[' || first === '<';
    return !json && (/[deri:]/.test(first) || isEventStream(this.#headers));
  }

  #openWhole(shape: 'as-is' | 'assembled'): WholeRelay {
    this.#whole ??= new WholeRelay(this.#call, { status: this.#status, headers: this.#headers, shape });
    return this.#whole;
  }
}

function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}
