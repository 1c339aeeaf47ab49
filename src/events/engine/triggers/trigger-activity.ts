/** Counters since the trigger was opened. */
export interface TriggerCounters {
  /** Events that the processor took. */
  delivered: number;
  /** Attempts that failed, whatever came of the event. */
  failed: number;
  /** Events that are tried again. */
  retried: number;
  deadLettered: number;
  /** Events that failed for the last time and were not kept: there is no strategy for dead letters, or their storage drops them. */
  discarded: number;
  /** Events that came again after they were handled. */
  duplicates: number;
  /** Duplicates with other data than before. */
  mismatched: number;
  /** Events that no router leads to the trigger. */
  filtered: number;
  /** Of these, events that are of no source. */
  unrouted: number;
}

export type PauseReason =
  /** The receiver wants no more events. */
  | 'gone'
  /** There is no room for a dead letter. */
  | 'dead-letters-full'
  /** Dead letters cannot be kept. */
  | 'dead-letters-unavailable';

export interface Pause {
  readonly reason: PauseReason;
  readonly detail: string;
}

export interface LastError {
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What a trigger does, at all channels together. */
export interface TriggerActivity {
  readonly counters: TriggerCounters;
  lastError: LastError | null;
  pause(pause: Pause): void;
  resume(reason: PauseReason): void;
  paused(): Pause | null;
  /** Resolves when the trigger is not paused. @returns false when the signal ends the wait */
  running(signal: AbortSignal): Promise<boolean>;
}

/** @param onPause called when the trigger pauses, and with null when it goes on */
export function createTriggerActivity(onPause: (pause: Pause | null) => void): TriggerActivity {
  const pauses = new Map<PauseReason, Pause>();
  const waiting = new Set<() => void>();
  const paused = (): Pause | null => pauses.values().next().value ?? null;
  return {
    counters: {
      delivered: 0,
      failed: 0,
      retried: 0,
      deadLettered: 0,
      discarded: 0,
      duplicates: 0,
      mismatched: 0,
      filtered: 0,
      unrouted: 0,
    },
    lastError: null,
    pause(pause) {
      const before = pauses.size;
      pauses.set(pause.reason, pause);
      if (before === 0) onPause(pause);
    },
    resume(reason) {
      if (!pauses.delete(reason) || pauses.size > 0) return;
      onPause(null);
      for (const go of waiting) go();
    },
    paused,
    running(signal) {
      if (signal.aborted) return Promise.resolve(false);
      if (pauses.size === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const end = (goes: boolean) => {
          waiting.delete(go);
          signal.removeEventListener('abort', stop);
          resolve(goes);
        };
        const go = () => end(true);
        const stop = () => end(false);
        waiting.add(go);
        signal.addEventListener('abort', stop, { once: true });
      });
    },
  };
}
