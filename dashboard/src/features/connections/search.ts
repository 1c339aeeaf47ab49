import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';
import { type SortSearch, sortSearch } from '../../lib/sort-search.ts';

const connectionDialogs = ['new', 'details', 'edit', 'login'] as const;

/** What the address of the connections carries: the filter, the order, and which dialog is open. */
export interface ConnectionsSearch extends SortSearch {
  show?: (typeof connectionDialogs)[number];
  /** Id or name of the connection that the dialog is about; a new one has none. */
  connection?: string;
}

export function connectionsSearch(search: RawSearch): ConnectionsSearch {
  return {
    ...sortSearch(search),
    ...present({
      show: choiceParam(search, 'show', connectionDialogs),
      connection: textParam(search, 'connection'),
    }),
  };
}
