import { table } from '../../json/values.ts';
import type { EndReason } from '../../model/stream-part.ts';

/** The vendor's finish reasons, and those of other vendors. */
const reasons = table<EndReason>({
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'context-full',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'policy',
});

export function meaningOf(raw: string): EndReason {
  return reasons[raw] ?? 'other';
}
