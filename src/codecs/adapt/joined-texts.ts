import type { Message, Part, TextPart } from '../model/conversation.ts';

/**
 * Several texts as one, for places that take a single string. What a model or a tool wrote may be cut anywhere, in the
 * middle of a sentence or of JSON: nothing is put between.
 */
export function asWritten(texts: readonly string[]): string {
  return texts.join('');
}

/** Whether a message is empty. One of the user is a turn all the same: without it the model would continue its own. */
export function isEmpty({ parts }: Pick<Message, 'parts'>): boolean {
  return parts.every((part) => part.type === 'text' && part.text === '');
}

/** Blocks of a client's own text, each a paragraph. */
export function asParagraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

/**
 * The parts with line breaks around the texts that the gateway put in the place of others (`isWorded`), where more text
 * stands before or behind: formats with a single string join them without a separator.
 */
export function setOff<T extends Part>(
  parts: readonly T[],
  isWorded: (part: T, index: number) => boolean,
): (T | TextPart)[] {
  if (!parts.some(isWorded)) return [...parts];
  /** For each part, whether the next text was written by the user or the model. */
  const leadsToWritten: boolean[] = [];
  let written = false;
  for (const [index, part] of [...parts.entries()].reverse()) {
    leadsToWritten[index] = written;
    if (part.type === 'text') written = !isWorded(part, index);
  }
  let afterText = false;
  return parts.map((part, index) => {
    if (part.type !== 'text') return part;
    const before = afterText ? '\n\n' : '';
    afterText = true;
    if (!isWorded(part, index)) return part;
    return { ...part, text: `${before}${part.text}${leadsToWritten[index] ? '\n\n' : ''}` };
  });
}
