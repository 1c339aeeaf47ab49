import type { RequestFields } from '../../request-fields.ts';

/** OpenAI API reference, "Create a model response". */
export const requestFields: RequestFields = {
  outputCap: ['max_output_tokens'],
  tier: ['service_tier'],
  turns: 'input',
  optional: [
    'reasoning',
    'include',
    'parallel_tool_calls',
    'temperature',
    'top_p',
    'text.verbosity',
    'prompt_cache_key',
    'safety_identifier',
    'metadata',
    'store',
    'service_tier',
  ],
};
