import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { builtInDataSet, type DataSet, openDataSet } from './file.ts';

/** Where a newer data set is kept. */
export function installedFile(dataDir: string): string {
  return join(dataDir, 'catalog', 'models.json');
}

/** The data set that is in force: the installed one, or the one that came with the gateway. */
export function currentDataSet(dataDir: string | null): DataSet {
  const file = dataDir === null ? null : installedFile(dataDir);
  if (file === null || !existsSync(file)) return openDataSet(builtInDataSet);
  return openDataSet(file, { otherwise: builtInDataSet });
}

/** Goes back to the data set that came with the gateway. @returns false when no other was installed */
export async function removeInstalledDataSet(dataDir: string): Promise<boolean> {
  const file = installedFile(dataDir);
  const installed = existsSync(file);
  await rm(file, { force: true });
  return installed;
}
