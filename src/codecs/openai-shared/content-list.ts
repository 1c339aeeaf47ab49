import { isObject, type JsonObject } from '../json/values.ts';
import { wrong } from '../json/wire-check.ts';
import type { Part, TextPart } from '../model/conversation.ts';

/** What a message of OpenAI's formats can hold; calls, results and reasoning stand beside it. */
export type ContentPart = Exclude<
  Part,
  { type: 'tool-call' | 'tool-result' | 'reasoning' | 'search' | 'native' }
>;

/** Content as OpenAI's formats have it: a text, or a list of texts and of parts that `read` reads. An empty text is nothing. */
export function readContentList<P extends Part>(
  content: unknown,
  path: string,
  read: (part: JsonObject, path: string) => P,
): (P | TextPart)[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw wrong(path, 'a string or a list of parts');
  return content.map((part, index) => {
    const at = `${path}[${index}]`;
    if (typeof part === 'string') return { type: 'text', text: part };
    if (!isObject(part)) throw wrong(at, 'an object');
    return read(part, at);
  });
}
