import type { PriceOverride } from '../config.ts';
import type { Provider } from '../providers/provider.ts';
import { type Abilities, abilitiesOf } from './abilities.ts';
import { builtInDataSet, type DataSet, openDataSet } from './data-set/file.ts';
import type { ModelEntry } from './data-set/schema.ts';
import { type ModelInfo, modelInfo } from './model-info.ts';
import { overrideFinder } from './override.ts';
import { free, fromOverride, type ModelPrice, periodAt, scaledPrice, toPrice } from './price.ts';
import { createPrices, loadPriceTable } from './prices.ts';
import type { PricePeriod, PriceRow, PriceTable } from './schema.ts';

export interface Catalog {
  /**
   * The price of `model` at `provider` for a request that began at `at` (epoch milliseconds). Null: not known.
   * @param tier the service tier, as `tierWord` has it; the usual one where it is null or left out
   */
  priceOf(provider: Provider, model: string, at: number, tier?: string | null): ModelPrice | null;
  /** Ids under which models can be called at the provider, as far as is known. */
  models(provider: Provider): string[];
  /** The data set, as it is in force. */
  dataSet: DataSet;
  /** What is known of a model there; null when neither the price table nor the data set has it. */
  describe(provider: Provider, model: string): ModelInfo | null;
  /** Which source each fact of `describe` is from; null for what is not known. */
  factSources(provider: Provider, model: string): Record<keyof ModelInfo, string | null>;
  /** What of a request the model takes beside text. */
  abilities(provider: Provider, model: string): Abilities;
  /** The prices of the service tiers beside the usual one, as far as they are known. */
  tierPrices(provider: Provider, model: string, at: number): { tier: string; price: ModelPrice }[];
  /** Whether the provider itself offers a model of this id, so that the bare id may lead there. */
  offers(provider: Provider, model: string): boolean;
  /** The price of each source that has one, whichever of them counts. */
  prices(provider: Provider, model: string, at: number): SourcePrices;
}

/** What each source says that a model costs; null where it says nothing. */
export interface SourcePrices {
  override: ModelPrice | null;
  /** The provider's models cost nothing here. */
  free: ModelPrice | null;
  /** The price table, made of the package genai-prices. */
  table: ModelPrice | null;
  /** The data set models.dev. */
  dataSet: ModelPrice | null;
}

export interface CatalogInput {
  overrides: Readonly<Record<string, PriceOverride>>;
  /** Instead of the table that comes with the gateway. */
  table?: PriceTable;
  /** Instead of the data set that comes with the gateway. */
  dataSet?: DataSet;
}

/**
 * Models, abilities and prices (docs/decisions/0015). An override of the configuration wins over "free" (local servers,
 * demo), that over the price table, and that over the data set, unless a newer data set was installed and the provider
 * sells what others make. A price is one source's, never put together of several.
 * @throws GatewayError `invalid_request` for an override that names no provider.
 */
