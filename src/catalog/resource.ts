import type { z } from 'zod';
import type { Resource, Row } from '../http/resource.ts';
import type { Catalog } from './catalog.ts';
import { removeInstalledDataSet } from './data-set/installed.ts';
import { dataSetRow } from './row-schema.ts';

export interface CatalogResourceInput {
  catalog(): Catalog;
  dataDir: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

const id = 'data-set';

/** The data set of models and prices, as a collection of one. */
export function catalogResource({ catalog, dataDir, now }: CatalogResourceInput): Resource {
  const row = (): Row => ({ id, ...rowOfDataSet(catalog()) });
  return {
    name: 'catalog',
    title: 'Catalog',
    summary: 'The source and the age of the model catalog: facts and prices.',
    record: dataSetRow,
    read: 'models:read',
    list: async () => [row()],
    find: async (wantedId) => (wantedId === id ? row() : null),
    actions: {
      update: {
        summary: 'Downloads the current data of models.dev and uses it once it is verified.',
        permission: 'catalog:update',
        preview: async () => ({ success: true, message: 'https://models.dev/api.json would be read' }),
        async run() {
          // What verifies a data set is loaded when there is one to verify.
          const { updateDataSet } = await import('./data-set/update.ts');
          const { changes, head } = await updateDataSet({ dataDir, now: now() });
          const message = `${head.source}: ${changes.added} models are new, ${changes.repriced} have another price`;
          return { success: true, message, result: { ...changes, source: head.source } };
        },
      },
      reset: {
        summary: 'Restores the data that came with this version.',
        permission: 'catalog:update',
        preview: async () => ({ success: true, message: 'the installed data would be removed' }),
        async run() {
          const removed = await removeInstalledDataSet(dataDir);
          return {
            success: true,
            message: removed ? 'the data that came with this version is in force' : 'no other was installed',
            result: { removed },
          };
        },
      },
    },
  };
}

/** A data set as it is shown. */
export function rowOfDataSet({ dataSet }: Pick<Catalog, 'dataSet'>): Omit<z.infer<typeof dataSetRow>, 'id'> {
  const { digest, models, providers, source, taken } = dataSet.head();
  return { source, taken, installed: dataSet.isInstalled(), providers, models, digest };
}
