import { fieldNeedle } from '../json/needle.ts';
import { countIn, isCount, type JsonObject, MAX_COUNT } from '../json/values.ts';
import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { hasPromptCounts, promptUsage } from '../usage/token-counts.ts';
import { lastUsage, type UsageSearch } from '../usage/usage-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { noUsage } from '../wire-format.ts';

const hasUnits = (counts: JsonObject) => isCount(counts['search_units']);
const billed: UsageSearch = {
  kind: 'body',
  key: fieldNeedle('billed_units'),
  maxDepth: 2,
  accepts: hasUnits,
};
const used: UsageSearch = {
  kind: 'body',
  maxDepth: 1,
  accepts: (counts) => hasUnits(counts) || hasPromptCounts(counts),
};

/**
 * `/v1/rerank`, which Cohere and Jina made common: `{model, query, documents}` gives `{results: [{index,
 * relevance_score}]}`. Cohere bills search units (`meta.billed_units`), the others tokens (`usage`).
 */
export const rerank: Codec = {
  format: 'rerank',
  path: '/rerank',
  pathOf: null,
  operation: 'rerank',
  usualUsage: { searchUnits: 1 },
  stream: null,
  conversation: null,
  requestFields: {},
  answerModel: 'model',
  readUsage(body) {
    const usageObject = lastUsage(body, billed) ?? lastUsage(body, used);
    if (usageObject === null) return null;
    const units = countIn(usageObject.counts['search_units']);
    return units !== null
      ? { ...noUsage, searchUnits: Math.min(units, MAX_COUNT) }
      : promptUsage(usageObject.counts);
  },
  responseTextBytes: () => 0,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
