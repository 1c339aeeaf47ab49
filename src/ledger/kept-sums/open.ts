import type { Schedule } from '../../lib/time/schedule.ts';
import type { SqliteStore, Store } from '../../store/database.ts';
import { uncountedDays } from './count-values.ts';
import {
  countDayInFile,
  forgetInvalidInFile,
  keepSums,
  packInFile,
  rollUpInFile,
  updateRunTotalInFile,
} from './keep.ts';
import { keepMissingOnServer } from './keep-on-server.ts';
import { type KeepingTurn, type MissingSpan, missingSpans } from './missing.ts';
import { unpackedSpans } from './pack-spans.ts';
import { hasInvalidRollups, missingRollups } from './rollups.ts';
import { HOUR_MS } from './sets.ts';

const LOOK_MS = 60_000;
/** How long one look may take; the next one goes on. */
const TURN_MS = 20_000;

export interface KeptSumsInput {
  store: Store;
  /** Runs work on the store's connection for background work while nobody else uses it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  schedule: Pick<Schedule, 'every'>;
  /** Milliseconds since the epoch. */
  now(): number;
  onError(error: unknown): void;
}

/**
 * Keeps sums over the ledger, in the background and in a thread of their own or on the server: of each hour and day soon after it
 * has ended, and of all earlier ones little by little, the latest first. @returns what stops it
 */
export function openKeptSums({ alone, now, onError, schedule, store }: KeptSumsInput): () => Promise<void> {
  let stopped = false;
  let running: Promise<unknown> = Promise.resolve();
  const stop = schedule.every({
    name: 'kept sums',
    everyMs: LOOK_MS,
    run() {
      const work = alone(() => keepMissing(store, now, () => stopped));
      running = work.catch(() => {});
      return work;
    },
    onError,
  });
  return async () => {
    stopped = true;
    stop();
    // A thread is ended with the store; on a server a transaction would be cut off.
    if (store.kind === 'postgres') await running;
  };
}

/** Keeps the sums of spans that have ended and are not complete. @returns how many */
export async function keepMissing(
  store: Store,
  now: () => number,
  stopped: () => boolean = () => false,
  turnMs: number = TURN_MS,
): Promise<number> {
  const began = performance.now();
  const over = () => stopped() || performance.now() - began > turnMs;
  return store.kind === 'postgres'
    ? keepMissingOnServer(store, { now, over })
    : keepMissingInFile(store, { now, over });
}

async function keepMissingInFile(
  { working }: Pick<SqliteStore, 'working'>,
  { now, over }: KeepingTurn,
): Promise<number> {
  let kept = 0;
  const missing = await missingSpans(working, now());
  const keepThose = async (spans: readonly MissingSpan[]) => {
    for (const { at, stepMs } of spans) if (!over() && (await keepSums(working, stepMs, at))) kept += 1;
  };
  await keepThose(missing.filter(({ stepMs }) => stepMs === HOUR_MS));
  for (const day of await uncountedDays(working)) if (!over()) await countDayInFile(working, day);
  await keepThose(missing.filter(({ stepMs }) => stepMs !== HOUR_MS));
  if (!over()) await updateRunTotalInFile(working);
  for (const span of await unpackedSpans(working)) if (!over()) await packInFile(working, span);
  for (const span of await missingRollups(working)) if (!over()) await rollUpInFile(working, span);
  if (!over() && (await hasInvalidRollups(working))) await forgetInvalidInFile(working);
  return kept;
}
