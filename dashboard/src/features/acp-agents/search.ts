import { present, type RawSearch, textParam } from '../../lib/search-params.ts';

/** What the address of the list of agents carries. */
export interface AgentsSearch {
  q?: string;
}

export function agentsSearch(search: RawSearch): AgentsSearch {
  return present({ q: textParam(search, 'q') });
}
