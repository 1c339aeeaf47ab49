import type { RequestFields } from '../../request-fields.ts';

/** OpenAI API reference, "Create completion". */
export const requestFields: RequestFields = {
  outputCap: ['max_tokens'],
  // All of `best_of` are made, and paid for.
  answers: ['n', 'best_of'],
  prompts: 'prompt',
  tier: ['service_tier'],
  optional: ['stop', 'seed', 'temperature', 'top_p', 'stream_options', 'user'],
};
