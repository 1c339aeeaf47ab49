import { table } from '../../json/values.ts';
import type { EndReason } from '../../model/stream-part.ts';

/** The vendor's finish reasons, and those of other vendors. */
const reasons = table<EndReason>({
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'policy',
});

export function meaningOf(raw: string): EndReason {
  return reasons[raw] ?? 'other';
}
