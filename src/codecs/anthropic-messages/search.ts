import { type JsonObject, listOf, objectOf, textOf, textOrNull } from '../json/values.ts';
import type { NativePart, Part, Search } from '../model/conversation.ts';
import { wordsOf } from './native-words.ts';
import type { MessageBlock, SearchInput, SearchResult } from './wire.ts';

/** The vendor's own search of the web: a call, and in a later block what it found (API reference, "Web search tool"). */
const CALL = 'server_tool_use';
const RESULT = 'web_search_tool_result';
const TOOL = 'web_search';

export function isSearchCall({ name, type }: MessageBlock): boolean {
  return type === CALL && name === TOOL;
}

/** The call that a block is the result of; null for any other block. */
export function searchedBy(block: MessageBlock): string | null {
  return block.type === RESULT ? textOf(block.tool_use_id) : null;
}

/** The text for one of the two blocks; null for any other block. */
export function searchText(block: MessageBlock): string | null {
  return isSearchCall(block) || searchedBy(block) !== null ? wordsOf(textOf(block.type), block) : null;
}

/** A search from its two blocks; one that was not finished has no result. */
export function searchOf(call: MessageBlock, result: MessageBlock | null): Search {
  const query = textOf(objectOf<SearchInput>(call.input).query);
  const content = result?.content;
  const values = result === null ? [call] : [call, result];
  return {
    queries: query === '' ? [] : [query],
    sources: listOf(content).map(objectOf).flatMap(sourceOf),
    failed: objectOf<SearchResult>(content).error_code !== undefined,
    text: values.map((value) => wordsOf(textOf(value.type), value)).join('\n'),
    native: { format: 'anthropic-messages', values },
  };
}

function sourceOf({ title, url }: SearchResult): Search['sources'] {
  return typeof url === 'string' ? [{ url, title: textOrNull(title) }] : [];
}

/** The parts of a message with its searches as such, where they began. */
export function withSearches(parts: readonly Part[]): Part[] {
  const results = new Map<string, NativePart>();
  for (const part of parts) {
    const id = part.type === 'native' ? searchedBy(part.value) : null;
    if (id !== null && part.type === 'native') results.set(id, part);
  }
  const usedResults = new Set<Part>();
  const searches = parts.map((part): Part => {
    if (part.type !== 'native' || !isSearchCall(part.value)) return part;
    const result = results.get(textOf(objectOf<MessageBlock>(part.value).id));
    if (result === undefined || usedResults.has(result))
      return { type: 'search', ...searchOf(part.value, null) };
    usedResults.add(result);
    return { type: 'search', ...searchOf(part.value, result.value) };
  });
  return searches.filter((part) => !usedResults.has(part));
}

/**
 * The blocks of a search that another vendor made: a call and its result for each query, as this vendor searches. All
 * sources are in the last result, because it is unknown which query found them. They have URLs, but not the encrypted
 * text of the pages, which the vendor would expect back.
 */
export function foreignSearch({ failed, queries, sources }: Search, id: string): JsonObject[] {
  const results = sources.map(({ title, url }) => ({
    type: 'web_search_result',
    title: title ?? url,
    url,
    encrypted_content: '',
    page_age: null,
  }));
  const calls = queries.length === 0 ? [''] : queries;
  return calls.flatMap((query, index) => {
    const last = index === calls.length - 1;
    const own = calls.length === 1 ? id : `${id}_${index}`;
    const content = failed
      ? { type: 'web_search_tool_result_error', error_code: 'unavailable' }
      : last
        ? results
        : [];
    return [
      { type: CALL, id: own, name: TOOL, input: { query } },
      { type: RESULT, tool_use_id: own, content },
    ];
  });
}
