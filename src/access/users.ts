import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';

/** The people who may manage the gateway. The first is `admin`. */
export function userStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  return {
    /** Sets the password of `admin`, as a PHC string, making the user if need be. */
    async setAdminPassword(password: string): Promise<void> {
      const time = now();
      await db
        .insertInto('users')
        .values({
          id: newId('user', time),
          name: 'admin',
          role: 'admin',
          password,
          created_at: time,
          updated_at: time,
        })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ password, updated_at: time }))
        .execute();
    },

    async hasAdmin(): Promise<boolean> {
      const row = await db.selectFrom('users').select('id').where('role', '=', 'admin').executeTakeFirst();
      return row !== undefined;
    },
  };
}
