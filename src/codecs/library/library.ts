/**
 * Translation between the wire formats of model APIs: requests, whole answers and streams. Pure: no I/O, no globals of
 * Node.js, one dependency (`tokenx`, for `countTokens`). The guide is docs/codecs.md; what each pair of formats cannot carry is
 * in docs/translation.md.
 */
export type { Dialect } from '../model/dialect.ts';
export type { StreamPart } from '../model/stream-part.ts';
export type { Usage } from '../wire-format.ts';
export type { AnswerOptions } from './answer-options.ts';
export { type CompatibilityRow, compatibility } from './compatibility.ts';
export { TranslationError, type TranslationErrorCode } from './error.ts';
export type { Format, FormatName } from './format.ts';
export { anthropicMessages } from './formats/anthropic-messages.ts';
export { gemini } from './formats/gemini.ts';
export { ollama } from './formats/ollama.ts';
export { openaiChat } from './formats/openai-chat.ts';
export { openaiCompletions } from './formats/openai-completions.ts';
export { openaiResponses } from './formats/openai-responses.ts';
export {
  type AnswerContext,
  type RequestOptions,
  type TranslatedRequest,
  translateRequest,
} from './request.ts';
export { type ResponseOptions, type TranslatedResponse, translateResponse } from './response.ts';
export {
  type AnswerReader,
  type AnswerWriter,
  createAnswerReader,
  createAnswerWriter,
  type StreamOptions,
  translateStream,
} from './stream.ts';
export { type CountOptions, countTokens } from './tokens.ts';
