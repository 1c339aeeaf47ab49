import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { hasPromptCounts, promptUsage } from '../usage/token-counts.ts';
import { lastUsage } from '../usage/usage-bytes.ts';
import type { Codec } from '../wire-codec.ts';

/** OpenAI's moderations: one request, one answer. OpenAI reports no usage; what others report is read. */
export const openaiModerations: Codec = {
  format: 'openai-moderations',
  path: '/moderations',
  pathOf: null,
  stream: null,
  conversation: null,
  requestFields: {},
  answerModel: 'model',
  readUsage(body) {
    const found = lastUsage(body, { kind: 'body', maxDepth: 1, accepts: hasPromptCounts });
    return found === null ? null : promptUsage(found.counts);
  },
  responseTextBytes: () => 0,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
