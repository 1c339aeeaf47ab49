import { ownerNamed } from '../access/store.ts';
import type { Store } from '../store/database.ts';
import type { BudgetScope } from './schema.ts';

/** What a budget is about, under its id and its name now. */
export interface Subject {
  id: string;
  name: string;
}

/** Finds the key, combo or connection of an id or a name; a team, an owner and a tag are their own name. */
export type FindSubject = (scope: BudgetScope, idOrName: string) => Promise<Subject | null>;

/** Finds what budgets are about in a store. */
export function subjectsIn({ db }: Pick<Store, 'db'>): FindSubject {
  const inTable = async (table: 'keys' | 'connections' | 'combos', idOrName: string) => {
    const rows = await db
      .selectFrom(table)
      .select(['id', 'name'])
      .where((row) => row.or([row('id', '=', idOrName), row('name', '=', idOrName)]))
      .execute();
    return rows.find(({ id }) => id === idOrName) ?? rows[0] ?? null;
  };
  return async (scope, idOrName) => {
    switch (scope) {
      case 'key':
        return inTable('keys', idOrName);
      case 'connection':
        return inTable('connections', idOrName);
      case 'combo':
        return inTable('combos', idOrName);
      case 'owner': {
        const { owner } = await ownerNamed(db, idOrName);
        return { id: owner ?? idOrName, name: owner ?? idOrName };
      }
      case 'team':
      case 'tag':
        return { id: idOrName, name: idOrName };
      case 'global':
        return null;
    }
  };
}
