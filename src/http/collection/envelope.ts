import type { Page } from '../resource.ts';
import type { Listing } from './query.ts';

export interface EnvelopeParts {
  name: string;
  /** The path of the collection, which hrefs and links begin with. */
  path: string;
  page: Pick<Page, 'count' | 'filtered'>;
  /** The members of this page, as they are shown. */
  members: readonly object[];
  /** What the caller may do to the collection. */
  actions: readonly object[];
}

/** A page of a collection as ManageIQ has it. `links.last` is the last page that has a member. */
export function envelope(listing: Listing, parts: EnvelopeParts): Record<string, unknown> {
  const { name, path, page, members, actions } = parts;
  const matching = listing.filtered ? page.filtered : page.count;
  return {
    name,
    count: page.count,
    subcount: members.length,
    ...(listing.filtered ? { subquery_count: page.filtered } : {}),
    pages: Math.ceil(matching / listing.query.limit),
    ...(listing.hide ? {} : { resources: members }),
    ...(actions.length === 0 ? {} : { actions }),
    links: linksOf(listing, path, matching),
  };
}

function linksOf({ query, params }: Listing, path: string, matching: number): Record<string, string> {
  const { limit, offset } = query;
  const last = Math.max(0, Math.ceil(matching / limit) - 1) * limit;
  const at = (place: number): string => {
    const link = new URLSearchParams(params);
    link.delete('dry_run');
    link.set('offset', String(place));
    if (link.has('limit')) link.set('limit', String(limit));
    return `${path}?${link}`;
  };
  return {
    self: at(offset),
    ...(offset + limit < matching ? { next: at(offset + limit) } : {}),
    ...(offset > 0 ? { previous: at(Math.min(Math.max(0, offset - limit), last)) } : {}),
    first: at(0),
    last: at(last),
  };
}
