import { keyIndexOf } from '../../access/keys/key-index.ts';
import { type Catalog, createCatalog } from '../../catalog/catalog.ts';
import { currentDataSet } from '../../catalog/data-set/installed.ts';
import { aliasStore } from '../../combos/aliases/store.ts';
import type { Routes } from '../../combos/routing/resolve.ts';
import { comboStore } from '../../combos/store.ts';
import { buildSnapshot } from '../../snapshot.ts';
import type { Context } from '../context.ts';
import { connectionRecords } from '../setup/connect.ts';

/** Where requests would go now: connections, combos and aliases as a gateway sees them, without any credential. */
export async function routesIn(context: Context): Promise<{ catalog: Catalog; routes: Routes }> {
  const store = await context.existingStore();
  const { dataDir, prices: overrides } = await context.config();
  const catalog = createCatalog({ overrides, dataSet: currentDataSet(dataDir) });
  const connections = (await connectionRecords(context)).map((record) => ({ ...record, credential: null }));
  const combos = store === null ? [] : await comboStore(store).list();
  const aliases = store === null ? [] : await aliasStore(store).list();
  const agents = await usableAgents(context);
  const { routes } = buildSnapshot({
    keys: keyIndexOf([]),
    connections,
    combos,
    aliases,
    agents,
    catalog,
    revision: 0,
  });
  return { catalog, routes };
}

/** Ids of the ACP agents that answer requests. Nothing is looked for where none is enabled. */
async function usableAgents(context: Context): Promise<string[]> {
  const store = await context.existingStore();
  if (store === null) return [];
  const { agentStore } = await import('../../agents/registry/store.ts');
  if (!(await agentStore(store).list()).some(({ enabled }) => enabled)) return [];
  const { agentRows } = await import('./agents.ts');
  const rows = await agentRows(context, { probe: false });
  return rows.filter(({ usable }) => usable).map(({ id }) => id);
}
