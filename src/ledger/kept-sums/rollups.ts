import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { type ValueAttribute, valueAttributes } from '../counted-columns.ts';
import { blobColumn, bytesOf } from './blob.ts';
import { briefOf } from './count-values.ts';
import type { MissingSpan } from './missing.ts';
import { createPackedSumsTotal, encodeSums } from './packed-sums.ts';
import { DAY_MS, HOUR_MS, packedSets, type RollupStep, rollupSteps } from './sets.ts';
import { type Brief, briefs, createCountsSum, encodeBrief, encodeCounts } from './value-counts.ts';

type Db = Kysely<Tables>;

/** A span whose sums are to be added up from those of shorter ones, and what was true of its hours. */
export interface RollupSpan extends RollupStep {
  /** In milliseconds since the epoch. */
  at: number;
  fingerprint: string;
}

/** What a span has, as bytes: sums by the name of the set, and counts by attribute. */
interface RollupContent {
  sums: ReadonlyMap<string, Uint8Array>;
  counts: ReadonlyMap<string, Uint8Array>;
}

/** What the counts of a rollup are found by, and which brief they are. */
export interface RolledCounts {
  name: string;
  brief: Brief | undefined;
}

/** Of keys there are as many as requests: for several days only what a list of the first needs. */
export function rolledCountsOf(attribute: ValueAttribute, stepMs: number): readonly RolledCounts[] {
  if (attribute !== 'key_id' || stepMs < DAY_MS) return [{ name: attribute, brief: undefined }];
  return (Object.keys(briefs) as Brief[]).map((brief) => ({ name: briefOf(attribute, brief), brief }));
}

/** An hour that is summed up, counted and packed: each time another number. */
const isWholeHour = sql<boolean>`hours.step_ms = ${sql.lit(HOUR_MS)} and hours.complete = 1 and hours.counted > 0
  and hours.packed = 1`;

const fingerprint = sql<string>`count(*) || ' ' || coalesce(sum(hours.counted), 0)`;

/** The spans of some lengths that lie within a time and whose sums still hold, in order. Times in milliseconds since the epoch. */
export async function validRollups(
  db: Db,
  steps: readonly number[],
  { before, since }: { since: number; before?: number | undefined },
): Promise<MissingSpan[]> {
  if (steps.length === 0) return [];
  const end = before === undefined ? sql`` : sql`and rollup.at <= ${before} - rollup.step_ms`;
  const { rows } =
    await sql<MissingSpan>`select rollup.step_ms as "stepMs", rollup.at as at from sum_rollups as rollup
    where rollup.step_ms in (${sql.join(steps.map((stepMs) => sql.lit(stepMs)))}) and rollup.at >= ${since} ${end}
      and rollup.fingerprint = (select ${fingerprint} from usage_spans as hours
        where ${isWholeHour} and hours.at >= rollup.at and hours.at < rollup.at + rollup.step_ms)
    order by rollup.at`.execute(db);
  return rows;
}

/** The spans that may be added up and are not, of each length those of the latest time first; shorter ones come before longer ones. */
export async function missingRollups(db: Db): Promise<RollupSpan[]> {
  const hours = await sql<{ at: number; counted: number }>`
    select at, counted from usage_spans as hours where ${isWholeHour} order by at desc`.execute(db);
  const days = await sql<{ at: number }>`select at from usage_spans
    where step_ms = ${sql.lit(DAY_MS)} and complete = 1 and packed = 1 and at in (
      select at from value_counts where step_ms = ${sql.lit(DAY_MS)} and attribute = ${briefOf('key_id', 'requests')}
    )`.execute(db);
  const stored = await db.selectFrom('sum_rollups').selectAll().execute();
  const fingerprints = new Map(stored.map((one) => [`${one.step_ms} ${one.at}`, one.fingerprint]));
  const ready = new Map([
    [HOUR_MS, new Set(hours.rows.map(({ at }) => at))],
    [DAY_MS, new Set(days.rows.map(({ at }) => at))],
  ]);
  const missing: RollupSpan[] = [];
  for (const { of, stepMs } of rollupSteps) {
    const parts = ready.get(of) ?? new Set();
    const spans = Map.groupBy(hours.rows, ({ at }) => Math.floor(at / stepMs) * stepMs);
    const usable = new Set<number>();
    for (const [at, within] of spans) {
      const starts = Array.from({ length: stepMs / of }, (_, index) => at + index * of);
      if (within.length < stepMs / HOUR_MS || !starts.every((start) => parts.has(start))) continue;
      usable.add(at);
      const sum = within.reduce((total, { counted }) => total + counted, 0);
      const current = `${within.length} ${sum}`;
      if (fingerprints.get(`${stepMs} ${at}`) !== current)
        missing.push({ stepMs, of, at, fingerprint: current });
    }
    ready.set(stepMs, usable);
  }
  return missing;
}

