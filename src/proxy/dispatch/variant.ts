import type { GatewayError } from '../../lib/error.ts';
import { withoutEncryptedReasoning } from '../quirks/encrypted-reasoning.ts';
import { learnOutputCap } from '../quirks/output-caps.ts';
import { learnRefusedField } from '../quirks/refused-fields.ts';
import type { UpstreamQuirks } from '../quirks/upstream-quirks.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { outgoingRequest } from './outgoing-request.ts';

/**
 * The request that a target would take instead of the one that it has refused: without a field that it does not
 * support, with a bound that it keeps to, or without what was encrypted for others. What it said is remembered for the
 * requests after this. Null where its error is about something else.
 * @throws GatewayError as `outgoingRequest` does
 */
export function variantOf(
  quirks: UpstreamQuirks,
  facts: RequestFacts,
  request: OutgoingRequest,
  error: GatewayError,
): OutgoingRequest | null {
  if ((error.status !== 400 && error.status !== 422) || facts.upload !== null) return null;
  if (learnRefusedField(quirks.refusedFields, request, error)) return outgoingRequest(quirks, facts, request);
  const outputCap = learnOutputCap(quirks.outputCaps, request, error);
  if (outputCap !== null) return outgoingRequest(quirks, facts, { ...request, outputCap });
  return request.reasoningStripped ? null : withoutEncryptedReasoning(request, error);
}
