import { type Catalog, createCatalog } from '../catalog/catalog.ts';
import { currentDataSet } from '../catalog/data-set/installed.ts';
import { aliasStore } from '../combos/alias-store.ts';
import type { Routes } from '../combos/resolve.ts';
import { comboStore } from '../combos/store.ts';
import { buildSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { connectionRecords } from './setup/connect.ts';

/** Where requests would go now: connections, combos and aliases as a gateway sees them, without any credential. */
export async function routesIn(context: Context): Promise<{ catalog: Catalog; routes: Routes }> {
  const store = await context.existingStore();
  const { dataDir, prices: overrides } = await context.config();
  const catalog = createCatalog({ overrides, dataSet: currentDataSet(dataDir) });
  const connections = (await connectionRecords(context)).map((record) => ({ ...record, credential: null }));
  const combos = store === null ? [] : await comboStore(store).list();
  const aliases = store === null ? [] : await aliasStore(store).list();
  const { routes } = buildSnapshot({ keys: [], connections, combos, aliases, catalog, revision: 0 });
  return { catalog, routes };
}
