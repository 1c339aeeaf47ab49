import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { hasPromptCounts, promptUsage } from '../usage/token-counts.ts';
import { lastUsage } from '../usage/usage-bytes.ts';
import type { Codec } from '../wire-codec.ts';

/** OpenAI's moderations: one request, one answer. OpenAI reports no usage; what others report is read. */
export const openaiModerations: Codec = {
  format: 'openai-moderations',
  path: '/moderations',
  pathOf: null,
  operation: 'moderation',
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
