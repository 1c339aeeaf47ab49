import { z } from 'zod';
import type { Store } from '../../store/database.ts';
import { ownIds } from '../../store/node-name.ts';
import type { Lease } from './lease.ts';
import { parseTally, type Tally } from './tally.ts';

/** What a gateway remembers of a budget that it shares. */
export interface RememberedTally {
  tally: Tally;
  /** The ids under which it reported, the latest first. */
  own: readonly string[];
}

/** Starts that are remembered: those before them are long over. */
const STARTS = 8;

const columns = ['key', 'own', 'tally'] as const;

/** The state of shared budgets, stored beyond this process. */
export function leaseStore({ db, insertMany, node }: Pick<Store, 'db' | 'insertMany' | 'node'>) {
  const ids = ownIds({ node });
  return {
    /** What was remembered last; null where nothing was. */
    async load(key: string): Promise<RememberedTally | null> {
      const row = await db
        .selectFrom('budget_tallies')
        .select(['own', 'tally'])
        .where('key', '=', ids.stored(key))
        .executeTakeFirst();
      const tally = parseTally(row?.tally ?? null);
      if (row === undefined || tally === null) return null;
      return { tally, own: z.array(z.string()).parse(JSON.parse(row.own)) };
    },

    /**
     * Remembers what a lease covers. Does not wait: while the database cannot be written, the next time has to do.
     * @param onError called with the reason when it was not written, by either engine. @param onSaved called when it was
     */
    save(
      { former, key, me, tally }: Lease,
      onError: (error: unknown) => void,
      onSaved: () => void = () => {},
    ): void {
      const own = [me, ...former].slice(0, STARTS);
      const row = [ids.stored(key), JSON.stringify(own), JSON.stringify(tally)];
      try {
        const saved = insertMany('budget_tallies', columns, [row]);
        if (typeof saved !== 'boolean') saved.then((written) => written && onSaved(), onError);
        else if (saved) onSaved();
      } catch (error) {
        onError(error);
      }
    },

    async forget(key: string): Promise<void> {
      await db.deleteFrom('budget_tallies').where('key', '=', ids.stored(key)).execute();
    },

    /** Forgets all: what is used while nothing is shared is known to the ledger alone. */
    async forgetAll(): Promise<void> {
      const rows = await db.selectFrom('budget_tallies').select('key').execute();
      const own = rows.map(({ key }) => key).filter((key) => ids.own(key) !== null);
      if (own.length > 0) await db.deleteFrom('budget_tallies').where('key', 'in', own).execute();
    },
  };
}

export type LeaseStore = ReturnType<typeof leaseStore>;
