import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { hasPromptCounts, promptUsage } from '../usage/token-counts.ts';
import { lastUsage } from '../usage/usage-bytes.ts';
import type { Codec } from '../wire-codec.ts';

/** OpenAI's embeddings: one request, one answer, no stream and no generated text. */
export const openaiEmbeddings: Codec = {
  format: 'openai-embeddings',
  path: '/embeddings',
  pathOf: null,
  operation: 'embeddings',
  usualUsage: {},
  stream: null,
  conversation: null,
  requestFields: {},
  answerModel: 'model',
  readUsage(body) {
    const usageObject = lastUsage(body, { kind: 'body', maxDepth: 1, accepts: hasPromptCounts });
    return usageObject === null ? null : promptUsage(usageObject.counts);
  },
  responseTextBytes: () => 0,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
