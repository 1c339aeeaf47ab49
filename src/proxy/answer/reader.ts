import type { WireFormat } from '../../codecs/wire-format.ts';
import type { ProxyContext } from '../context.ts';
import type { Call } from '../dispatch/call.ts';
import { outputCap } from '../quirks/output-caps.ts';
import { MediaRelay } from '../relay/media.ts';
import { Relay } from '../relay/relay.ts';
import { translateRequest } from '../translate/request.ts';
import { Translation } from '../translate/translate.ts';
import type { AnswerReader } from '../upstream/attempt.ts';

/**
 * Translates the request if its target needs that, and says who carries the answer back.
 * @param prepared the request is ready for its target
 */
export function answerReader(
  { fitSchema, outputCaps, refused }: ProxyContext,
  call: Call,
  format: WireFormat,
  prepared: boolean,
): AnswerReader {
  if (call.target.format === format && call.turn?.compacts !== true && call.partialAnswer === null) {
    call.translated = null;
    const { media } = call.codec;
    if (media !== undefined) return new MediaRelay(call, media);
    return new Relay(call);
  }
  if (!prepared || call.translated === null) {
    call.translated = translateRequest(call, format, {
      fit: fitSchema,
      refused: refused.of(call.target),
      most: outputCap(outputCaps, call),
      begun: call.partialAnswer?.begun.text ?? '',
      cacheMarks: call.target.format !== format && call.cacheMarks && call.target.connection.cacheMarks,
    });
    call.dropped = call.translated.dropped;
  }
  return new Translation(call, call.translated);
}
