import { sql } from 'kysely';
import { CLOCK_TOLERANCE_MS } from '../lib/time/clock.ts';
import type { PostgresStore } from '../store/database.ts';
import { type Lease, serverTime, takeLease } from '../store/lease.ts';

/** What is kept of the scheduled backups of a database that several gateways share. */
const JOB = 'scheduled backup';

/** How long the gateway that made the last one is waited for: so the files stay together while it runs. */
const TAKE_OVER_MS = 40 * 60_000;
const LEASE_MS = 5 * 60_000;
const RENEWED_MS = LEASE_MS / 5;

export interface SharedScheduleInput {
  store: Pick<PostgresStore, 'db' | 'kind' | 'node'>;
  /** Age of the last one at which the next is made, in milliseconds. */
  everyMs: number;
  /** Told of a lease that could not be renewed: another gateway may begin, too. */
  onError(error: unknown): void;
}

/**
 * Makes a backup when none of the gateways has made one lately, and none is making one. All times are those of the server.
 * @returns null where it was not done
 * @throws what `make` throws; it is due then as before
 */
export async function whenDueInCluster<T>(
  { everyMs, onError, store }: SharedScheduleInput,
  make: () => Promise<T>,
): Promise<T | null> {
  if ((await dueAt(store, everyMs)) === null) return null;
  const lease = await takeLease(store, JOB, LEASE_MS);
  if (lease === null) return null;
  const renewal = setInterval(() => void renew(lease).catch(onError), RENEWED_MS).unref();
  try {
    // Somebody else may have been done with it just before.
    const at = await dueAt(store, everyMs);
    if (at === null) return null;
    const result = await make();
    const { db, node } = store;
    await db
      .insertInto('job_runs')
      .values({ name: JOB, at, node })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ at, node }))
      .execute();
    return result;
  } finally {
    clearInterval(renewal);
    await lease.release().catch(onError);
  }
}

async function renew(lease: Lease): Promise<void> {
  if (!(await lease.renew(LEASE_MS))) throw new Error('another gateway has taken the lease of the backup');
}

/** The time now, in milliseconds since the epoch, where one is due; else null. */
async function dueAt({ db, node }: SharedScheduleInput['store'], everyMs: number): Promise<number | null> {
  const { rows } = await sql<{ now: number; at: number | null; node: string | null }>`
    select ${serverTime} as now, at, node from (select 1) as one left join job_runs on name = ${JOB}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return null;
  const now = Number(row.now);
  if (row.at === null) return now;
  const age = now - row.at;
  const due = row.node === node ? everyMs : everyMs + TAKE_OVER_MS;
  // Made before the clock of the server was set back.
  return age >= due || age < -CLOCK_TOLERANCE_MS ? now : null;
}
