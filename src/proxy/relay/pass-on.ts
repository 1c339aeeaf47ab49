import type { IncomingHttpHeaders } from 'node:http';
import { codecOf } from '../../codecs/index.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { resetConnection } from '../../http/server/reset.ts';
import type { HttpExchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import { type AnswerModel, modelInStream, modelInWhole } from '../answer/model.ts';
import { Tap } from '../metering/meter.ts';
import type { LateAnswer } from '../request/answer-usage.ts';
import type { Failure } from '../request/failure.ts';
import type { OpenCall } from '../request/open-call.ts';
import { Attempt, type AttemptReader, type UpstreamRequest } from '../upstream/attempt.ts';
import { readUpstreamError } from '../upstream/error.ts';
import type { FetchContext } from '../upstream/fetch.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { redactSecrets } from '../upstream/redaction.ts';
import type { UpstreamContext } from '../upstream/request.ts';
import { jsonAnswer, notJson } from './json-answer.ts';

/** Of an answer that is no stream. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;

export interface PassOnInput {
  exchange: HttpExchange;
  request: UpstreamRequest;
  target: Target;
  /** What the client calls the model; null leaves the upstream's name. */
  model: string | null;
  /** Told of the use that the answer reports, when that is complete. */
  onUsage?: (answer: LateAnswer) => void;
}

/**
 * Asks an upstream something that uses no tokens, and passes its answer on as it is, but for the name of the model: a
 * stream while it comes, all else in one piece.
 * @returns the status that was answered
 * @throws GatewayError when no answer came, or one that is no proper error of the target's format
 */
export function passOn(
  context: FetchContext & Pick<UpstreamContext, 'tokens'>,
  input: PassOnInput,
): Promise<number> {
  const { exchange, model, request, target, onUsage = null } = input;
  const { promise, reject, resolve } = Promise.withResolvers<number>();
  const redact = (text: string) => redactSecrets(context, target.connection, text);
  const reader = new PassingReader({ exchange, model, target, onUsage, redact, reject, resolve });
  const attempt = new Attempt(request.host, reader, context.config.timeouts);
  const { response } = exchange;
  const open: OpenCall = {
    slot: -1,
    tick: (elapsed) => attempt.tick(elapsed),
    interrupt(error) {
      attempt.abort();
      reader.onFailure({ error, safeToRetry: false });
    },
  };
  response.on('drain', () => attempt.resume());
  response.on('close', () => {
    attempt.abort();
    reject(new GatewayError('client_closed', 'The client went away'));
  });
  context.watch.add(open);
  attempt.start(request);
  return promise.finally(() => context.watch.remove(open));
}

interface ReaderInput extends Pick<PassOnInput, 'exchange' | 'model' | 'target'> {
  onUsage: ((answer: LateAnswer) => void) | null;
  redact(text: string): string;
  resolve(status: number): void;
  reject(error: GatewayError): void;
}

class PassingReader implements AttemptReader {
  readonly #input: ReaderInput;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #streams = false;
  readonly #tap = new Tap('sse');
  #model: AnswerModel | null = null;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(input: ReaderInput) {
    this.#input = input;
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (status >= 300 && status < 400)
      throw new GatewayError(
        'upstream_redirect',
        `The upstream answered with a redirect (${status}); check the connection's base URL`,
      );
    this.#streams = status < 300 && (headers['content-type'] ?? '').startsWith('text/event-stream');
    this.#model = status < 300 ? this.#naming() : null;
    if (this.#streams) this.#writeHead(status, null);
  }

  onData(chunk: Buffer): boolean {
    const { response } = this.#input.exchange;
    if (this.#streams) {
      if (this.#input.onUsage !== null) this.#tap.push(chunk);
      return response.write(this.#model === null ? chunk : this.#model.push(chunk));
    }
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_WHOLE_BYTES)
      throw new GatewayError('upstream_protocol', "The upstream's answer is too large");
    return true;
  }

  onEnd(): void {
    const { exchange, reject, resolve, target } = this.#input;
    const { request, response } = exchange;
    if (this.#streams) {
      response.end();
      const facts = codecOf(target.format).stream?.readStream(this.#tap.head(), this.#tap.tail());
      if (facts !== undefined && facts.end !== 'cut')
        this.#reportUsage(facts.usage, this.#tap.head(), this.#tap.tail(), 'stream');
      resolve(this.#status);
      return;
    }
    let body: Buffer = Buffer.concat(this.#pieces);
    if (this.#status >= 400) {
      const read = readUpstreamError({
        format: target.format,
        status: this.#status,
        headers: this.#headers,
        body,
        target,
        redact: this.#input.redact,
      });
      if (read.body === null) {
        reject(read.error);
        return;
      }
      body = Buffer.from(read.body);
    } else if (this.#isDamaged(body)) {
      reject(notJson(this.#status, this.#headers['content-type'], body));
      return;
    } else if (this.#model !== null) body = this.#model.whole(body);
    this.#writeHead(this.#status, body.length);
    response.end(request.method === 'HEAD' ? '' : body);
    if (this.#status < 300) this.#reportUsage(codecOf(target.format).readUsage(body), body, body, 'body');
    resolve(this.#status);
  }

  onFailure({ error }: Failure): void {
    const { exchange, reject, resolve } = this.#input;
    if (!this.#streams) {
      reject(error);
      return;
    }
    // What was cut must not look finished.
    resetConnection(exchange.response);
    resolve(this.#status);
  }

  #isDamaged(body: Buffer): boolean {
    const labelled = this.#headers['content-type']?.includes('json') ?? false;
    return labelled && body.length > 0 && jsonAnswer(body) === null;
  }

  #naming(): AnswerModel | null {
    const { model, target } = this.#input;
    const codec = codecOf(target.format);
    if (model === null) return null;
    if (!this.#streams) return modelInWhole(codec, model);
    return codec.stream === null ? null : modelInStream(codec.stream, model);
  }

  #reportUsage(usage: Usage | null, head: Buffer, tail: Buffer, kind: 'body' | 'stream'): void {
    if (usage === null) return;
    const codec = codecOf(this.#input.target.format);
    const tier = codec.readTier?.(head, tail, kind) ?? null;
    const finishReason = codec.readFinishReason?.(tail, kind) ?? null;
    this.#input.onUsage?.({ usage, tier, finishReason });
  }

  #writeHead(status: number, length: number | null): void {
    const { exchange, target } = this.#input;
    const headers = clientHeaders(status, this.#headers);
    headers.push('x-request-id', exchange.id, 'x-gateway-provider', target.provider.id);
    if (length !== null) headers.push('content-length', String(length));
    exchange.response.writeHead(status, headers);
  }
}
