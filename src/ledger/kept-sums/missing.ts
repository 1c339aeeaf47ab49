import type { Kysely } from 'kysely';
import type { Tables } from '../../store/tables.ts';
import { HOUR_MS, stepsMs } from './sets.ts';

/** Spans that ended less than so long ago are left for later: most requests that began in them have ended by then. */
const SETTLED_MS = 10 * 60_000;

/** A span of time that no sums are kept of, or whose values are not counted. Times in milliseconds, `at` since the epoch. */
export interface MissingSpan {
  stepMs: number;
  at: number;
}

/** One go at keeping what is missing. */
export interface KeepingTurn {
  /** Milliseconds since the epoch. */
  now(): number;
  /** True once it is to end; the next one goes on. */
  over(): boolean;
}

/** The spans that have ended and that sums are neither kept nor archived of: those of each length together, the latest first. */
export async function missingSpans(db: Kysely<Tables>, now: number): Promise<MissingSpan[]> {
  const first = await db.selectFrom('requests').select('started_at').orderBy('started_at').limit(1).execute();
  const oldest = first[0]?.started_at;
  if (oldest === undefined) return [];
  const missing: MissingSpan[] = [];
  for (const stepMs of stepsMs) {
    const spanStarts = await db
      .selectFrom('usage_spans')
      .select('at')
      .where('step_ms', '=', stepMs)
      .where('complete', '=', 1)
      // Of an earlier version there may be sums of hours whose values are not counted.
      .where((where) => where.or([where('counted', '>', 0), where('step_ms', '!=', HOUR_MS)]))
      .execute();
    const archived = await db
      .selectFrom('archived_spans')
      .select('at')
      .where('step_ms', '=', stepMs)
      .execute();
    const complete = new Set([...spanStarts, ...archived].map(({ at }) => at));
    const last = Math.floor((now - SETTLED_MS) / stepMs) * stepMs - stepMs;
    for (let at = last; at + stepMs > oldest; at -= stepMs)
      if (!complete.has(at)) missing.push({ stepMs, at });
  }
  return missing;
}
