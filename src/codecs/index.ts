import { anthropicMessages } from './anthropic-messages/codec.ts';
import { gemini } from './gemini/codec.ts';
import { ollama } from './ollama/codec.ts';
import { openaiSpeech, openaiTranscriptions, openaiTranslations } from './openai-audio/codec.ts';
import { openaiChat } from './openai-chat/codec.ts';
import { openaiCompletions } from './openai-completions/codec.ts';
import { openaiEmbeddings } from './openai-embeddings/codec.ts';
import { openaiImageEdits, openaiImages } from './openai-images/codec.ts';
import { openaiModerations } from './openai-moderations/codec.ts';
import { openaiResponses } from './openai-responses/codec.ts';
import { rerank } from './rerank/codec.ts';
import type { Codec } from './wire-codec.ts';
import type { WireFormat } from './wire-format.ts';

/** Of the formats that are translated, the one that can express most and is served best first: it is preferred as the target of a translation. */
const byFormat = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
  ollama,
  'openai-completions': openaiCompletions,
  'openai-embeddings': openaiEmbeddings,
  'openai-images': openaiImages,
  'openai-image-edits': openaiImageEdits,
  'openai-speech': openaiSpeech,
  'openai-transcriptions': openaiTranscriptions,
  'openai-translations': openaiTranslations,
  'openai-moderations': openaiModerations,
  rerank,
} as const satisfies Record<WireFormat, Codec>;

/** Every wire format the gateway speaks. */
export const codecs: readonly Codec[] = Object.values(byFormat);

export function codecOf(format: WireFormat): Codec {
  return byFormat[format];
}
