import { anthropicMessages } from './anthropic-messages/codec.ts';
import type { Codec } from './codec.ts';
import { gemini } from './gemini/codec.ts';
import type { WireFormat } from './model.ts';
import { ollama } from './ollama/codec.ts';
import { openaiChat } from './openai-chat/codec.ts';
import { openaiCompletions } from './openai-completions/codec.ts';
import { openaiEmbeddings } from './openai-embeddings/codec.ts';
import { openaiResponses } from './openai-responses/codec.ts';

/** Every wire format the gateway speaks. */
export const codecs: readonly Codec[] = [
  openaiChat,
  openaiResponses,
  openaiCompletions,
  openaiEmbeddings,
  anthropicMessages,
  gemini,
  ollama,
];

const byFormat = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'openai-completions': openaiCompletions,
  'openai-embeddings': openaiEmbeddings,
  'anthropic-messages': anthropicMessages,
  gemini,
  ollama,
} as const satisfies Record<WireFormat, Codec>;

export function codecOf(format: WireFormat): Codec {
  return byFormat[format];
}
