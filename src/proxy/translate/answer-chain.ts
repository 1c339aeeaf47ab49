import type { AnswerPrefix } from '../../codecs/adapt/continuation.ts';
import { continuing } from '../../codecs/adapt/continuation.ts';
import type { AnswerContext, PartReader, PartWriter } from '../../codecs/model/stream-part.ts';
import { clientParts } from '../../codecs/translate/answer.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { compacting } from '../../responses/compact.ts';
import type { RequestInFormat } from '../request/outgoing.ts';
import { prefillOf } from './prefill.ts';
import { conversationCodec, ownerOf } from './request.ts';

/** The answer that is read. */
export interface AnswerSource {
  /** Who answers. */
  target: Target;
  /** What it was asked. */
  request: Pick<RequestInFormat, 'tools' | 'oneCall' | 'allowedTools'>;
  /** The id of the request, where the answer is to become a compaction; null where it stays what it is. */
  compactionOf: string | null;
  /** The answer that this one continues; null where it begins one. */
  prefix: AnswerPrefix | null;
}

/** Reads an upstream's frames into the parts that the client is to get: every stage between its format and the client's. */
export function answerParts({ prefix, compactionOf, request, target }: AnswerSource): PartReader {
  const callReader = clientParts({
    ...request,
    codec: conversationCodec(target.format),
    owner: ownerOf(target),
  });
  const answerReader = compactionOf === null ? callReader : compacting(callReader, compactionOf);
  return prefix === null
    ? answerReader
    : continuing(answerReader, prefix, prefillOf(target)?.repeated === true);
}

/** Writes those parts as frames of the client's format. */
export function answerFrames(
  format: WireFormat,
  { includeUsage, request }: Pick<RequestInFormat, 'includeUsage' | 'request'>,
  answer: Omit<AnswerContext, 'includeUsage' | 'request'>,
): PartWriter {
  return conversationCodec(format).conversation.writer({ ...answer, includeUsage, request });
}
