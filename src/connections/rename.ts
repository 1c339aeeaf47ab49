import type { Transaction } from 'kysely';
import { findProvider } from '../providers/index.ts';
import type { Tables } from '../store/tables.ts';

/** A connection that gets another name. */
export interface Rename {
  provider: string;
  from: string;
  to: string;
}

/**
 * Carries the new name of a connection over into all that names it as `connection/model`: the targets of combos and
 * aliases, and the models that keys may use. Where it is left with the old name, it would mean nothing, or another
 * connection.
 * @param trx has written already, so that no other process writes meanwhile
 */
export async function renameReferences(trx: Transaction<Tables>, rename: Rename): Promise<void> {
  const { from, to } = rename;
  const renamed = (id: string): string => (id.startsWith(`${from}/`) ? to + id.slice(from.length) : id);

  for (const { id, targets } of await trx.selectFrom('combos').select(['id', 'targets']).execute()) {
    const changed = JSON.stringify(
      (JSON.parse(targets) as { target: string }[]).map((one) => ({ ...one, target: renamed(one.target) })),
    );
    if (changed !== targets)
      await trx.updateTable('combos').set({ targets: changed }).where('id', '=', id).execute();
  }

  for (const { id, target } of await trx.selectFrom('aliases').select(['id', 'target']).execute())
    if (renamed(target) !== target)
      await trx
        .updateTable('aliases')
        .set({ target: renamed(target) })
        .where('id', '=', id)
        .execute();

  for (const { id, models } of await trx
    .selectFrom('keys')
    .select(['id', 'models'])
    .where('models', 'is not', null)
    .execute()) {
    if (models === null) continue;
    const allowed = JSON.parse(models) as string[];
    const changed = [...new Set(allowed.flatMap((one) => allowedAs(one, renamed(one), rename)))];
    if (changed.join('\n') === allowed.join('\n')) continue;
    await trx
      .updateTable('keys')
      .set({ models: JSON.stringify(changed) })
      .where('id', '=', id)
      .execute();
  }
}

/** What takes the place of a model that a key may use, or of a pattern of them. */
function allowedAs(before: string, after: string, { from, provider }: Rename): string[] {
  if (before === after || provider === from) return [before];
  // It also means the models of a provider, which the key keeps.
  return findProvider(from) === undefined ? [after] : [before, after];
}
