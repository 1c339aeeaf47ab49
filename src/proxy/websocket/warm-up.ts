import type { Principal } from '../../access/authenticate.ts';
import { textAt } from '../../codecs/json/wire-check.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import { chainOf, previousNotFound } from '../../responses/chain.ts';
import type { ProxyContext } from '../context.ts';
import { newFacts } from '../metering/entry.ts';
import { type IncomingRequest, localFacts, routeRequest } from '../prologue.ts';
import { conversationCodec } from '../translate/request.ts';
import type { CreateMessage } from './message.ts';

/**
 * Answers a request that generates nothing (`generate: false`): with an empty response that later ones may continue. No
 * provider is asked, and nothing is recorded; what would be refused is refused already.
 * @throws GatewayError as a request of the same words would
 */
export async function warmUp(
  context: ProxyContext,
  exchange: AnyExchange,
  { body, request }: Pick<CreateMessage, 'body' | 'request'>,
  principal: Principal,
): Promise<void> {
  const incoming: IncomingRequest = {
    exchange,
    principal,
    format: 'openai-responses',
    isFree: true,
    read: async () => ({ kind: 'body', pieces: [body] }),
  };
  const { facts } = await routeRequest(context, localFacts(newFacts(incoming)), incoming);
  const model = facts.requestedModel;
  const previousId = textAt(request, 'previous_response_id');
  const reader = { memory: context.responses, keyId: principal.keyId };
  if (previousId !== null && (await chainOf(reader, previousId, context.config.limits.bodyBytes)) === null)
    throw previousNotFound(previousId, 'it is not known on this connection, nor stored here for this key');
  const { conversation, stream } = conversationCodec('openai-responses');
  const { id, response, startedAt } = exchange;
  const writer = conversation.writer({ id, model, startedAt, includeUsage: true, request });
  const startFrames = writer.push({ type: 'message-start', id, model, usage: null });
  const end = { reason: 'stop', rawFinishReason: null, stopSequence: null, usage: null } as const;
  const endFrames = writer.push({ type: 'message-end', ...end });
  response.writeHead(200, ['content-type', stream.contentType]);
  response.end(stream.encode([...startFrames, ...endFrames]));
}
