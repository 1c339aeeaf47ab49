/** Lets what is done to one thing be done one after the other, while other things go on beside it. */
export interface KeyedMutex {
  /** Runs when nothing else with this name does. */
  runExclusive<T>(name: string, run: () => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  /** By name: the end of the last run that was let in. */
  const last = new Map<string, Promise<void>>();
  return {
    async runExclusive(name, run) {
      const before = last.get(name);
      const { promise: mine, resolve: done } = Promise.withResolvers<void>();
      last.set(name, mine);
      await before;
      try {
        return await run();
      } finally {
        if (last.get(name) === mine) last.delete(name);
        done();
      }
    },
  };
}
