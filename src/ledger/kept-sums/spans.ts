import { sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import type { SumsQuery } from '../sums.ts';
import { validRollups } from './rollups.ts';
import { isPacked, isPackedAlone, isRollupStep, type KeptSet } from './sets.ts';

/** Requests that began at or after `since` and before `before`, in milliseconds since the epoch. */
export type Time = Pick<SumsQuery, 'before' | 'since'>;

/** Where sums are: kept of requests that are in the ledger, packed too, or archived of those that were removed from it. */
export type Source = 'usage' | 'packed' | 'archived';

/** Spans next to each other whose sums are in one place. */
export interface Span {
  from: number;
  before: number;
  source: Source;
}

interface SpanStart {
  at: number;
  source: Source;
}

/** The spans that there are sums of, as they were at one moment. */
export interface SummedSpans {
  /** Those of a set that lie within a time, in order. */
  of(set: KeptSet, time: Time): Span[];
}

/**
 * Reads which spans there are sums of.
 * @param sets whose spans are wanted
 * @param from `all`: also of requests that were removed from the ledger. Where there are both, what is archived counts: its requests are being
 * removed
 */
export async function summedSpans(
  { db }: Pick<Store, 'db'>,
  sets: readonly KeptSet[],
  time: Time,
  from: 'ledger' | 'all',
): Promise<SummedSpans> {
  const steps = [...new Set(sets.map(({ stepMs }) => stepMs))];
  const kept = await startsOf(db, 'usage_spans', steps, time);
  // Of a shorter span than the sums are kept for there are none in the archive.
  const archivable = sets.filter((set) => !isPackedAlone(set)).map(({ stepMs }) => stepMs);
  const archived = from === 'all' ? await startsOf(db, 'archived_spans', archivable, time) : [];
  const gone = new Set(archived.map(({ at, stepMs }) => `${stepMs} ${at}`));
  const rolled = await validRollups(db, steps.filter(isRollupStep), time);
  const starts = (set: KeptSet): SpanStart[] => {
    const { stepMs } = set;
    if (isRollupStep(stepMs))
      return rolled.filter((one) => one.stepMs === stepMs).map(({ at }) => ({ at, source: 'packed' }));
    const own = kept
      .filter((one) => one.stepMs === stepMs && !gone.has(`${stepMs} ${one.at}`))
      .map(
        ({ at, packed }): SpanStart => ({ at, source: packed === 1 && isPacked(set) ? 'packed' : 'usage' }),
      );
    if (isPackedAlone(set)) return own.filter(({ source }) => source === 'packed');
    const removed = archived
      .filter((one) => one.stepMs === stepMs)
      .map(({ at }): SpanStart => ({ at, source: 'archived' }));
    return [...removed, ...own].sort((one, other) => one.at - other.at);
  };
  const known = new Map<KeptSet, SpanStart[]>();
  return {
    of(set, { before = Number.POSITIVE_INFINITY, since }) {
      const all = known.get(set) ?? starts(set);
      known.set(set, all);
      return joined(
        all.filter(({ at }) => at >= since && at + set.stepMs <= before),
        set.stepMs,
      );
    },
  };
}

interface StoredSpan {
  stepMs: number;
  at: number;
  packed: number;
}

/** Those of some lengths that are complete and lie within a time, in order. */
async function startsOf(
  db: Store['db'],
  table: 'usage_spans' | 'archived_spans',
  steps: readonly number[],
  { before, since }: Time,
): Promise<StoredSpan[]> {
  if (steps.length === 0) return [];
  const [packed, isComplete] =
    table === 'usage_spans' ? [sql`packed`, sql`and complete = 1`] : [sql`0`, sql``];
  const { rows } =
    await sql<StoredSpan>`select step_ms as "stepMs", at, ${packed} as packed from ${sql.ref(table)}
    where step_ms in (${sql.join(steps.map((stepMs) => sql.lit(stepMs)))}) and at >= ${since} ${isComplete}
      ${before === undefined ? sql`` : sql`and at < ${before}`}
    order by at`.execute(db);
  return rows;
}

/** Those next to each other as one. */
function joined(starts: readonly SpanStart[], stepMs: number): Span[] {
  const spans: Span[] = [];
  for (const { at, source } of starts) {
    const last = spans.at(-1);
    if (last?.before === at && last.source === source) last.before = at + stepMs;
    else spans.push({ from: at, before: at + stepMs, source });
  }
  return spans;
}
