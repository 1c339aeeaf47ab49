import type { Part } from '../model/conversation.ts';

/**
 * Stands before the text of a failed call's result in formats that have no field for it. It is unlike what
 * tools write themselves: only a conversation that was translated to such a format brings it back, and there it is
 * taken for the field again.
 */
export const ERROR_MARK = '[tool error] ';

/** What a result says without the mark, and whether it had one. A text that was the mark alone is nothing. */
export function withoutErrorMark<T extends Part>(parts: readonly T[]): { isError: boolean; parts: T[] } {
  const [first, ...rest] = parts;
  if (first?.type !== 'text' || !first.text.startsWith(ERROR_MARK))
    return { isError: false, parts: [...parts] };
  const text = first.text.slice(ERROR_MARK.length);
  return { isError: true, parts: text === '' ? rest : [{ ...first, text }, ...rest] };
}
