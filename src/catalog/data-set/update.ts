import { readFileSync } from 'node:fs';
import { publishedDataSet, readDataSet } from './fetch.ts';
import { builtInDataSet, type DataSetHead, parseDataSet } from './file.ts';
import { type DataSetChanges, installDataSet, verifyDataSet } from './install.ts';
import { installedFile } from './installed.ts';
import type { ModelTable } from './schema.ts';

export interface DataSetUpdate {
  head: DataSetHead;
  changes: DataSetChanges;
  /** Models that were left out, as `provider/model: why`. */
  refused: readonly string[];
}

export interface UpdateInput {
  dataDir: string;
  /** A file or an address; what models.dev publishes when absent. */
  from?: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Reads a newer data set, verifies it, and keeps it. Nothing is changed when it is refused.
 * @throws GatewayError `invalid_request` that says what is wrong with it
 */
export async function updateDataSet({
  dataDir,
  from = publishedDataSet,
  now,
}: UpdateInput): Promise<DataSetUpdate> {
  const document = await readDataSet(from);
  const { changes, refused, table } = verifyDataSet(document, modelsInForce(dataDir));
  return { head: await installDataSet(dataDir, table, now), changes, refused };
}

function modelsInForce(dataDir: string): ModelTable {
  for (const file of [installedFile(dataDir), builtInDataSet]) {
    try {
      return parseDataSet(readFileSync(file, 'utf8')).table;
    } catch {
      // None was installed, or it is damaged: the one that came with the gateway counts.
    }
  }
  return {};
}
