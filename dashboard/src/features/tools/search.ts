import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

export const installStates = ['all', 'installed', 'missing'] as const;

export const supports = ['all', 'full', 'partial'] as const;

/** What the address of a list of tools carries. */
export interface ToolsSearch {
  q?: string;
  found?: (typeof installStates)[number];
  /** How far they can be pointed at another address. */
  support?: (typeof supports)[number];
}

export function toolsSearch(search: RawSearch): ToolsSearch {
  return present({
    q: textParam(search, 'q'),
    found: choiceParam(search, 'found', installStates),
    support: choiceParam(search, 'support', supports),
  });
}
