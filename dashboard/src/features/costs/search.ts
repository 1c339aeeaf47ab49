import { choiceParam, present, type RawSearch } from '../../lib/search-params.ts';

/** By what costs are parted. */
export const groupings = [
  'model',
  'provider',
  'connection',
  'key',
  'combo',
  'owner',
  'team',
  'format',
] as const;

export type Grouping = (typeof groupings)[number];

/** Over which time. All begin where a day, a week or a month of UTC does, `24h` with an hour. */
export const costRanges = ['24h', '7d', 'month', '30d', '12w', '12m'] as const;

export type CostRange = (typeof costRanges)[number];

export interface CostsSearch {
  by?: Grouping;
  /** The groups within each group. */
  within?: Grouping;
  range?: CostRange;
  sort?: string;
  order?: 'asc' | 'desc';
}

export function costsSearch(search: RawSearch): CostsSearch {
  const by = choiceParam(search, 'by', groupings);
  const within = choiceParam(search, 'within', groupings);
  return present({
    by,
    within: within === (by ?? 'model') ? undefined : within,
    range: choiceParam(search, 'range', costRanges),
    sort: typeof search['sort'] === 'string' ? search['sort'] : undefined,
    order: choiceParam(search, 'order', ['asc', 'desc']),
  });
}
