import { utf8Text } from '../../lib/bytes.ts';
import { byteLengthOf, listOf, objectOf, parseObject } from '../json/values.ts';

/** UTF-8 bytes of generated text in a complete answer. */
export function responseTextBytes(body: Uint8Array): number {
  const answer = parseObject(utf8Text(body));
  return listOf(answer?.['choices']).reduce<number>(
    (sum, choice) => sum + byteLengthOf(objectOf(choice)['text']),
    0,
  );
}
