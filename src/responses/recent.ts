/** Texts by name, the last used of them up to a bound. */
export interface Recent {
  get(name: string): string | undefined;
  /** Larger texts than the bound are not kept. */
  set(name: string, text: string): void;
  delete(name: string): void;
}

/** @param maxLength of all texts together, in UTF-16 units */
export function createRecent(maxLength: number): Recent {
  // A Map keeps its order of insertion: the first one is the one that was not used for the longest time.
  const texts = new Map<string, string>();
  let length = 0;
  const drop = (name: string): void => {
    length -= texts.get(name)?.length ?? 0;
    texts.delete(name);
  };
  return {
    get(name) {
      const text = texts.get(name);
      if (text === undefined) return undefined;
      texts.delete(name);
      texts.set(name, text);
      return text;
    },
    set(name, text) {
      drop(name);
      if (text.length > maxLength) return;
      texts.set(name, text);
      length += text.length;
      for (const oldest of texts.keys()) {
        if (length <= maxLength) return;
        drop(oldest);
      }
    },
    delete: drop,
  };
}
