import type { Catalog } from '../../catalog/catalog.ts';
import { rowOfInfo } from '../../catalog/info-row.ts';
import { offeredModels } from '../../catalog/offered.ts';
import { rowOfPrice } from '../../catalog/price-row.ts';
import { factsOfName, type ListedName, listedNames } from '../../combos/routing/listed.ts';
import type { Route } from '../../combos/routing/resolve.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { routesIn } from '../resources/routes.ts';
import { providerOf } from '../setup/provider-choice.ts';

interface Offer extends ReturnType<typeof rowOfInfo> {
  id: string;
  kind: 'model' | ListedName['kind'];
  /** `modelgate` for a combo or an alias, which may lead to several. */
  provider: string;
  connection: string | null;
  model: string | null;
  /** True when a request for `id` would be routed; false for a model of a provider that is not connected. */
  available: boolean;
  /** USD per million tokens; null when unknown. */
  pricing: ReturnType<typeof rowOfPrice> | null;
}

export const modelsCommand: Command = {
  arguments: [
    {
      name: 'provider',
      names: 'connection',
      summary: 'only the models of this provider or connection',
      required: false,
    },
  ],
  flags: [{ name: 'search', value: 'TEXT', summary: 'only ids that contain the text' }],
  needs: 'store',
  about:
    'Combos, aliases, and the models of your connections and of the demo. For a provider that is not connected: its models in the catalogue.\nPrices are USD per million tokens.',
  examples: [
    { command: 'gateway models', does: 'what tools can ask for' },
    {
      command: 'gateway models openai --json',
      does: '{"models":[{"id","provider","context_window","pricing",…}]}',
    },
  ],
  run: async (options, context) => {
    const only = options.argument('provider');
    const search = options.text('search')?.toLowerCase() ?? '';
    const offers = (await offersOf(only, context)).filter(({ id }) => id.toLowerCase().includes(search));
    context.io.result({ models: offers }, () => {
      if (offers.length === 0) return 'No model matches.';
      return context.io.table<Offer>(
        [
          { title: 'ID', cell: idCell },
          { title: 'CONTEXT', cell: ({ context_window }) => tokensCell(context_window), align: 'right' },
          { title: 'MAX OUTPUT', cell: ({ output_limit }) => tokensCell(output_limit), align: 'right' },
          { title: 'INPUT', cell: (offer) => priceCell(offer, 'input'), align: 'right' },
          { title: 'OUTPUT', cell: (offer) => priceCell(offer, 'output'), align: 'right' },
          { title: 'CACHED', cell: (offer) => priceCell(offer, 'cache_read'), align: 'right' },
          { title: 'TAKES', cell: abilitiesCell },
        ],
        offers,
      );
    });
    return 0;
  },
};

async function offersOf(only: string | undefined, context: Context): Promise<Offer[]> {
  const { catalog, routes } = await routesIn(context);
  const now = context.now();
  const names = only === undefined ? listedNames(routes).map((name) => named(name, now)) : [];
  const chosen = routes.ordered.filter(
    ({ connection, provider }) => only === undefined || connection.name === only || provider.id === only,
  );
  if (chosen.length > 0 || only === undefined) {
    const models = chosen.flatMap((route) =>
      offeredModels(route.connection, route.provider, catalog).map((model) =>
        offer(route, model, catalog, now),
      ),
    );
    return [...names, ...models];
  }
  const provider = providerOf(only);
  return catalog.models(provider).map((id) => unconnected(provider, id, catalog, now));
}

/** A combo or an alias. */
function named(name: ListedName, now: number): Offer {
  const { contextWindow, price } = factsOfName(name, now);
  return {
    id: name.id,
    kind: name.kind,
    provider: 'modelgate',
    connection: null,
    model: null,
    available: true,
    ...rowOfInfo({ contextWindow }),
    pricing: price === null ? null : rowOfPrice(price),
  };
}

function offer({ connection, provider }: Route, model: string, catalog: Catalog, now: number): Offer {
  return {
    ...facts(provider, model, catalog, now),
    id: `${connection.name}/${model}`,
    connection: connection.name,
    available: true,
  };
}

function unconnected(provider: Provider, model: string, catalog: Catalog, now: number): Offer {
  return {
    ...facts(provider, model, catalog, now),
    id: `${provider.id}/${model}`,
    connection: null,
    available: false,
  };
}

function facts(provider: Provider, model: string, catalog: Catalog, now: number) {
  const price = catalog.priceOf(provider, model, now);
  return {
    kind: 'model' as const,
    provider: provider.id,
    model,
    ...rowOfInfo(catalog.describe(provider, model)),
    pricing: price === null ? null : rowOfPrice(price),
  };
}

function idCell({ available, deprecated, id }: Offer): string {
  const notes = [...(available ? [] : ['not connected']), ...(deprecated === true ? ['deprecated'] : [])];
  return notes.length === 0 ? id : `${id} (${notes.join(', ')})`;
}

function tokensCell(tokens: number | null): string {
  return tokens?.toLocaleString('en-US') ?? '-';
}

/** What it is known to take and to do beside text. */
function abilitiesCell({ input_modalities: modalities, reasoning, structured_output, tools }: Offer): string {
  const abilities = [
    ...(tools === true ? ['tools'] : []),
    ...(reasoning === true ? ['reasoning'] : []),
    ...(structured_output === true ? ['schemas'] : []),
    ...(modalities ?? []).filter((modality) => modality !== 'text'),
  ];
  return abilities.length === 0 ? '-' : abilities.join(', ');
}

/** The base rate; a `+` says that a long input costs more. */
function priceCell({ pricing }: Offer, direction: 'input' | 'output' | 'cache_read'): string {
  if (pricing === null) return 'unknown';
  const rate = pricing[direction];
  if (rate === null) return '-';
  return typeof rate === 'number' ? `$${rate}` : `$${rate.base}+`;
}
