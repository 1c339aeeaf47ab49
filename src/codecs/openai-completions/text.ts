import { byteLengthOf, listOf, objectOf, parseObject } from '../json/values.ts';

/** UTF-8 bytes of generated text in a complete answer. */
export function responseTextBytes(body: Buffer): number {
  const answer = parseObject(body.toString('utf8'));
  return listOf(answer?.['choices']).reduce<number>(
    (sum, choice) => sum + byteLengthOf(objectOf(choice)['text']),
    0,
  );
}
