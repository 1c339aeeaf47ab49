import { BegunAnswer, isContinuable } from '../../codecs/adapt/continuation.ts';
import { wholeCharacters } from '../../codecs/adapt/join-surrogates.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import type { Conversation } from '../../codecs/model/conversation.ts';
import type { PartWriter, StreamPart } from '../../codecs/model/stream-part.ts';
import { GatewayError } from '../../lib/error.ts';
import { joined } from '../metering/meter.ts';
import { conversationCodec, requestIn } from '../translate/request.ts';
import type { Call } from '../dispatch/call.ts';

/** A streamed answer that broke off after its first words, while it is open for another target to go on with. */
export interface PartialAnswer {
  /** Has written all that the caller has. */
  writer: PartWriter;
  begun: BegunAnswer;
  /** Why it broke off. */
  error: GatewayError;
  /** What the caller is sent before the reset when nobody goes on with it; null for nothing. */
  ending: Buffer | null;
}

/**
 * A relayed answer as if the gateway had written it: nobody read it while it passed.
 * @param frames all that the caller was sent
 * @returns null where nobody can go on with it
 */
export function partialRelay(
  call: Call,
  frames: Buffer,
  broken: Pick<PartialAnswer, 'error' | 'ending'>,
): PartialAnswer | null {
  const read = askedOf(call);
  if (read === null || !isContinuable(read.asked)) return null;
  const { asked, request } = read;
  const { conversation, stream } = conversationCodec(call.codec.format);
  // What failed behind an end is no answer any more.
  if (stream.readStream(frames, frames).end !== 'cut') return null;
  const reader = wholeCharacters(conversation.reader());
  const parts = stream.split(frames).frames.flatMap((frame) => reader.push(frame));
  const started = parts.find((part) => part.type === 'message-start');
  const writer = conversation.writer({
    id: call.exchange.id,
    model: call.requestedModel,
    startedAt: call.exchange.startedAt,
    includeUsage: asked.includeUsage,
    request,
    ...(started === undefined || started.id === '' ? {} : { answerId: started.id }),
  });
  const begun = new BegunAnswer();
  for (const part of parts) {
    begun.note(part);
    writer.push(part);
    const opened = openedBy(part);
    if (opened !== null) writer.push(opened);
  }
  return begun.continuable ? { writer, begun, ...broken } : null;
}

/** Writers leave out blocks without content; the caller was told of this one. */
function openedBy({ block, type }: StreamPart & { block?: number }): StreamPart | null {
  if (block === undefined) return null;
  if (type === 'text-start') return { type: 'text-delta', block, text: '' };
  return type === 'reasoning-start' ? { type: 'reasoning-delta', block, text: '' } : null;
}

/** What was asked for; null where that cannot be read although the upstream answered it. */
function askedOf(call: Call): { request: JsonObject; asked: Conversation } | null {
  try {
    const request = requestIn(joined(call.body).toString('utf8'), call);
    return { request, asked: conversationCodec(call.codec.format).conversation.decodeRequest(request) };
  } catch (error) {
    // JSON can be read to any depth and looked through only as deep as the stack goes.
    if (!(error instanceof GatewayError) && !(error instanceof RangeError)) throw error;
    return null;
  }
}
