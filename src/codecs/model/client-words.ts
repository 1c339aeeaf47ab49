import type { ConversationCodec } from '../codec.ts';
import { pathIn } from '../json/read-fields.ts';
import type { JsonObject } from '../json/values.ts';
import type { Concept } from './concept.ts';

type Worded = Pick<ConversationCodec, 'acceptedOnly' | 'names' | 'otherWords' | 'spelling'>;

/** What this request of a format calls something that it asks for: the client's own word, where there are several. */
export function clientWord(
  { acceptedOnly, names, otherWords, spelling }: Worded,
  concept: Concept,
  request: JsonObject,
): string {
  for (const [word, paths] of Object.entries(otherWords?.[concept] ?? {}))
    if (paths.some((path) => pathIn(request, path, spelling) !== null))
      return spelled(word, request, spelling);
  return spelled(names[concept] ?? acceptedOnly?.[concept] ?? concept, request, spelling);
}

/** Where the wire takes several spellings, the one that was used. */
function spelled(word: string, request: JsonObject, spelling: Worded['spelling']): string {
  return spelling === undefined ? word : (pathIn(request, word, spelling) ?? word);
}