export function createCatalog({
  dataSet = openDataSet(builtInDataSet),
  overrides,
  table = loadPriceTable(),
}: CatalogInput): Catalog {
  const override = overrideFinder(overrides);
  const tablePrices = createPrices(table);
  const pricesByPeriod = new WeakMap<PricePeriod, ModelPrice>();
  const pricesByOverride = new WeakMap<PriceOverride, ModelPrice>();

  const entryOf = ({ modelsDev }: Provider, model: string): ModelEntry | null =>
    modelsDev === undefined ? null : (dataSet.models(modelsDev).get(dataSetId(model)) ?? null);

  const priceOfPeriod = (period: PricePeriod, source: string): ModelPrice | null => {
    const existing = pricesByPeriod.get(period);
    if (existing !== undefined) return existing;
    const price = toPrice(period, source);
    if (price !== null) pricesByPeriod.set(period, price);
    return price;
  };

  const tablePrice = ({ prices }: Provider, model: string, at: number): ModelPrice | null => {
    const row = prices === null ? null : tablePrices.find(prices, model, { fallback: true });
    if (row === null) return null;
    if (row.free) return { ...free, source: tablePrices.source };
    const period = periodAt(row.price ?? [], at);
    return period === null ? null : priceOfPeriod(period, tablePrices.source);
  };

  const dataSetPrice = (provider: Provider, model: string): ModelPrice | null => {
    const entry = entryOf(provider, model);
    const price = entry?.price;
    if (entry === null || price === undefined || !isMeant(price, entry, provider)) return null;
    return priceOfPeriod(price, dataSet.head().source);
  };

  const listPrice = (provider: Provider, model: string, at: number): ModelPrice | null => {
    if (provider.unpriced === 'free') return free;
    // What was installed later is newer than the table, which has the vendors' own prices in more detail.
    if (provider.resells === true && dataSet.isInstalled())
      return dataSetPrice(provider, model) ?? tablePrice(provider, model, at);
    return tablePrice(provider, model, at) ?? dataSetPrice(provider, model);
  };

  const priceOfOverride = (own: PriceOverride, webSearch: number | undefined): ModelPrice => {
    const existing = pricesByOverride.get(own);
    // One override may stand for several models, whose searches cost something else.
    if (existing !== undefined && existing.webSearch === webSearch) return existing;
    const price = fromOverride(own, webSearch);
    pricesByOverride.set(own, price);
    return price;
  };

  const usualPrice = (provider: Provider, model: string, at: number): ModelPrice | null => {
    const own = override(provider.id, model);
    if (own === null) return listPrice(provider, model, at);
    return priceOfOverride(own, listPrice(provider, model, at)?.webSearch);
  };

  /** The owner's price of the tier, else the data set's, else the usual price with what its vendor says of the tier. */
  const tierPrice = (provider: Provider, model: string, at: number, tier: string): ModelPrice | null => {
    const own = override(provider.id, model)?.tiers?.[tier];
    if (own !== undefined) return priceOfOverride(own, listPrice(provider, model, at)?.webSearch);
    const usual = usualPrice(provider, model, at);
    if (provider.unpriced === 'free') return usual;
    // A snapshot with a date costs what its model costs.
    const entry = entryOf(provider, model) ?? entryOf(provider, ownRow(provider, model)?.id ?? model);
    const listed = isListedTier(tier) ? entry?.[tier] : undefined;
    if (listed !== undefined) return priceOfPeriod(listed, dataSet.head().source);
    const rule = provider.tiers?.[tier]?.find(
      ({ models }) => models === undefined || models.test(dataSetId(model)),
    );
    return rule === undefined || usual === null ? null : scaledPrice(usual, rule);
  };

  const ownRow = ({ prices }: Provider, model: string): PriceRow | null =>
    prices === null ? null : tablePrices.find(prices, model, { fallback: false });

  /** The row of the provider's own offer, not of another seller's model of that name. */
  const rowOf = (provider: Provider, model: string): PriceRow | null => {
    const row = ownRow(provider, model);
    return row === null || (row.call === undefined && !row.old) ? null : row;
  };

  /** What the data set lists and the price table does not mark as retired, or as served in another way. */
  const isListed = (entry: ModelEntry, provider: Provider): boolean => {
    const row = ownRow(provider, entry.id);
    return isServed(entry, provider) && (row === null || row.call !== undefined || row.old === 1);
  };

  return {
    dataSet,
    priceOf(provider, model, at, tier = null) {
      return tier === null || tier === USUAL_TIER
        ? usualPrice(provider, model, at)
        : tierPrice(provider, model, at, tier);
    },
    tierPrices(provider, model, at) {
      const own = Object.keys(override(provider.id, model)?.tiers ?? {});
      if (provider.unpriced === 'free') return [];
      const names = new Set([...own, ...listedTiers, ...Object.keys(provider.tiers ?? {})]);
      return [...names].flatMap((tier) => {
        const price = tierPrice(provider, model, at, tier);
        return price === null ? [] : [{ tier, price }];
      });
    },
    prices(provider, model, at) {
      const own = override(provider.id, model);
      return {
        override: own === null ? null : priceOfOverride(own, listPrice(provider, model, at)?.webSearch),
        free: provider.unpriced === 'free' ? free : null,
        table: tablePrice(provider, model, at),
        dataSet: dataSetPrice(provider, model),
      };
    },
    models(provider) {
      const { modelsDev, offersCatalog, prices } = provider;
      const rows = prices === null ? [] : tablePrices.rows(prices);
      const called = rows.flatMap(({ call = [] }) => call);
      if (modelsDev === undefined || offersCatalog === false) return called;
      const listed = [...dataSet.models(modelsDev).values()]
        .filter((entry) => isListed(entry, provider))
        .map(({ id }) => id);
      const isCurrent = (id: string) =>
        rowOf(provider, id)?.old === undefined && entryOf(provider, id)?.old === undefined;
      return [...new Set([...called, ...listed])].filter(isCurrent);
    },
    describe(provider, model) {
      const row = rowOf(provider, model);
      const entry = entryOf(provider, model);
      return row === null && entry === null ? null : modelInfo(row, entry);
    },
    factSources(provider, model) {
      const [row, entry] = [rowOf(provider, model), entryOf(provider, model)];
      const both = modelInfo(row, entry);
      const byTable = modelInfo(row, null);
      const sourceOf = (fact: keyof ModelInfo): string | null => {
        if (both[fact] === null) return null;
        if (fact === 'deprecated')
          return row?.old === 1 || entry === null ? tablePrices.source : dataSet.head().source;
        return byTable[fact] === null ? dataSet.head().source : tablePrices.source;
      };
      return Object.fromEntries(
        (Object.keys(both) as (keyof ModelInfo)[]).map((fact) => [fact, sourceOf(fact)]),
      ) as Record<keyof ModelInfo, string | null>;
    },
    abilities(provider, model) {
      const entry = entryOf(provider, model);
      const byName = abilitiesOf(model);
      if (entry === null) return byName;
      const tools = entry.can === undefined ? byName.tools : entry.can.includes('t');
      const images = entry.in === undefined ? byName.images : entry.in.includes('i');
      return { ...(tools !== undefined && { tools }), ...(images !== undefined && { images }) };
    },
    offers(provider, model) {
      if (rowOf(provider, model) !== null) return true;
      const entry = provider.offersCatalog === false ? null : entryOf(provider, model);
      return entry !== null && isListed(entry, provider);
    },
  };
}

/** The tier of requests that name none. */
const USUAL_TIER = 'default';

/** The tiers whose prices the data set has. */
const listedTiers = ['priority', 'fast'] as const;

function isListedTier(tier: string): tier is (typeof listedTiers)[number] {
  return listedTiers.some((listed) => listed === tier);
}

/** Providers list ids in any case, and Google's OpenAI surface with a prefix. */
function dataSetId(model: string): string {
  return model
    .trim()
    .toLowerCase()
    .replace(/^models\//, '');
}

/** Whether a price of the data set is one: a price of 0 often stands for one by a unit that the data set does not have. */
function isMeant(price: PricePeriod, { id, name = '' }: ModelEntry, { zeroIsFree }: Provider): boolean {
  const costs = Object.values(price).some((rate) => rate !== 0);
  return costs || zeroIsFree === true || /free/i.test(`${id} ${name}`);
}

/** Whether the provider's formats reach the model. */
function isServed({ format }: ModelEntry, { formats }: Provider): boolean {
  return format === undefined || formats[format] !== undefined;
}
