import type { WireFormat } from '../codecs/model.ts';
import type { AnswerReader } from './attempt.ts';
import type { Call } from './call.ts';
import type { ProxyContext } from './context.ts';
import { outputCap } from './output-caps.ts';
import { Relay } from './relay.ts';
import { MediaRelay } from './relay-media.ts';
import { Translation } from './translate.ts';
import { translateRequest } from './translate-request.ts';

/**
 * Translates the request if its target needs that, and says who carries the answer back.
 * @param prepared the request is ready for its target
 */
export function answerReader(
  { config, fitSchema, outputCaps, refused }: ProxyContext,
  call: Call,
  format: WireFormat,
  prepared: boolean,
): AnswerReader {
  if (call.target.format === format && call.turn?.compacts !== true && call.unfinished === null) {
    call.translated = null;
    const { media } = call.codec;
    if (media !== undefined) return new MediaRelay(call, media, config.keepAliveMs);
    return new Relay(call, config.keepAliveMs);
  }
  if (!prepared || call.translated === null) {
    call.translated = translateRequest(call, format, {
      fit: fitSchema,
      refused: refused.of(call.target),
      most: outputCap(outputCaps, call),
      begun: call.unfinished?.begun.text ?? '',
    });
    call.dropped = call.translated.dropped;
  }
  return new Translation(call, call.translated, config.keepAliveMs);
}
