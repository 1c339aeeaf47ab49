import type { ResponsePlaces } from '../../responses/places.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { wantsStorage } from './keep.ts';

/** As far as the id of a response may stand behind its beginning. */
const LOOKED_AT = 4096;
/** Before it only fields with plain values, at the root or in the `response` of the first event. */
const first = /(?:^\s*|"response"\s*:\s*)\{[^{}[\]]*?"id"\s*:\s*"([^"\\]{1,200})"/;
const prefixed = /"id"\s*:\s*"(resp_[^"\\]{1,200})"/;

/**
 * Remembers at which connection a response is that its provider keeps, for those that continue, read or delete it.
 * @param head the first bytes of its answer
 */
export function notePlace(
  places: Pick<ResponsePlaces, 'note'>,
  { codec, exchange, requestedModel: model, responseState }: RequestFacts,
  { clientBody, target, translation }: OutgoingRequest,
  head: Buffer,
): void {
  if (codec.format !== 'openai-responses' || target.provider.keepsResponses !== true) return;
  if (
    responseState === null ||
    translation !== null ||
    responseState.compaction === 'endpoint' ||
    !wantsStorage(clientBody)
  )
    return;
  const text = head.toString('latin1', 0, LOOKED_AT);
  const id = (first.exec(text) ?? prefixed.exec(text))?.[1];
  if (id === undefined) return;
  const origin = { createdAt: exchange.startedAt, requestId: exchange.id, model };
  places.note({ id, keyId: responseState.keyId, connectionId: target.connection.id, ...origin });
}
