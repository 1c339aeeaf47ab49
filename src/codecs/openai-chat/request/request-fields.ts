import { CACHE_CONTROL, type RequestFields } from '../../request-fields.ts';

/** OpenAI API reference, "Create chat completion". */
export const requestFields: RequestFields = {
  outputCap: ['max_completion_tokens', 'max_tokens'],
  answers: ['n'],
  tier: ['service_tier'],
  turns: 'messages',
  optional: [
    'reasoning_effort',
    'messages.reasoning_content',
    'messages.reasoning',
    'messages.reasoning_details',
    'messages.extra_content',
    'parallel_tool_calls',
    'stream_options',
    'temperature',
    'top_p',
    'stop',
    'seed',
    'frequency_penalty',
    'presence_penalty',
    'verbosity',
    'prompt_cache_key',
    'safety_identifier',
    'user',
    'metadata',
    'store',
    'service_tier',
    CACHE_CONTROL,
  ],
};
