import type { Store } from '../../store/database.ts';
import { open, seal } from './seal.ts';

/**
 * Encrypts where alerts go, and what signs their webhooks, with another key.
 * @param db a transaction
 * @returns the names of the alerts that `from` does not open, which stay as they are
 */
export async function resealAlerts(db: Store['db'], from: Buffer, to: Buffer): Promise<string[]> {
  const unreadable: string[] = [];
  for (const { id, name, secret, target } of await db.selectFrom('alerts').selectAll().execute()) {
    const opened = open(from, target, id);
    const signing = secret === null ? null : open(from, secret, id);
    if (opened === null || (secret !== null && signing === null)) unreadable.push(name);
    else
      await db
        .updateTable('alerts')
        .set({ target: seal(to, opened, id), secret: signing === null ? null : seal(to, signing, id) })
        .where('id', '=', id)
        .execute();
  }
  return unreadable;
}

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
