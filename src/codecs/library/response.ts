import type { Frame } from '../../lib/streams/sse.ts';
import { isObject, parseObject } from '../json/values.ts';
import { reportsError } from '../translate/answer.ts';
import type { Usage } from '../wire-format.ts';
import { framesFor, partsFor } from './answer.ts';
import type { AnswerOptions } from './answer-options.ts';
import { TranslationError, withTranslationErrors } from './error.ts';
import { keptRequest } from './kept-request.ts';
import type { AnswerContext } from './request.ts';

/** A whole answer to be translated. */
export interface ResponseOptions extends AnswerOptions {
  /** What `translateRequest` returned for the request that is answered. */
  request: AnswerContext;
  /** The upstream's answer: an object, or its JSON text, which keeps the digits of numbers that a double cannot hold. */
  body: Readonly<Record<string, unknown>> | string;
}

/** A whole answer in the client's format. */
export interface TranslatedResponse {
  /** The body for the client, as an object for `JSON.stringify`. */
  readonly body: Record<string, unknown>;
  /** What the answer used, as the upstream reported it; null where it did not, and the body has an estimate. */
  readonly usage: Usage | null;
  /** Why the answer ended, in the upstream's own word (`max_tokens`, `MAX_TOKENS`); null where it said none. */
  readonly rawFinishReason: string | null;
}

/**
 * Translates a whole answer of the upstream back to the client's format.
 * @throws TranslationError `invalid_json`; `upstream_error`, with the status that the reported failure deserves;
 * `upstream_cut` and `upstream_protocol` for what is no finished answer
 */
export function translateResponse(options: ResponseOptions): TranslatedResponse {
  return withTranslationErrors(() => translated(options));
}

function translated({ body, request, ...options }: ResponseOptions): TranslatedResponse {
  const requestCopy = keptRequest(request);
  const answer = typeof body === 'string' ? parseObject(body) : body;
  if (!isObject(answer)) throw new TranslationError('invalid_json', 'The answer is not a JSON object');
  if (reportsError(answer)) {
    const { message, status } = requestCopy.upstream.stream.readError({
      event: 'error',
      data: JSON.stringify(answer),
    });
    throw new TranslationError('upstream_error', message, { status });
  }
  const reader = partsFor(requestCopy);
  const writer = framesFor(requestCopy, options, false);
  const frames: Frame[] = [];
  let rawFinishReason: string | null = null;
  const read = requestCopy.upstream.stream.framesOf(answer).flatMap((frame) => reader.push(frame));
  for (const part of [...read, ...reader.end()]) {
    if (part.type === 'error') throw new TranslationError('upstream_error', part.error.message, part.error);
    if (part.type === 'message-end') rawFinishReason = part.rawFinishReason;
    frames.push(...writer.push(part));
  }
  const whole = requestCopy.client.stream.assemble(frames);
  if (whole === null)
    throw new TranslationError('upstream_protocol', 'The answer is not a complete answer of its format');
  return { body: whole, usage: writer.usage(), rawFinishReason };
}
