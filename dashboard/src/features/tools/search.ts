import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

export const installStates = ['all', 'installed', 'missing'] as const;

/** What the address of a list of tools carries. */
export interface ToolsSearch {
  q?: string;
  found?: (typeof installStates)[number];
}

export function toolsSearch(search: RawSearch): ToolsSearch {
  return present({ q: textParam(search, 'q'), found: choiceParam(search, 'found', installStates) });
}
