import type { EndReason } from '../../model/stream-part.ts';
import { finishReader, type ReadFinishReason } from '../../usage/finish-bytes.ts';
import { meaningOfFinish } from './finish.ts';
import { CANDIDATE_DEPTH } from './stream.ts';

const maxDepth = { body: CANDIDATE_DEPTH, stream: CANDIDATE_DEPTH };

const ofCandidate = finishReader({ field: 'finishReason', maxDepth, meaningOf, call: 'functionCall' });
const ofPrompt = finishReader({ field: 'blockReason', maxDepth, meaningOf: () => 'policy' });

/** Why the candidate ended, or why the prompt was blocked. */
export const readFinishReason: ReadFinishReason = (tail, kind) =>
  ofCandidate(tail, kind) ?? ofPrompt(tail, kind);

function meaningOf(raw: string): EndReason {
  const meaning = meaningOfFinish(raw);
  return meaning === 'error' ? 'other' : meaning;
}
