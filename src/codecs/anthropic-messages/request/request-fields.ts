import { CACHE_CONTROL, type RequestFields } from '../../request-fields.ts';

/** Anthropic API reference, "Create a Message". */
export const requestFields: RequestFields = {
  outputCap: ['max_tokens'],
  // `fast` is a speed there, with a price of its own.
  tier: ['speed', 'service_tier'],
  turns: 'messages',
  optional: [
    'thinking',
    'output_config.effort',
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'metadata',
    'service_tier',
    CACHE_CONTROL,
  ],
};
