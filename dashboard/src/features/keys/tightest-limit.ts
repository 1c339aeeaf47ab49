import type { Budget, Key } from './queries.ts';

/**
 * The limits that every request of a key is held to: its own, those of its team, owner and labels, and those of all. Limits of
 * combos and connections depend on where a request goes, and are none of the key's.
 */
export function limitsOf(
  { id, labels, owner, team }: Pick<Key, 'id' | 'labels' | 'owner' | 'team'>,
  budgets: readonly Budget[],
): Budget[] {
  const tags = new Set(Object.entries(labels).map(([name, value]) => `${name}=${value}`));
  if (owner !== null) tags.add(`owner=${owner}`);
  if (team !== null) tags.add(`team=${team}`);
  return budgets.filter(({ scope, subject }) => {
    switch (scope) {
      case 'global':
        return true;
      case 'key':
        return subject === id;
      case 'team':
        return subject === team;
      case 'owner':
        return subject === owner;
      case 'tag':
        return subject !== null && tags.has(subject);
      default:
        return false;
    }
  });
}

/** The one of which the greatest part is used; null without any. */
export function tightestLimit(
  key: Pick<Key, 'id' | 'labels' | 'owner' | 'team'>,
  budgets: readonly Budget[],
): Budget | null {
  return limitsOf(key, budgets).toSorted((a, b) => b.used_percent - a.used_percent)[0] ?? null;
}
