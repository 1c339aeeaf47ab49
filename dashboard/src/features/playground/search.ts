import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';
import { type FormatName, formatNames } from '../../lib/wire-formats/names.ts';

/** The models that are asked side by side, and in which format. */
export interface PlaygroundSearch {
  a?: string;
  b?: string;
  c?: string;
  format?: FormatName;
}

export const places = ['a', 'b', 'c'] as const;

export type Place = (typeof places)[number];

export function playgroundSearch(search: RawSearch): PlaygroundSearch {
  return present({
    a: textParam(search, 'a'),
    b: textParam(search, 'b'),
    c: textParam(search, 'c'),
    format: choiceParam(search, 'format', formatNames),
  });
}
