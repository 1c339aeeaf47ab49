import { countIn } from '../../json/values.ts';
import type { Counting } from '../../usage/counting.ts';
import type { TokenCount } from '../wire.ts';

export const counting: Counting = {
  path: ':countTokens',
  // Gemini API, `models.countTokens`: instructions and tools are counted in this form only.
  ask: (request, model) => ({ generateContentRequest: { ...request, model: `models/${model}` } }),
  read: ({ totalTokens }: TokenCount) => countIn(totalTokens),
  write: (tokens) => ({
    totalTokens: tokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
  }),
};
