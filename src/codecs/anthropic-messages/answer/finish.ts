import { table } from '../../json/values.ts';
import type { EndReason } from '../../model/stream-part.ts';

/** The vendor's stop reasons (Messages API, "stop_reason"). */
const reasons = table<EndReason>({
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  pause_turn: 'paused',
  refusal: 'policy',
  model_context_window_exceeded: 'context-full',
});

export function meaningOf(raw: string): EndReason {
  return reasons[raw] ?? 'other';
}
