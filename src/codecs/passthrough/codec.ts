import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import type { Codec } from '../wire-codec.ts';
import type { WireFormat } from '../wire-format.ts';
import type { MediaCodec } from './media.ts';

/** A codec of a format that passes through as bytes. Errors are those of OpenAI, whose clients all of them have. */
export function passed(format: WireFormat, path: string, media: MediaCodec): Codec {
  return {
    format,
    path,
    pathOf: null,
    stream: null,
    conversation: null,
    requestFields: {},
    answerModel: null,
    media,
    readUsage: (body) =>
      media.usageOfAnswer({ kind: 'json', head: body, tail: body, counted: 0 })?.usage ?? null,
    responseTextBytes: () => 0,
    errorBody: openAiErrorBody,
    encodeError: openAiError,
  };
}
