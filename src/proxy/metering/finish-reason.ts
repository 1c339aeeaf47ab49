import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import type { EndReason } from '../../codecs/model/stream-part.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';

/** The ledger's words, which are those of OpenAI and Anthropic where they have one. */
const words: Readonly<Record<EndReason, NonNullable<LedgerEntry['finishReason']>>> = {
  stop: 'stop',
  'stop-sequence': 'stop_sequence',
  length: 'length',
  'tool-calls': 'tool_calls',
  'context-full': 'context_window_exceeded',
  policy: 'content_filter',
  paused: 'paused',
  other: 'other',
};

/** Characters of an upstream's own word that are kept. */
const MAX_RAW = 64;

/** Why an answer ended, as the ledger keeps it. */
export function finishFields(
  finish: FinishReason | null,
): Pick<LedgerEntry, 'finishReason' | 'rawFinishReason'> {
  if (finish === null) return { finishReason: null, rawFinishReason: null };
  return { finishReason: words[finish.meaning], rawFinishReason: finish.raw?.slice(0, MAX_RAW) ?? null };
}
