import { createFilterIndex } from '../../cesql/filter-index.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Route } from '../../config/config.ts';

/** Whether some router leads an event of a source on. */
export type RouteSelector = (event: CloudEvent, sourceId: string | null) => boolean;

/** Fewer filters than this are evaluated one after the other. */
const INDEXED = 8;

/** Prepares routers to be asked about events: many filters are looked up instead of evaluated, with the same answers. */
export function createRouteSelector(routes: readonly Route[]): RouteSelector {
  const bySource = new Map<string, (event: CloudEvent) => boolean>();
  for (const sourceId of new Set(routes.map((route) => route.sourceId)))
    bySource.set(sourceId, selectorOf(routes.filter((route) => route.sourceId === sourceId)));
  return (event, sourceId) => sourceId !== null && bySource.get(sourceId)?.(event) === true;
}

function selectorOf(routes: readonly Route[]): (event: CloudEvent) => boolean {
  const filters = routes.map(({ filter }) => filter).filter((filter) => filter !== null);
  if (filters.length < routes.length) return () => true;
  if (filters.length < INDEXED)
    return ({ attributes }) => filters.some((filter) => filter.matches(attributes));
  const index = createFilterIndex(filters.map((expression) => ({ key: expression, expression })));
  return ({ attributes }) => index.match(attributes).length > 0;
}
