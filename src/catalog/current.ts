import { statSync } from 'node:fs';
import type { PriceOverride } from '../config.ts';
import { type Catalog, createCatalog } from './catalog.ts';
import { currentDataSet, installedFile } from './data-set/installed.ts';
import { loadPriceTable } from './prices.ts';

export interface CurrentCatalogInput {
  overrides: Readonly<Record<string, PriceOverride>>;
  dataDir: string;
}

/**
 * The catalogue of a data directory. The function that is returned makes a new one when another data set was installed
 * since it was last called, and gives the same one else.
 * @throws GatewayError `invalid_request` for an override that names no provider
 */
export function currentCatalog({ dataDir, overrides }: CurrentCatalogInput): () => Catalog {
  const table = loadPriceTable();
  const make = () => ({
    stamp: stampOf(dataDir),
    catalog: createCatalog({ overrides, table, dataSet: currentDataSet(dataDir) }),
  });
  let current = make();
  return () => {
    if (stampOf(dataDir) !== current.stamp) current = make();
    return current.catalog;
  };
}

/** Changes with every installation; empty where none is. */
function stampOf(dataDir: string): string {
  const stats = statSync(installedFile(dataDir), { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
