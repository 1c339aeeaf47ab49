import type { Store } from '../../store/database.ts';
import { open, seal } from './seal.ts';

/**
 * Encrypts every stored credential with another key.
 * @param db a transaction
 * @returns how many there were, and the names of the connections whose credential `from` does not open, which stay as they are
 */
export async function resealCredentials(
  db: Store['db'],
  from: Buffer,
  to: Buffer,
): Promise<{ credentials: number; unreadable: string[] }> {
  const rows = await db
    .selectFrom('connections')
    .select(['id', 'name', 'credential'])
    .where('credential', 'is not', null)
    .execute();
  const unreadable: string[] = [];
  for (const { credential, id, name } of rows) {
    const text = credential === null ? null : open(from, credential, id);
    if (text === null) unreadable.push(name);
    else
      await db
        .updateTable('connections')
        .set({ credential: seal(to, text, id) })
        .where('id', '=', id)
        .execute();
  }
  return { credentials: rows.length - unreadable.length, unreadable };
}
