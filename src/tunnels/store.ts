import type { Store } from '../store/database.ts';
import { ownIds } from '../store/node-name.ts';
import type { TunnelId } from './schema.ts';

/** A tunnel that was created. Times in milliseconds since the epoch. */
export interface TunnelRecord {
  id: TunnelId;
  domain: string | null;
  desired: 'running' | 'stopped';
  createdAt: number;
}

export interface TunnelStore {
  list(): Promise<TunnelRecord[]>;
  /** Writes one, in the place of one of its kind. */
  put(record: TunnelRecord): Promise<void>;
  /** False when there was none. */
  remove(id: TunnelId): Promise<boolean>;
}

export function tunnelStore({ db, node }: Pick<Store, 'db' | 'node'>): TunnelStore {
  const ids = ownIds({ node });
  const stored = (id: TunnelId) => ids.stored(id) as TunnelId;
  return {
    async list() {
      const rows = await db.selectFrom('tunnels').selectAll().orderBy('created_at').execute();
      return rows.flatMap((row) => {
        const id = ids.own(row.id) as TunnelId | null;
        if (id === null) return [];
        return [{ id, domain: row.domain, desired: row.desired_state, createdAt: row.created_at }];
      });
    },
    async put({ createdAt: created_at, desired: desired_state, domain, id }) {
      const row = { domain, desired_state, created_at };
      await db
        .insertInto('tunnels')
        .values({ id: stored(id), ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
    },
    async remove(id) {
      const { numDeletedRows } = await db
        .deleteFrom('tunnels')
        .where('id', '=', stored(id))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
