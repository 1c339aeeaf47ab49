import type { Abilities } from '../../catalog/abilities.ts';
import { nameOf } from '../target.ts';
import type { ConnectionIndex, Route } from './connection-index.ts';
import type { Candidate } from './pool.ts';

/** Prices change with the time of the day at some providers, and no quicker than this. */
const PRICE_MS = 60_000;

/** A model at a connection, with what is known of it. */
export function candidateOf(
  { connection, provider }: Route,
  model: string,
  { catalog, factsOf }: Pick<ConnectionIndex, 'catalog' | 'factsOf'>,
): Candidate {
  let abilities: Abilities | null = null;
  let facts: Candidate['facts'] | undefined;
  let priced: { price: ReturnType<Candidate['priceAt']>; until: number } | null = null;
  return {
    connection,
    provider,
    model,
    // Looked up when it is first asked for: a start with many combos reads nothing of the catalogue.
    get facts() {
      if (facts === undefined) facts = factsOf(provider, model);
      return facts;
    },
    abilities() {
      abilities ??= catalog.abilities(provider, model);
      return abilities;
    },
    name: nameOf({ connection, provider, model }),
    priceAt(time) {
      if (priced === null || time >= priced.until)
        priced = { price: catalog.priceOf(provider, model, time), until: time + PRICE_MS };
      return priced.price;
    },
  };
}
