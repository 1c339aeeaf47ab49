import { parseJson } from '../codecs/json/lossless.ts';
import { listOf } from '../codecs/json/values.ts';
import { isCompaction, itemsAfter } from './continuation.ts';
import type { LruCache } from './lru-cache.ts';
import type { ResponseMemory, SizedResponse, StoredResponse } from './stored.ts';

/** Responses of one connection that are not to be stored, for as long as it is open. */
export interface ConnectionMemory extends ResponseMemory {
  /** Remembers a response for this connection alone. */
  remember(stored: StoredResponse): void;
  /** Forgets them all. */
  forget(): void;
}

/**
 * @param stored the responses of all connections
 * @param recent where every connection's own responses are, up to a common bound
 * @param name of this connection; no other may have it
 */
export function connectionMemory(
  stored: ResponseMemory,
  recent: LruCache<string>,
  name: string,
): ConnectionMemory {
  const ids = new Set<string>();
  const own = (id: string | null, keyId: string): SizedResponse | null => {
    const text = id !== null && ids.has(id) ? recent.get(`${name} ${id}`) : undefined;
    if (text === undefined) return null;
    const stored = parseJson(text) as StoredResponse;
    return stored.keyId === keyId ? { ...stored, length: text.length } : null;
  };
  /** A response with the earlier ones that only this connection has, so that it is complete without them. */
  const alone = (response: StoredResponse): StoredResponse => {
    let { input, previousId } = response;
    for (let before = own(previousId, response.keyId); before !== null; ) {
      const output = listOf(before.response['output']);
      input = [...itemsAfter({ input: before.input, output }), ...input];
      previousId = output.some(isCompaction) ? null : before.previousId;
      before = own(previousId, response.keyId);
    }
    return { ...response, input, previousId };
  };
  return {
    remember(response) {
      // Some servers give every response the same id: it must not come to continue itself.
      const compacted = ids.has(response.id) ? alone(response) : response;
      ids.add(response.id);
      recent.set(`${name} ${response.id}`, JSON.stringify(compacted));
    },
    forget() {
      for (const id of ids) recent.delete(`${name} ${id}`);
      ids.clear();
    },
    get: async (id, keyId) => own(id, keyId) ?? (await stored.get(id, keyId)),
    remove: (id, keyId) => stored.remove(id, keyId),
    put: (response) => stored.put(alone(response)),
  };
}
