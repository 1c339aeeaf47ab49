/** Messages that wait for a client to read them. */
export interface MessageQueue<T> extends AsyncIterable<{ message: T; missed: number }> {
  add(message: T): void;
}

/** Beyond so many, new ones are left out until the client has caught up. */
const MOST_WAITING = 1_000;

/** Ends with the signal. `missed` counts what was left out before a message. */
export function createMessageQueue<T>(signal: AbortSignal): MessageQueue<T> {
  const waiting: { message: T; missed: number }[] = [];
  let missed = 0;
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  return {
    add(message) {
      if (waiting.length >= MOST_WAITING) {
        missed += 1;
        return;
      }
      waiting.push({ message, missed });
      missed = 0;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}
