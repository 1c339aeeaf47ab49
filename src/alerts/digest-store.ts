import type { Store } from '../store/database.ts';
import { type DigestWindow, digestWindow } from './digest.ts';

/** The open windows of digests, by the id of their alert. */
export interface DigestStore {
  find(alertId: string): Promise<DigestWindow | null>;
  /** Resolves when it is stored; what is saved meanwhile is stored with it. Null forgets it. */
  save(alertId: string, window: () => DigestWindow | null): Promise<void>;
}

export function digestStore({ db }: Pick<Store, 'db'>): DigestStore {
  const saving = new Map<string, Promise<void>>();
  const write = async (alertId: string, window: DigestWindow | null) => {
    if (window === null) await db.deleteFrom('alert_digests').where('alert_id', '=', alertId).execute();
    else {
      const state = JSON.stringify(window);
      await db
        .insertInto('alert_digests')
        .values({ alert_id: alertId, state })
        .onConflict((conflict) => conflict.column('alert_id').doUpdateSet({ state }))
        .execute();
    }
  };
  return {
    async find(alertId) {
      const row = await db
        .selectFrom('alert_digests')
        .select('state')
        .where('alert_id', '=', alertId)
        .executeTakeFirst();
      return row === undefined ? null : (digestWindow.safeParse(JSON.parse(row.state)).data ?? null);
    },
    save(alertId, window) {
      const waiting = saving.get(alertId);
      if (waiting !== undefined) return waiting;
      // Events come by the dozen: what they count is written once.
      const saved = new Promise((resolve) => setImmediate(resolve)).then(() => {
        saving.delete(alertId);
        return write(alertId, window());
      });
      saving.set(alertId, saved);
      return saved;
    },
  };
}
