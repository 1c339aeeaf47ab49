/** Messages that wait for a client to read them. */
export interface MessageQueue<T> extends AsyncIterable<{ message: T; missed: number }> {
  add(message: T): void;
}

/** How many messages wait at most, and which are left out where there would be more. */
export interface QueueLimit {
  readonly most: number;
  readonly leaveOut: 'newest' | 'oldest';
}

/** Ends with the signal. `missed` counts what was left out before a message. */
export function createMessageQueue<T>(signal: AbortSignal, { leaveOut, most }: QueueLimit): MessageQueue<T> {
  const waiting: { message: T; missed: number }[] = [];
  let missed = 0;
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  return {
    add(message) {
      if (waiting.length >= most) {
        missed += 1;
        if (leaveOut === 'newest') return;
        missed += waiting.shift()?.missed ?? 0;
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
