import { listOf, objectOf, textOf } from '../json/values.ts';
import type { Search } from '../model/conversation.ts';
import type { ResponsesItem, SearchAction, SearchSource } from './wire.ts';

/** The vendor's own search of the web, in answers and in what comes back of them (API reference, "Web search call"). */
export const SEARCH_CALL = 'web_search_call';

/** A search, or a page that was opened or looked through. */
export function searchOf(item: ResponsesItem): Search {
  const action = objectOf<SearchAction>(item.action);
  const { id: _, status: __, type: ___, ...fields } = item;
  const page = textOf(action.url);
  const several = listOf(action.queries).map(textOf);
  const queries = several.length > 0 ? several : [textOf(action.query) || page];
  const sources = listOf(action.sources).map((source) => textOf(objectOf<SearchSource>(source).url));
  return {
    queries: queries.filter((query) => query !== ''),
    sources: [...(page === '' ? [] : [page]), ...sources]
      .filter((url) => url !== '')
      .map((url) => ({ url, title: null })),
    failed: item.status === 'failed',
    text: `[${SEARCH_CALL}] ${JSON.stringify(fields)}`,
    native: { format: 'openai-responses', values: [item] },
  };
}

/** Searches of other vendors have no id that this one takes: they get one by their number, the same in every turn. */
export function withSearchIds(items: readonly ResponsesItem[]): ResponsesItem[] {
  let number = 0;
  return items.map((item) => {
    if (item.type !== SEARCH_CALL || textOf(item.id) !== '') return item;
    number += 1;
    return { id: `ws_${number}`, ...item };
  });
}

/** The item of a search: as it came, or that of another vendor's, which has no id of this one's. */
export function itemOfSearch({ failed, native, queries, sources }: Search): ResponsesItem {
  const [own] = native.format === 'openai-responses' ? native.values : [];
  if (own !== undefined) return own;
  const action = {
    type: 'search',
    query: queries.join('; '),
    queries,
    sources: sources.map(({ url }) => ({ type: 'url', url })),
  };
  return { type: SEARCH_CALL, status: failed ? 'failed' : 'completed', action };
}
