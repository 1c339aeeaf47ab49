import type { AnswerReader, ReaderContext } from '../answer/reader.ts';
import { MediaRelay } from '../relay/media.ts';
import { Relay } from '../relay/relay.ts';
import { Translation } from '../translate/translate.ts';

/** The reader that passes the answer on to the client: translated, relayed, or as bytes. */
export function answerReader(answering: ReaderContext): AnswerReader {
  const { translation } = answering.request;
  if (translation !== null) return new Translation(answering, translation);
  const { media } = answering.facts.codec;
  return media === undefined ? new Relay(answering) : new MediaRelay(answering, media);
}
