import type { TranslationCodec } from '../codec.ts';
import { reasoningOwner } from '../encrypted-reasoning/owner.ts';
import { isObject, type JsonObject, parseObject } from '../json/values.ts';
import { type Dialect, dialectOf } from '../model/dialect.ts';
import { translateConversation, withoutTurns } from '../translate/request.ts';
import { codecOf } from './codec-of.ts';
import { TranslationError, withTranslationErrors } from './error.ts';
import type { Format } from './format.ts';
import { type AnswerContext, keep } from './kept-request.ts';

export type { AnswerContext } from './kept-request.ts';

/** A request to be translated. */
export interface RequestOptions {
  /** The format of the request. */
  from: Format;
  /** The format of the upstream that shall answer it. */
  to: Format;
  /**
   * The request's body: an object, or its JSON text. Only a text keeps the digits of numbers that a double cannot hold, such
   * as ids in the arguments of tools.
   */
  body: Readonly<Record<string, unknown>> | string;
  /** The model's name at the upstream. */
  model: string;
  /** Whether the answer is streamed, for a format whose path says so (`gemini`); other formats say it in the body. */
  stream?: boolean;
  /** How the upstream departs from its format; nothing where it is the format's own vendor or unknown. */
  dialect?: Partial<Dialect>;
  /** Tokens that the upstream writes at most: a higher bound in the request is lowered to it. */
  maxOutputTokens?: number;
  /** Fields that the upstream refuses, by their paths: `['seed', 'generationConfig.topK']`. They are left out, and named. */
  refusedFields?: readonly string[];
  /** Whether marks for the prompt cache are added where the client sets none; true where absent. */
  cacheMarks?: boolean;
  /**
   * A name of the upstream account that does not change. Encrypted reasoning of another account or model family is then
   * left out, which its vendor would refuse; where absent, all of the format's is sent.
   */
  account?: string;
}

/** A request in the upstream's format. */
export interface TranslatedRequest extends AnswerContext {
  /** The body to send, as an object for `JSON.stringify`. The same request gives the same text every time. */
  readonly body: Record<string, unknown>;
  /**
   * What follows the upstream's base path, where its format names the model there (`gemini`):
   * `/gemini-2.5-pro:streamGenerateContent?alt=sse`. Null for all other formats.
   */
  readonly path: string | null;
  /** What the upstream cannot express, by the request's field names, in order: `['seed', 'tools.0.strict']`. */
  readonly dropped: readonly string[];
  /** The client's bound of the answer that was lowered to `maxOutputTokens`: `max_tokens=8192`; null where none was. */
  readonly lowered: string | null;
}

/**
 * Translates a request from one wire format to another.
 * @throws TranslationError `invalid_json`, `invalid_request` or `not_translatable`, with the field at fault
 */
export function translateRequest(options: RequestOptions): TranslatedRequest {
  return withTranslationErrors(() => translated(options));
}

function translated(options: RequestOptions): TranslatedRequest {
  const { account, cacheMarks = true, maxOutputTokens: most = null, model, refusedFields = [] } = options;
  const client = codecOf(options.from, 'from');
  const upstream = codecOf(options.to, 'to');
  const request = requestIn(options, client);
  const owner = account === undefined ? null : reasoningOwner(account, model);
  const { body, conversation, dropped, lowered, ...rest } = translateConversation(request, {
    from: client,
    to: upstream,
    model,
    dialect: dialectOf(options.dialect),
    owner,
    refused: refusedFields,
    most,
    cacheMarks,
  });
  const { includeUsage, stream } = conversation;
  const translation = { body, path: upstream.pathOf?.(model, stream) ?? null, dropped, lowered, stream };
  keep(translation, {
    ...rest,
    client,
    upstream,
    model: typeof request['model'] === 'string' ? request['model'] : model,
    includeUsage,
    stream,
    owner,
    request: withoutTurns(request),
    characters: JSON.stringify(body).length,
  });
  return translation;
}

/** The request as its format's decoder takes it. */
function requestIn({ body, model, stream = false }: RequestOptions, client: TranslationCodec): JsonObject {
  const sent = typeof body === 'string' ? parseObject(body) : body;
  if (!isObject(sent)) throw new TranslationError('invalid_json', 'The request body is not a JSON object');
  return client.pathOf === null ? sent : { model, ...sent, stream };
}
