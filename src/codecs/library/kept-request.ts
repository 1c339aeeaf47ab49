import type { TranslationCodec } from '../codec.ts';
import type { JsonObject } from '../json/values.ts';
import type { RequestTranslation } from '../translate/request.ts';
import { TranslationError } from './error.ts';

/** What an answer needs of the request that it answers. Opaque: it goes to the functions that translate answers. */
export interface AnswerContext {
  /** Whether the client requested a stream. */
  readonly stream: boolean;
}

/** What is kept of a request for its answer. */
export interface KeptRequest extends Pick<RequestTranslation, 'tools' | 'oneCall' | 'allowedTools'> {
  client: TranslationCodec;
  upstream: TranslationCodec;
  /** The model as the client named it. */
  model: string;
  includeUsage: boolean;
  stream: boolean;
  owner: string | null;
  /** The request, without what no answer repeats. */
  request: JsonObject;
  /** Characters of the translated body, to estimate its tokens by. */
  characters: number;
}

/** Kept for as long as the translated request is, and out of the sight of programs. */
const requests = /* @__PURE__ */ new WeakMap<AnswerContext, KeptRequest>();

/** Keeps what the answer to a translated request needs. */
export function keep(context: AnswerContext, request: KeptRequest): void {
  requests.set(context, request);
}

/**
 * What was kept of a translated request.
 * @throws TranslationError for an object that `translateRequest` did not make
 */
export function keptRequest(context: AnswerContext): KeptRequest {
  const request = requests.get(context);
  if (request === undefined)
    throw new TranslationError(
      'invalid_request',
      '"request" must be what translateRequest returned, the same object and no copy of it',
      { field: 'request' },
    );
  return request;
}
