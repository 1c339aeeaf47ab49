import { table } from '../../json/values.ts';
import type { EndReason } from '../../model/stream-part.ts';

/** What a `finishReason` stands for; `error` where the vendor threw away what its model wrote. */
export type FinishMeaning = EndReason | 'error';

/** `FinishReason` of the API reference. Calls end with STOP too. */
const meanings: Readonly<Record<string, FinishMeaning>> = table({
  STOP: 'stop',
  MAX_TOKENS: 'length',
  // There is more to come for one who sends the token in it back, which no other format can.
  CONTINUATION: 'length',
  SAFETY: 'policy',
  RECITATION: 'policy',
  BLOCKLIST: 'policy',
  PROHIBITED_CONTENT: 'policy',
  SPII: 'policy',
  MODEL_ARMOR: 'policy',
  IMAGE_SAFETY: 'policy',
  IMAGE_RECITATION: 'policy',
  IMAGE_PROHIBITED_CONTENT: 'policy',
  IMAGE_OTHER: 'policy',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MALFORMED_RESPONSE: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
});

export function meaningOfFinish(reason: string): FinishMeaning {
  return (Object.hasOwn(meanings, reason) ? meanings[reason] : undefined) ?? 'other';
}

const reasons: Readonly<Record<EndReason, string>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'context-full': 'MAX_TOKENS',
  policy: 'SAFETY',
  paused: 'STOP',
  other: 'OTHER',
};

export function finishReasonOf(reason: EndReason): string {
  return reasons[reason];
}
