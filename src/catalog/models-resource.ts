import type { Resource, Row } from '../http/resource.ts';
import type { Provider } from '../providers/provider.ts';
import type { Catalog } from './catalog.ts';
import { rowOfInfo } from './info-row.ts';
import { type ModelSource, offeredModels } from './offered.ts';
import type { ModelPrice, Rate } from './price.ts';
import { rowOfPrice } from './price-row.ts';
import { modelRow } from './row-schema.ts';

/** What is looked at of an active connection, and its provider. */
export interface OfferingConnection {
  connection: ModelSource & { id: string; name: string };
  provider: Provider;
}

/** A combo or an alias that leads somewhere. */
export interface OfferedName {
  id: string;
  kind: 'auto' | 'combo' | 'alias';
  /** Tokens; null when not known. */
  contextWindow: number | null;
  price: ModelPrice | null;
}

export interface ModelsInput {
  /** The combos and aliases of this moment. @param at when prices are to hold, in milliseconds since the epoch */
  names(at: number): readonly OfferedName[];
  /** The active connections of this moment, the preferred one first. */
  offers(): readonly OfferingConnection[];
  catalog(): Catalog;
  /** Milliseconds since the epoch: prices change with time. */
  now(): number;
}

/** The models that can be asked for, as `GET /v1/models` lists them for a key that may use all. */
export function modelsResource({ catalog, names, now, offers }: ModelsInput): Resource {
  const rowsOf = (offer: OfferingConnection): Row[] => {
    const at = now();
    const currentCatalog = catalog();
    return offeredModels(offer.connection, offer.provider, currentCatalog).map((model) =>
      rowOf(offer, model, currentCatalog, at),
    );
  };
  return {
    name: 'models',
    title: 'Models',
    summary:
      'The models that clients can use: combos, aliases, and the models of all active connections, with their prices.',
    record: modelRow,
    read: 'models:read',
    list: async () => [...names(now()).map(rowOfName), ...distinct(offers()).flatMap(rowsOf)],
    async find(id) {
      const named = names(now()).find((name) => name.id === id);
      if (named !== undefined) return rowOfName(named);
      const slash = id.indexOf('/');
      const name = id.slice(0, Math.max(slash, 0));
      const offer = offers().find(({ connection }) => connection.name === name);
      if (offer === undefined) return null;
      const model = id.slice(slash + 1);
      const currentCatalog = catalog();
      return offeredModels(offer.connection, offer.provider, currentCatalog).includes(model)
        ? rowOf(offer, model, currentCatalog, now())
        : null;
    },
  };
}

/** A name leads to the first connection of that name only. */
function distinct(offers: readonly OfferingConnection[]): OfferingConnection[] {
  return [
    ...new Map([...offers].reverse().map((offer) => [offer.connection.name, offer])).values(),
  ].reverse();
}

function rowOfName({ contextWindow, id, kind, price }: OfferedName): Row {
  return {
    id,
    kind,
    model: null,
    name: id,
    provider: 'modelgate',
    connection: null,
    connection_id: null,
    ...rowOfInfo({ contextWindow }),
    ...shownPrice(price),
  };
}

function rowOf(
  { connection, provider }: OfferingConnection,
  model: string,
  catalog: Catalog,
  at: number,
): Row {
  const description = catalog.describe(provider, model);
  const price = catalog.priceOf(provider, model, at);
  return {
    id: `${connection.name}/${model}`,
    kind: 'model',
    model,
    name: description?.name ?? model,
    provider: provider.id,
    connection: connection.name,
    connection_id: connection.id,
    ...rowOfInfo(description),
    ...shownPrice(price),
  };
}

function shownPrice(price: ModelPrice | null) {
  return {
    priced: price !== null,
    input_usd: baseOf(price?.input),
    output_usd: baseOf(price?.output),
    pricing: price === null ? null : rowOfPrice(price),
  };
}

function baseOf(rate: Rate | null | undefined): number | null {
  if (rate === null || rate === undefined) return null;
  return typeof rate === 'number' ? rate : rate.base;
}
