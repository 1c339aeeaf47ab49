import type { Codec } from '../codec.ts';
import { noUsage } from '../model.ts';
import { openAiError } from '../openai-error.ts';
import { hasPromptCounts, promptUsage } from '../token-counts.ts';
import { lastUsage, type UsageSearch } from '../usage-bytes.ts';
import { isCount, type JsonObject } from '../values.ts';

const hasUnits = (counts: JsonObject) => isCount(counts['search_units']);
const billed: UsageSearch = {
  kind: 'body',
  key: Buffer.from('"billed_units"'),
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
  pathOf: null,
  stream: null,
  conversation: null,
  answerModel: 'model',
  readUsage(body) {
    const found = lastUsage(body, billed) ?? lastUsage(body, used);
    if (found === null) return null;
    const units = found.counts['search_units'];
    return isCount(units) ? { ...noUsage, searchUnits: units } : promptUsage(found.counts);
  },
  responseTextBytes: () => 0,
  encodeError: openAiError,
};
