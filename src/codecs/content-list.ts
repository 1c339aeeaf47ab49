import type { Part } from './conversation.ts';
import { isObject, type JsonObject } from './values.ts';
import { wrong } from './wire-check.ts';

/** What a message of OpenAI's formats can hold; calls, results and reasoning stand beside it. */
export type ContentPart = Exclude<
  Part,
  { type: 'tool-call' | 'tool-result' | 'reasoning' | 'search' | 'native' }
>;

/** Content as OpenAI's formats have it: a text, or a list of texts and of parts that `read` reads. An empty text is nothing. */
export function readContentList(
  content: unknown,
  path: string,
  read: (part: JsonObject, path: string) => ContentPart,
): ContentPart[] {
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
