import { type TimeRange, timeRanges } from '../../components/controls/time-range.tsx';
import { choiceParam, numberParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

/** Filters that are often wanted, ready made. */
export const views = ['all', 'errors', 'slow', 'fallbacks', 'expensive'] as const;

export type View = (typeof views)[number];

/** What the address of the requests carries: every filter, so that it can be sent to somebody. */
export interface RequestsSearch {
  range?: TimeRange;
  view?: View;
  /** Instead of `range`: from and up to a time, ISO 8601. */
  from?: string;
  to?: string;
  /** As it was asked for. In this and the following, `-` stands for requests that have none. */
  model?: string;
  /** The model that was asked, as its provider calls it. */
  served?: string;
  provider?: string;
  /** Id of a combo. */
  combo?: string;
  /** The program that asked. */
  client?: string;
  /** The run of a tool, as it names it. */
  session?: string;
  format?: string;
  outcome?: string;
  /** `name=value`; `!name` for requests without one of that name. */
  tag?: string;
  connection?: string;
  /** Id of a gateway key. */
  key?: string;
  /** HTTP status. */
  status?: number;
  q?: string;
  /** `run`: the requests of a tool's session together. */
  group?: 'run';
  sort?: string;
  order?: 'asc' | 'desc';
}

/** The filters by one value, as the address and the API name them. */
export const filterAttributes = {
  model: 'requested_model',
  served: 'model',
  provider: 'provider',
  connection: 'connection',
  combo: 'combo_id',
  key: 'key_id',
  client: 'client',
  session: 'session',
  format: 'format',
  outcome: 'outcome',
} as const;

export type FilterName = keyof typeof filterAttributes;

export const filterNames = Object.keys(filterAttributes) as FilterName[];

export function requestsSearch(search: RawSearch): RequestsSearch {
  return present({
    range: choiceParam(search, 'range', timeRanges),
    view: choiceParam(search, 'view', views),
    from: textParam(search, 'from'),
    to: textParam(search, 'to'),
    ...Object.fromEntries(filterNames.map((name) => [name, textParam(search, name)])),
    tag: textParam(search, 'tag'),
    status: numberParam(search, 'status'),
    q: textParam(search, 'q'),
    group: choiceParam(search, 'group', ['run']),
    sort: textParam(search, 'sort'),
    order: choiceParam(search, 'order', ['asc', 'desc']),
  });
}
