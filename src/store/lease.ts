import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { CLOCK_TOLERANCE_MS } from '../lib/time/clock.ts';
import type { Store } from './database.ts';

/** The time of a PostgreSQL server, in milliseconds since the epoch. */
export const serverTime = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** The right to do something that only one process may do at a time. Ends by itself, should its holder die. */
export interface Lease {
  /** Keeps it for so many milliseconds from now. False where another holder has it by now. */
  renew(forMs: number): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * Takes the lease of this name, or returns null while another holder, in this process or another one, has it.
 * Never waits. Times are those of the PostgreSQL server, which all gateways share, or of this machine.
 * @param forMs after so many milliseconds anybody may take it
 */
export async function takeLease(
  { db, kind }: Pick<Store, 'db' | 'kind'>,
  name: string,
  forMs: number,
  now: () => number = Date.now,
): Promise<Lease | null> {
  const owner = randomBytes(12).toString('base64url');
  const time = kind === 'postgres' ? sql<number>`${serverTime}` : sql<number>`${now()}`;
  const untilAfter = (ms: number) => sql<number>`${time} + ${ms}`;
  const until = untilAfter(forMs);
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('leases')
    .values({ name, owner, until })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ owner, until })
        .where((where) =>
          where.or([
            where('leases.until', '<=', time),
            // Taken before the clock was set back: it would outlive its time.
            where('leases.until', '>', sql<number>`${until} + ${CLOCK_TOLERANCE_MS}`),
          ]),
        ),
    )
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return null;
  return {
    async renew(ms) {
      const { numUpdatedRows } = await db
        .updateTable('leases')
        .set({ until: untilAfter(ms) })
        .where('name', '=', name)
        .where('owner', '=', owner)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    async release() {
      await db.deleteFrom('leases').where('name', '=', name).where('owner', '=', owner).execute();
    },
  };
}
