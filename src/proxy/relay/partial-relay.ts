import { AnswerPrefix, isContinuable } from '../../codecs/adapt/continuation.ts';
import { wholeCharacters } from '../../codecs/adapt/join-surrogates.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import type { Conversation } from '../../codecs/model/conversation.ts';
import type { StreamPart } from '../../codecs/model/stream-part.ts';
import { GatewayError } from '../../lib/error.ts';
import type { ReaderContext } from '../answer/reader.ts';
import { joined } from '../json/joined.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest, PartialAnswer } from '../request/outgoing.ts';
import { conversationCodec, requestIn } from '../translate/request.ts';

/**
 * A relayed answer as if the gateway had written it: it was not read while it passed.
 * @param frames all that the client was sent
 * @returns null where it cannot be continued
 */
export function partialRelay(
  { facts, request: outgoing }: Pick<ReaderContext, 'facts' | 'request'>,
  frames: Buffer,
  broken: Pick<PartialAnswer, 'error' | 'ending'>,
): PartialAnswer | null {
  const read = decodedRequest(facts, outgoing);
  if (read === null || !isContinuable(read.decoded)) return null;
  const { decoded, request } = read;
  const { conversation, stream } = conversationCodec(facts.codec.format);
  // What failed behind an end is no answer any more.
  if (stream.readStream(frames, frames).end !== 'cut') return null;
  const reader = wholeCharacters(conversation.reader());
  const parts = stream.split(frames).frames.flatMap((frame) => reader.push(frame));
  const messageStart = parts.find((part) => part.type === 'message-start');
  const writer = conversation.writer({
    id: facts.exchange.id,
    model: facts.requestedModel,
    startedAt: facts.exchange.startedAt,
    includeUsage: decoded.includeUsage,
    request,
    ...(messageStart === undefined || messageStart.id === '' ? {} : { answerId: messageStart.id }),
  });
  const prefix = new AnswerPrefix();
  for (const part of parts) {
    prefix.note(part);
    writer.push(part);
    const opened = openedBy(part);
    if (opened !== null) writer.push(opened);
  }
  return prefix.continuable ? { writer, prefix, ...broken } : null;
}

/** Writers leave out blocks without content; the client was sent this one. */
function openedBy({ block, type }: StreamPart & { block?: number }): StreamPart | null {
  if (block === undefined) return null;
  if (type === 'text-start') return { type: 'text-delta', block, text: '' };
  return type === 'reasoning-start' ? { type: 'reasoning-delta', block, text: '' } : null;
}

/** What was asked for; null where that cannot be read although the upstream answered it. */
function decodedRequest(
  { codec, named }: RequestFacts,
  outgoing: OutgoingRequest,
): { request: JsonObject; decoded: Conversation } | null {
  try {
    const request = requestIn(joined(outgoing.clientBody).toString('utf8'), { named });
    return { request, decoded: conversationCodec(codec.format).conversation.decodeRequest(request) };
  } catch (error) {
    // JSON can be read to any depth and looked through only as deep as the stack goes.
    if (!(error instanceof GatewayError) && !(error instanceof RangeError)) throw error;
    return null;
  }
}
