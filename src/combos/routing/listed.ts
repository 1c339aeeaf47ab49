import type { Principal } from '../../access/authenticate.ts';
import type { ModelPrice } from '../../catalog/price.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Pool } from '../pool/pool.ts';
import { allowsCandidate } from './filter-candidates.ts';
import { grantingNames, type Routes, resolve } from './resolve.ts';

/** An id beside `connection/model` that can be asked for. */
export interface ListedName {
  id: string;
  kind: 'auto' | 'combo' | 'alias';
  /** What it leads to. */
  pool: Pool;
  /** The combos and aliases on the way there. */
  names: readonly string[];
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** `auto`, the combos and the aliases that lead somewhere. Patterns are no ids. */
export function listedNames(routes: Routes): ListedName[] {
  const { aliases, combos } = routes;
  const listed: ListedName[] = [];
  const add = (id: string, kind: ListedName['kind'], createdAt: number) => {
    try {
      const resolved = resolve(id, routes);
      listed.push({ id, kind, pool: resolved.pool, names: grantingNames(id, resolved), createdAt });
    } catch (error) {
      // What leads nowhere at this moment is not offered.
      if (!(error instanceof GatewayError)) throw error;
    }
  };
  const active = combos.records.find((record) => record.active);
  if (active !== undefined) add('auto', 'auto', active.createdAt);
  for (const { createdAt, name } of combos.records) add(name, 'combo', createdAt);
  for (const { createdAt, name } of aliases.records) if (!name.includes('*')) add(name, 'alias', createdAt);
  return listed;
}

/** What is known of a name: as large as the smallest of its targets, with a price where there is but one. */
export function factsOfName(
  { pool: { candidates } }: ListedName,
  at: number,
): { contextWindow: number | null; price: ModelPrice | null } {
  const windows = candidates.flatMap(({ facts }) => facts?.contextWindow ?? []);
  const [only, another] = candidates;
  return {
    contextWindow: windows.length > 0 ? Math.min(...windows) : null,
    price: another === undefined ? (only?.priceAt(at) ?? null) : null,
  };
}

/** Whether a key may use any of what stands behind a name. */
export function allowsListedName(principal: Principal, { names, pool }: ListedName): boolean {
  return pool.candidates.some((candidate) => allowsCandidate(principal, { names }, candidate));
}
