/** Lets what is done to one thing be done one after the other, in the order in which it was asked for. */
export interface KeyedMutex {
  /** Resolves with what lets the next one in, once all who asked for this name before have done so. To call it twice does nothing. */
  acquire(name: string): Promise<() => void>;
  /** Runs when nothing else with this name does. */
  runExclusive<T>(name: string, run: () => T | Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  /** By name: the end of the last run that was let in. */
  const last = new Map<string, Promise<void>>();
  const acquire = async (name: string): Promise<() => void> => {
    const before = last.get(name);
    const { promise: mine, resolve: done } = Promise.withResolvers<void>();
    last.set(name, mine);
    await before;
    return () => {
      if (last.get(name) === mine) last.delete(name);
      done();
    };
  };
  return {
    acquire,
    async runExclusive(name, run) {
      const release = await acquire(name);
      try {
        return await run();
      } finally {
        release();
      }
    },
  };
}
