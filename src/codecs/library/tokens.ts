import { isObject, parseObject } from '../json/values.ts';
import { conversationTokens } from '../usage/token-estimate.ts';
import { codecOf } from './codec-of.ts';
import { TranslationError, withTranslationErrors } from './error.ts';
import type { Format } from './format.ts';

/** A request whose tokens are to be counted. */
export interface CountOptions {
  /** The format of the request. */
  format: Format;
  /** The request's body: an object, or its JSON text. */
  body: Readonly<Record<string, unknown>> | string;
}

/**
 * About how many tokens of input a request is: its instructions, messages, tools, schemas and attachments. An estimate
 * without a vendor's tokenizer, within some 10 % of OpenAI's own count for prose and code.
 * @returns a whole number of tokens, at least 1
 * @throws TranslationError `invalid_json` or `invalid_request`, with the field at fault
 */
export function countTokens({ body, format }: CountOptions): number {
  return withTranslationErrors(() => {
    const { conversation, pathOf } = codecOf(format, 'format');
    const request = typeof body === 'string' ? parseObject(body) : body;
    if (!isObject(request))
      throw new TranslationError('invalid_json', 'The request body is not a JSON object');
    const named = pathOf === null ? request : { model: '', stream: false, ...request };
    return Math.max(1, Math.ceil(conversationTokens(conversation.decodeRequest(named))));
  });
}
