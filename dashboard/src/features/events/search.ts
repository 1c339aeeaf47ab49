import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

export const eventViews = ['map', 'letters', 'tail', 'versions'] as const;
export type EventView = (typeof eventViews)[number];

export interface EventsSearch {
  view?: EventView;
  /** How the map is shown; absent: as fits the width. */
  as?: 'drawing' | 'table';
  /** Dead letters of this trigger. */
  trigger?: string;
  /** The expression that events of the tail fit. */
  cesql?: string;
}

export function eventsSearch(search: RawSearch): EventsSearch {
  return present({
    view: choiceParam(search, 'view', eventViews),
    as: choiceParam(search, 'as', ['drawing', 'table']),
    trigger: textParam(search, 'trigger'),
    cesql: textParam(search, 'cesql'),
  });
}
