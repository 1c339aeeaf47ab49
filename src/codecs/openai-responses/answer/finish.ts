import { objectOf, textOf } from '../../json/values.ts';
import type { FinishReason } from '../../model/finish-reason.ts';
import type { EndReason } from '../../model/stream-part.ts';
import type { IncompleteDetails, ResponsesAnswer } from '../wire.ts';

/** Why a response ended. `raw` is the reason of an incomplete one, otherwise its status. */
export function finishOf({ incomplete_details, status }: ResponsesAnswer, called: boolean): FinishReason {
  const reason = textOf(objectOf<IncompleteDetails>(incomplete_details).reason);
  return { meaning: meaningOf(reason, status, called), raw: reason || textOf(status) || null };
}

function meaningOf(reason: string, status: unknown, called: boolean): EndReason {
  if (reason === 'max_output_tokens') return 'length';
  if (reason === 'content_filter') return 'policy';
  if (status === 'incomplete') return 'other';
  return called ? 'tool-calls' : 'stop';
}
