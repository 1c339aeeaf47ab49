import { utf8Text } from '../../lib/bytes.ts';
import { byteLengthOf, listOf, objectOf, parseObject } from '../json/values.ts';
import type { ChoiceChunk } from '../openai-shared/wire.ts';
import type { CompletionsChoice } from './wire.ts';

/** UTF-8 bytes of generated text in a complete answer. */
export function responseTextBytes(body: Uint8Array): number {
  const answer: ChoiceChunk | null = parseObject(utf8Text(body));
  return listOf(answer?.choices).reduce<number>(
    (sum, choice) => sum + byteLengthOf(objectOf<CompletionsChoice>(choice).text),
    0,
  );
}
