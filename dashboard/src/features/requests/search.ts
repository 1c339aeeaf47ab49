import { type TimeRange, timeRanges } from '../../components/time-range.tsx';
import { choiceParam, numberParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

/** Filters that are often wanted, ready made. */
export const views = ['all', 'errors', 'slow', 'fallbacks', 'expensive'] as const;

export type View = (typeof views)[number];

/** What the address of the requests carries: every filter, so that it can be sent to somebody. */
export interface RequestsSearch {
  range?: TimeRange;
  view?: View;
  /** As it was asked for. */
  model?: string;
  connection?: string;
  /** Id of a gateway key. */
  key?: string;
  /** HTTP status. */
  status?: number;
  q?: string;
  sort?: string;
  order?: 'asc' | 'desc';
}

export function requestsSearch(search: RawSearch): RequestsSearch {
  return present({
    range: choiceParam(search, 'range', timeRanges),
    view: choiceParam(search, 'view', views),
    model: textParam(search, 'model'),
    connection: textParam(search, 'connection'),
    key: textParam(search, 'key'),
    status: numberParam(search, 'status'),
    q: textParam(search, 'q'),
    sort: textParam(search, 'sort'),
    order: choiceParam(search, 'order', ['asc', 'desc']),
  });
}
