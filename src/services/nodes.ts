import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';

/** How often a gateway says that it is there, to those that share its database. */
const SEEN_MS = 10_000;
/** One that was silent for so long, and did not say that it ends, is gone. */
const FORGOTTEN_MS = 24 * 3_600_000;

export interface NodeInput {
  store: Pick<Store, 'db' | 'node'>;
  schedule: Pick<Schedule, 'every'>;
  host: string;
  version: string;
  /** Where it listens; null as long as it does not. */
  url(): string | null;
  /** Milliseconds since the epoch. */
  now(): number;
  onError(error: unknown): void;
}

/** Keeps a record of this gateway in the database that it shares. @returns what takes it away */
export async function announceNode(input: NodeInput): Promise<() => Promise<void>> {
  const { host, now, onError, schedule, store, url, version } = input;
  const { db, node: id } = store;
  const started = now();
  const say = async () => {
    const seen = { host, url: url() ?? '', version, started_at: started, seen_at: now() };
    await db
      .insertInto('nodes')
      .values({ id, ...seen })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(seen))
      .execute();
    await db
      .deleteFrom('nodes')
      .where('seen_at', '<', now() - FORGOTTEN_MS)
      .execute();
  };
  await say();
  const stop = schedule.every({ name: 'gateways', everyMs: SEEN_MS, run: say, onError });
  return async () => {
    stop();
    await db.deleteFrom('nodes').where('id', '=', id).execute();
  };
}
