/** Ids for calls that came without one. */
export interface CallIds {
  /** The id of the next call of the tool `name`. */
  next(name: string): string;
}

/**
 * Ids from the name of a tool and the number of its calls so far: the same calls get the same ids, so that
 * prompt caches keep hitting. `scope` tells one answer from another (its `responseId`); a request, which holds all
 * calls of its conversation, has none.
 */
export function callIds(scope = ''): CallIds {
  const counts = new Map<string, number>();
  return {
    next(name) {
      const ordinal = counts.get(name) ?? 0;
      counts.set(name, ordinal + 1);
      return scope === '' ? `call_${name}_${ordinal}` : `call_${name}_${ordinal}_${scope}`;
    },
  };
}