/** Whether something is stored of spans that does not hold any more. */
export async function hasInvalidRollups(db: Db): Promise<boolean> {
  return (await invalidRollups(db)).length > 0;
}

/** Removes what is stored of spans and does not hold any more. @param db a transaction */
export async function forgetInvalidRollups(db: Db): Promise<void> {
  for (const span of await invalidRollups(db)) await removeRollup(db, span);
}

async function invalidRollups(db: Db): Promise<MissingSpan[]> {
  const steps = rollupSteps.map(({ stepMs }) => stepMs);
  const valid = new Set(
    (await validRollups(db, steps, { since: 0 })).map((one) => `${one.stepMs} ${one.at}`),
  );
  const stored = await db.selectFrom('sum_rollups').select(['step_ms as stepMs', 'at']).execute();
  return stored.filter(({ at, stepMs }) => !valid.has(`${stepMs} ${at}`));
}

async function removeRollup(db: Db, { at, stepMs }: MissingSpan): Promise<void> {
  for (const table of ['sum_rollups', 'packed_sums', 'value_counts'] as const)
    await db.deleteFrom(table).where('step_ms', '=', stepMs).where('at', '=', at).execute();
}

/** What was added up of a span; it is to be stored with `storeRollup`. There is room for other work between its parts. */
export async function addUpRollup(db: Db, kind: Store['kind'], span: RollupSpan): Promise<RollupContent> {
  const sums = new Map<string, Uint8Array>();
  for (const { by, name } of packedSets) {
    const total = createPackedSumsTotal({ by, since: 0 });
    const rows = await db
      .selectFrom('packed_sums')
      .select(['at', blobColumn(kind, 'sums').as('sums')])
      .where('grouping_name', '=', name)
      .where('step_ms', '=', span.of)
      .where('at', '>=', span.at)
      .where('at', '<', span.at + span.stepMs)
      .execute();
    for (const row of rows) {
      total.add(row.at, bytesOf(row.sums));
      await setImmediate();
    }
    if (rows.length > 0) sums.set(name, encodeSums(total.columns()));
  }
  const counts = new Map<string, Uint8Array>();
  for (const attribute of valueAttributes)
    for (const { brief, name } of rolledCountsOf(attribute, span.stepMs)) {
      const bytes = await addedCounts(db, kind, span, name, brief);
      if (bytes !== null) counts.set(name, bytes);
    }
  return { sums, counts };
}

async function addedCounts(
  db: Db,
  kind: Store['kind'],
  { at, of, stepMs }: RollupSpan,
  name: string,
  brief: Brief | undefined,
): Promise<Uint8Array | null> {
  const rows = await db
    .selectFrom('value_counts')
    .select(blobColumn(kind, 'counts').as('counts'))
    .where('attribute', '=', name)
    .where('step_ms', '=', of)
    .where('at', '>=', at)
    .where('at', '<', at + stepMs)
    .execute();
  if (rows.length === 0) return null;
  const sum = createCountsSum();
  for (const { counts } of rows) {
    sum.addBytes(bytesOf(counts), brief);
    await setImmediate();
  }
  return brief === undefined ? encodeCounts(sum.sum()) : encodeBrief(sum.sum(), brief);
}

/**
 * Stores what was added up of a span, unless its hours changed since it was found missing.
 * @param db a transaction
 * @returns whether it is stored
 */
export async function storeRollup(
  db: Db,
  span: RollupSpan,
  { counts, sums }: RollupContent,
): Promise<boolean> {
  const { rows } = await sql<{ current: string }>`select ${fingerprint} as current from usage_spans as hours
    where ${isWholeHour} and hours.at >= ${span.at} and hours.at < ${span.at + span.stepMs}`.execute(db);
  if (rows[0]?.current !== span.fingerprint) return false;
  await removeRollup(db, span);
  const place = { step_ms: span.stepMs, at: span.at };
  // One by one: a worker's statement has its bytes copied.
  for (const [grouping_name, bytes] of sums)
    await db
      .insertInto('packed_sums')
      .values({ ...place, grouping_name, sums: bytes })
      .execute();
  for (const [attribute, bytes] of counts)
    await db
      .insertInto('value_counts')
      .values({ ...place, attribute, counts: bytes })
      .execute();
  await db
    .insertInto('sum_rollups')
    .values({ ...place, fingerprint: span.fingerprint })
    .execute();
  return true;
}
