import type { KeyIndex } from './access/keys/key-index.ts';
import type { Catalog } from './catalog/catalog.ts';
import { compileAliases } from './combos/aliases/aliases.ts';
import type { AliasRecord } from './combos/aliases/schema.ts';
import type { ComboRecord } from './combos/combo-schema.ts';
import { compileCombos } from './combos/pool/compile.ts';
import type { Route, Routes } from './combos/routing/resolve.ts';
import type { OpenConnection } from './connections/schema.ts';
import { findProvider } from './providers/index.ts';

/**
 * What a request needs to know, in memory and immutable. It is built whole when the store has changed and
 * swapped in one assignment, so a request sees either the old state or the new one.
 */
export interface Snapshot {
  keys: KeyIndex;
  routes: Routes;
  catalog: Catalog;
  revision: number;
}

export interface SnapshotInput {
  keys: KeyIndex;
  connections: readonly OpenConnection[];
  combos: readonly ComboRecord[];
  aliases: readonly AliasRecord[];
  /** What can be asked for as `acp/…`: ids of agents, and their models behind a slash. None by default. */
  agents?: readonly string[];
  catalog: Catalog;
  revision: number;
}

export function buildSnapshot(input: SnapshotInput): Snapshot {
  const { catalog, connections, keys, revision } = input;
  const ordered: Route[] = [];
  for (const connection of [...connections].sort(byPriority)) {
    const provider = findProvider(connection.provider);
    if (connection.active && provider !== undefined) ordered.push({ connection, provider });
  }
  ordered.push(agentsRoute(input.agents ?? []), demoRoute());
  const byName = new Map<string, Route>();
  const byProvider = new Map<string, Route[]>();
  for (const route of ordered) {
    if (!byName.has(route.connection.name)) byName.set(route.connection.name, route);
    byName.set(route.connection.id, route);
    const ofProvider = byProvider.get(route.provider.id);
    if (ofProvider === undefined) byProvider.set(route.provider.id, [route]);
    else ofProvider.push(route);
  }
  const factsOf: Routes['factsOf'] = (provider, model) => catalog.describe(provider, model);
  const isProvider: Routes['isProvider'] = (id) => findProvider(id) !== undefined;
  const combos = compileCombos(input.combos, { byName, byProvider, isProvider, factsOf, catalog });
  const aliases = compileAliases(input.aliases);
  return {
    keys,
    routes: { ordered, byName, byProvider, factsOf, isProvider, combos, aliases, catalog },
    catalog,
    revision,
  };
}

/** Higher priority first, then the older connection. */
function byPriority(a: OpenConnection, b: OpenConnection): number {
  return b.priority - a.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** The built-in demo needs no row in the store, so that it answers on a fresh install. */
function demoRoute(): Route {
  return builtInRoute('demo', { defaultModel: 'echo', models: ['echo', 'tools'] });
}

/** The agents on this machine; which of them are enabled is known when one is asked. */
function agentsRoute(models: readonly string[]): Route {
  return builtInRoute('acp', { defaultModel: null, models: [...models] });
}

/** A connection that nobody has to make. */
function builtInRoute(
  id: string,
  { defaultModel, models }: Pick<OpenConnection, 'defaultModel' | 'models'>,
): Route {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`the provider list has no ${id}`);
  return {
    provider,
    connection: {
      id,
      provider: id,
      name: id,
      authType: 'none',
      baseUrl: null,
      defaultModel,
      active: true,
      priority: Number.NEGATIVE_INFINITY,
      cacheMarks: true,
      billing: 'metered',
      models,
      modelsAt: null,
      modelsTriedAt: null,
      modelsError: null,
      status: 'ok',
      lastError: null,
      lastTestedAt: null,
      // A fixed day, since it came with the program: clients show it as the model's age.
      createdAt: Date.UTC(2026, 10, 1),
      credential: null,
    },
  };
}
