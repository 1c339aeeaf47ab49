/** How a job that runs again and again has been doing. Times in milliseconds since the epoch, durations in milliseconds. */
export interface JobState {
  name: string;
  everyMs: number;
  since: number;
  runs: number;
  failures: number;
  /** When it last ended; null before. */
  lastAt: number | null;
  lastMs: number | null;
  /** Why the last run failed; null when it did not. */
  lastError: string | null;
}

export interface Job {
  name: string;
  everyMs: number;
  /** A run that is not over when the next is due takes its place. */
  run(): unknown;
  /** Told of each failed run; the next comes all the same. */
  onError?(error: unknown, name: string): void;
}

/** The work that comes back by the clock, and how it goes. */
export interface Schedule {
  /** Runs a job for the first time after `everyMs`. Returns what stops it; a run under way goes on. */
  every(job: Job): () => void;
  jobs(): readonly Readonly<JobState>[];
}

export function createSchedule(now: () => number = Date.now): Schedule {
  const states = new Set<JobState>();
  return {
    jobs: () => [...states],
    every(job) {
      const { everyMs, name } = job;
      const state: JobState = {
        name,
        everyMs,
        since: now(),
        runs: 0,
        failures: 0,
        lastAt: null,
        lastMs: null,
        lastError: null,
      };
      states.add(state);
      let busy = false;
      const timer = setInterval(async () => {
        if (busy) return;
        busy = true;
        await runOnce(job, state, now);
        busy = false;
      }, everyMs).unref();
      return () => {
        clearInterval(timer);
        states.delete(state);
      };
    },
  };
}

/** Never rejects. */
async function runOnce(job: Job, state: JobState, now: () => number): Promise<void> {
  const start = performance.now();
  try {
    await job.run();
    state.lastError = null;
  } catch (error) {
    state.failures += 1;
    state.lastError = error instanceof Error ? error.message : String(error);
    job.onError?.(error, job.name);
  }
  state.runs += 1;
  state.lastAt = now();
  state.lastMs = performance.now() - start;
}
