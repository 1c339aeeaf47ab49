/** Registers what closes a part. The name is for the log. `extraMs`: how much longer than other parts it may take; default 0. */
export type OnClose = (name: string, close: () => Promise<void> | void, extraMs?: number) => void;

/** A part that did not close as it should. */
export type CloseFault =
  | { kind: 'failed'; name: string; error: unknown }
  /** It was given up after `waitedMs` milliseconds, and may still be closing. */
  | { kind: 'late'; name: string; waitedMs: number };

export interface CloseLimits {
  /** How long one part may take, in milliseconds, beside what it asked for. */
  partMs: number;
  /** How long all parts together may take, in milliseconds. */
  totalMs: number;
}

export interface Closers {
  add: OnClose;
  /** Closes each part once, the last added first, one after the other; goes on after a fault, and calls `onFault` with it at once. */
  closeAll(limits: CloseLimits, onFault: (fault: CloseFault) => void): Promise<void>;
}

/** What a part gets when the others have used up the total: most close at once. */
const LEAST_MS = 200;

export function createClosers(): Closers {
  const closers: { name: string; close: () => Promise<void> | void; extraMs: number }[] = [];
  return {
    add: (name, close, extraMs = 0) => void closers.unshift({ name, close, extraMs }),
    async closeAll({ partMs, totalMs }, onFault) {
      const deadline = performance.now() + totalMs;
      for (const { close, extraMs, name } of closers.splice(0)) {
        const waitMs = Math.max(LEAST_MS, Math.min(partMs + extraMs, deadline - performance.now()));
        const fault = await closeOne(name, close, waitMs);
        if (fault !== null) onFault(fault);
      }
    },
  };
}

async function closeOne(
  name: string,
  close: () => Promise<void> | void,
  waitMs: number,
): Promise<CloseFault | null> {
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CloseFault>((resolve) => {
    // It keeps the process alive: without it, a process with nothing else to do ends here, with exit code 0.
    timer = setTimeout(
      () => resolve({ kind: 'late', name, waitedMs: Math.round(performance.now() - begun) }),
      waitMs,
    );
  });
  const closed = async (): Promise<CloseFault | null> => {
    try {
      await close();
      return null;
    } catch (error) {
      return { kind: 'failed', name, error };
    }
  };
  try {
    return await Promise.race([closed(), late]);
  } finally {
    clearTimeout(timer);
  }
}
