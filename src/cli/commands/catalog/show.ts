import type { Catalog, SourcePrices } from '../../../catalog/catalog.ts';
import { rowOfInfo } from '../../../catalog/info-row.ts';
import { displayRate, type ModelPrice } from '../../../catalog/price.ts';
import { rowOfPrice } from '../../../catalog/price-row.ts';
import { rowOfDataSet } from '../../../catalog/resource.ts';
import { allProviders, findProvider } from '../../../providers/index.ts';
import type { Provider } from '../../../providers/provider.ts';
import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { routesIn } from '../../resources/routes.ts';
import { failure } from '../../terminal/failure.ts';

export const catalogShowCommand: Command = {
  arguments: [
    {
      name: 'model',
      names: 'model',
      summary:
        'provider/model or connection/model; a bare id shows every provider that has it; without one, the catalog data itself',
      required: false,
    },
  ],
  flags: [],
  needs: 'store',
  about:
    'Shows the known facts about a model and the source of each figure. Prices are USD per million tokens.',
  examples: [
    {
      command: 'gateway catalog show openai/gpt-5.4',
      does: 'limits, abilities, and the price of every source',
    },
    { command: 'gateway catalog show gpt-5.4', does: 'who has it, and at what price' },
    { command: 'gateway catalog show --json', does: '{"source","taken","installed","providers","models",…}' },
  ],
  run: async (options, context) => {
    const { catalog, routes } = await routesIn(context);
    const modelArgument = options.argument('model');
    if (modelArgument === undefined) return showDataSet(catalog, context);
    const slash = modelArgument.indexOf('/');
    const prefix = modelArgument.slice(0, Math.max(0, slash));
    const provider = routes.byName.get(prefix)?.provider ?? findProvider(prefix);
    const model = modelArgument.slice(slash + 1);
    return provider !== undefined && isKnown(provider, model, catalog, context)
      ? showModel(provider, model, catalog, context)
      : showSellers(modelArgument, catalog, context);
  },
};

function isKnown(provider: Provider, model: string, catalog: Catalog, { now }: Context): boolean {
  return catalog.describe(provider, model) !== null || catalog.priceOf(provider, model, now()) !== null;
}

function showDataSet(catalog: Catalog, { io }: Context): 0 {
  const row = rowOfDataSet(catalog);
  io.result(row, () =>
    [
      `${row.source}, ${row.installed ? 'installed later' : 'came with this version'}`,
      `${row.models} models at ${row.providers} providers, taken ${row.taken}`,
    ].join('\n'),
  );
  return 0;
}

const sourceNames: Readonly<Record<keyof SourcePrices, string>> = {
  override: 'override (config.json)',
  free: 'free here',
  table: 'price table',
  dataSet: 'data set',
};

function showModel(provider: Provider, model: string, catalog: Catalog, { io, now }: Context): 0 {
  const at = now();
  const info = catalog.describe(provider, model);
  const factSources = sourcesOf(provider, model, catalog);
  const sources = catalog.prices(provider, model, at);
  const price = catalog.priceOf(provider, model, at);
  const tiers = catalog.tierPrices(provider, model, at);
  const counts = (Object.keys(sources) as (keyof SourcePrices)[]).find(
    (name) => sources[name]?.source === price?.source && sources[name] !== null,
  );
  const document = {
    provider: provider.id,
    model,
    name: info?.name ?? null,
    ...rowOfInfo(info),
    format: info?.format ?? null,
    fact_sources: factSources,
    pricing: price === null ? null : rowOfPrice(price),
    price_sources: Object.fromEntries(
      Object.entries(sources).map(([name, each]) => [name, each === null ? null : rowOfPrice(each)]),
    ),
    counts: counts ?? null,
    tier_pricing: Object.fromEntries(tiers.map(({ price: each, tier }) => [tier, rowOfPrice(each)])),
  };
  io.result(document, () => {
    const facts = Object.entries({ name: info?.name ?? null, ...rowOfInfo(info) })
      .filter(([, value]) => value !== null)
      .map(
        ([name, value]) =>
          `${name.replaceAll('_', ' ')}: ${Array.isArray(value) ? value.join(', ') : value} (${factSources[name]})`,
      );
    const prices = (Object.keys(sources) as (keyof SourcePrices)[]).flatMap((name) => {
      const each = sources[name];
      if (each === null) return [];
      return [`${name === counts ? '* ' : '  '}${sourceNames[name]} (${each.source}): ${ratesOf(each)}`];
    });
    return [
      `${provider.id}/${model}`,
      ...facts,
      price === null ? 'No price is known.' : 'Prices, the one that counts with *:',
      ...prices,
      ...tiers.map(({ price: each, tier }) => `  tier ${tier} (${each.source}): ${ratesOf(each)}`),
    ].join('\n');
  });
  return 0;
}

/** Where each shown fact is from, by the name under which it is shown. */
function sourcesOf(provider: Provider, model: string, catalog: Catalog): Record<string, string | null> {
  const sources = catalog.factSources(provider, model);
  return {
    name: sources.name,
    context_window: sources.contextWindow,
    input_limit: sources.inputLimit,
    output_limit: sources.outputLimit,
    input_modalities: sources.inputModalities,
    output_modalities: sources.outputModalities,
    reasoning: sources.reasoning,
    tools: sources.tools,
    structured_output: sources.structuredOutput,
    released: sources.released,
    deprecated: sources.deprecated,
    stage: sources.stage,
    format: sources.format,
  };
}

/** Every rate of a price that is known. */
function ratesOf({ source: _, ...rates }: ModelPrice): string {
  return Object.entries(rates)
    .flatMap(([bucket, rate]) =>
      rate === null || rate === undefined ? [] : [`${bucket} ${displayRate(rate)}`],
    )
    .join(', ');
}

interface Seller {
  provider: string;
  model: string;
  context_window: number | null;
  input: string;
  output: string;
  source: string;
}

function showSellers(modelId: string, catalog: Catalog, { io, now }: Context): 0 {
  const sellers = allProviders().flatMap((provider) =>
    catalog
      .models(provider)
      .filter((id) => id === modelId || id.endsWith(`/${modelId}`))
      .map((id) => sellerOf(provider, id, catalog, now())),
  );
  if (sellers.length === 0)
    throw failure(1, 'not_found', `No provider in the catalogue has the model "${modelId}".`);
  io.result({ model: modelId, sellers }, () =>
    io.table<Seller>(
      [
        { title: 'MODEL', cell: ({ model, provider }) => `${provider}/${model}` },
        {
          title: 'CONTEXT',
          cell: (seller) => seller.context_window?.toLocaleString('en-US') ?? '-',
          align: 'right',
        },
        { title: 'INPUT', cell: ({ input }) => input, align: 'right' },
        { title: 'OUTPUT', cell: ({ output }) => output, align: 'right' },
        { title: 'SOURCE', cell: ({ source }) => source },
      ],
      sellers,
    ),
  );
  return 0;
}

function sellerOf(provider: Provider, model: string, catalog: Catalog, at: number): Seller {
  const price = catalog.priceOf(provider, model, at);
  const rate = (which: 'input' | 'output') => {
    const rate = price?.[which] ?? null;
    return rate === null ? 'unknown' : displayRate(rate);
  };
  return {
    provider: provider.id,
    model,
    context_window: catalog.describe(provider, model)?.contextWindow ?? null,
    input: rate('input'),
    output: rate('output'),
    source: price?.source ?? '-',
  };
}
