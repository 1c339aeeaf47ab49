/** Values by name, the last used of them up to a bound. */
export interface LruCache<Value> {
  get(name: string): Value | undefined;
  /** A value larger than the bound is not kept. */
  set(name: string, value: Value): void;
  delete(name: string): void;
}

/** @param maxSize of all values together, each as large as `sizeOf` says */
export function createLruCache<Value>(maxSize: number, sizeOf: (value: Value) => number): LruCache<Value> {
  // A Map keeps its order of insertion: the first one is the one that was not used for the longest time.
  const values = new Map<string, Value>();
  let size = 0;
  const drop = (name: string): void => {
    const value = values.get(name);
    if (value === undefined) return;
    size -= sizeOf(value);
    values.delete(name);
  };
  return {
    get(name) {
      const value = values.get(name);
      if (value === undefined) return undefined;
      values.delete(name);
      values.set(name, value);
      return value;
    },
    set(name, value) {
      drop(name);
      if (sizeOf(value) > maxSize) return;
      values.set(name, value);
      size += sizeOf(value);
      for (const oldest of values.keys()) {
        if (size <= maxSize) return;
        drop(oldest);
      }
    },
    delete: drop,
  };
}
