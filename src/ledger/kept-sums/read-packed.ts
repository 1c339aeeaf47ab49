import { setImmediate } from 'node:timers/promises';
import type { LedgerReader } from '../sliced-sums.ts';
import { blobColumn, bytesOf } from './blob.ts';
import type { PackedSumsTotal } from './packed-sums.ts';
import { DAY_MS, type KeptSet } from './sets.ts';

/** Spans next to each other whose sums are packed; times in milliseconds since the epoch. */
export interface PackedTime {
  set: KeptSet;
  from: number;
  before: number;
}

/** Days, or a few hours of each, in one query: some megabytes. */
const SPANS_AT_ONCE = 8;

/** Adds the packed sums of a time, with room for other work between the spans. */
export async function addPacked(
  total: PackedSumsTotal,
  { db, kind }: LedgerReader,
  { before, from, set }: PackedTime,
): Promise<void> {
  const spans = SPANS_AT_ONCE * (set.stepMs === DAY_MS ? 1 : 3);
  for (let start = from; start < before; start += spans * set.stepMs) {
    const rows = await db
      .selectFrom('packed_sums')
      .select(['at', blobColumn(kind, 'sums').as('sums')])
      .where('grouping_name', '=', set.name)
      .where('step_ms', '=', set.stepMs)
      .where('at', '>=', start)
      .where('at', '<', Math.min(before, start + spans * set.stepMs))
      .execute();
    for (const { at, sums } of rows) {
      total.add(at, bytesOf(sums));
      await setImmediate();
    }
  }
}
