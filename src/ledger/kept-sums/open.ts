import type { Schedule } from '../../lib/schedule.ts';
import type { SqliteStore } from '../../store/database.ts';
import { keepSums } from './keep.ts';
import { stepsMs } from './sets.ts';

const LOOK_MS = 60_000;
/** Spans that ended less than so long ago are left for later: most requests that began in them have ended by then. */
const SETTLED_MS = 10 * 60_000;
/** How long one look may take; the next one goes on. */
const TURN_MS = 20_000;

export interface KeptSumsInput {
  store: Pick<SqliteStore, 'working'>;
  /** Runs work on that connection while nobody else uses it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  schedule: Pick<Schedule, 'every'>;
  /** Milliseconds since the epoch. */
  now(): number;
  onError(error: unknown): void;
}

/**
 * Keeps sums over the ledger, in the background and in a thread of their own: of each hour and day soon after it has ended,
 * and of all earlier ones little by little, the latest first. @returns what stops it
 */
export function openKeptSums({ alone, now, onError, schedule, store }: KeptSumsInput): () => void {
  let stopped = false;
  const stop = schedule.every({
    name: 'kept sums',
    everyMs: LOOK_MS,
    run: () => alone(() => keepMissing(store, now, () => stopped)),
    onError,
  });
  return () => {
    stopped = true;
    stop();
  };
}

/** Keeps the sums of spans that have ended and are not complete. @returns how many */
export async function keepMissing(
  { working }: Pick<SqliteStore, 'working'>,
  now: () => number,
  stopped: () => boolean = () => false,
  turnMs: number = TURN_MS,
): Promise<number> {
  const began = performance.now();
  const first = await working
    .selectFrom('requests')
    .select('started_at')
    .orderBy('started_at')
    .limit(1)
    .execute();
  const oldest = first[0]?.started_at;
  if (oldest === undefined) return 0;
  let kept = 0;
  for (const stepMs of stepsMs) {
    const rows = await working
      .selectFrom('usage_spans')
      .select('at')
      .where('step_ms', '=', stepMs)
      .where('complete', '=', 1)
      .execute();
    const archived = await working
      .selectFrom('archived_spans')
      .select('at')
      .where('step_ms', '=', stepMs)
      .execute();
    const complete = new Set([...rows, ...archived].map(({ at }) => at));
    const last = Math.floor((now() - SETTLED_MS) / stepMs) * stepMs - stepMs;
    for (let at = last; at + stepMs > oldest; at -= stepMs) {
      if (complete.has(at)) continue;
      if (stopped() || performance.now() - began > turnMs) return kept;
      if (await keepSums(working, stepMs, at)) kept += 1;
    }
  }
  return kept;
}
