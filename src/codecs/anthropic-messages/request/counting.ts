import { countIn } from '../../json/values.ts';
import { type Counting, onlyFields } from '../../usage/counting.ts';
import type { MessagesCounts } from '../wire.ts';

/** Anthropic API reference, "Count tokens": what shapes the answer, and not the prompt, is refused there. */
const notCounted: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
]);

export const counting: Counting = {
  path: '/count_tokens',
  ask: (request) => onlyFields(request, (name) => !notCounted.has(name)),
  read: ({ input_tokens }: MessagesCounts) => countIn(input_tokens),
  write: (tokens) => ({ input_tokens: tokens }),
};
