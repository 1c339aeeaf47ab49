import type { GatewayError } from '../../lib/error.ts';
import type { Learned } from '../quirks/learned.ts';
import { learnedCap } from '../quirks/output-caps.ts';
import { learnedRefusal } from '../quirks/refused-members.ts';
import { withoutEncryptedReasoning } from '../quirks/unsealed.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { outgoingRequest } from './outgoing-request.ts';

/**
 * The request that a target would take instead of the one that it has refused: without a member that it does not know, with
 * a bound that it keeps to, or without what was sealed for others. What it said is remembered for the requests after this.
 * Null where its error is about something else.
 * @throws GatewayError as `outgoingRequest` does
 */
export function variantOf(
  learned: Learned,
  facts: RequestFacts,
  sent: OutgoingRequest,
  error: GatewayError,
): OutgoingRequest | null {
  if ((error.status !== 400 && error.status !== 422) || facts.upload !== null) return null;
  if (learnedRefusal(learned.refused, sent, error)) return outgoingRequest(learned, facts, sent);
  const most = learnedCap(learned.outputCaps, sent, error);
  if (most !== null) return outgoingRequest(learned, facts, { ...sent, most });
  return sent.unsealed ? null : withoutEncryptedReasoning(sent, error);
}
