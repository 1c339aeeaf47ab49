/** How many items go into one batch. */
const MOST = 500;

interface Waiting<Item> {
  readonly item: Item;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Carries out work on many items at once: while one batch is under way, the next one gathers, so that each waits for the disk
 * of a server once. Batches keep the order of their items. When one fails, its items are tried alone.
 */
export function createBatches<Item>(work: (items: readonly Item[]) => Promise<void>) {
  const waiting: Waiting<Item>[] = [];
  let running = false;

  const carryOut = async (batch: readonly Waiting<Item>[]): Promise<void> => {
    try {
      await work(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await carryOut([one]);
    }
  };
  const run = async () => {
    running = true;
    while (waiting.length > 0) await carryOut(waiting.splice(0, MOST));
    running = false;
  };
  return (item: Item): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!running) void run();
    });
}
