import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import { convertDataSet } from './convert.ts';
import { type DataSetHead, openDataSet, renderDataSet } from './file.ts';
import { installedFile } from './installed.ts';
import { type ModelEntry, type ModelTable, modelTable } from './schema.ts';

/** What a data set has that another has not. */
export interface DataSetChanges {
  added: number;
  removed: number;
  /** Models that both have, and that cost something else. */
  repriced: number;
}

/** Fewer than this is no whole data set: it has had more than 140 providers since 2026. */
const LEAST_PROVIDERS = 100;
/** Of the models, at most this part may be none; and of those known before, this part must be there still. */
const MOST_REFUSED = 0.02;
const LEAST_KEPT = 0.5;
/** A price that is as much higher or lower is one in another unit, and of so many models it is no mistake of one. */
const UNIT_FACTOR = 50;
const MOST_IN_ANOTHER_UNIT = 0.02;

export interface VerifiedDataSet {
  table: ModelTable;
  changes: DataSetChanges;
  /** Models that were left out, as `provider/model: why`. */
  refused: readonly string[];
}

/**
 * Looks whether a document is a whole and sane data set, before anything of it counts.
 * @param document what https://models.dev/api.json holds, parsed
 * @param current the models that are in force
 * @throws GatewayError `invalid_request` that says what is wrong with it
 */
export function verifyDataSet(document: unknown, current: ModelTable): VerifiedDataSet {
  const { models, refused, table } = converted(document);
  const providers = Object.keys(table).length;
  if (providers < LEAST_PROVIDERS)
    throw invalid(`it has ${providers} providers, and a whole data set has at least ${LEAST_PROVIDERS}`);
  if (refused.length > models * MOST_REFUSED)
    throw invalid(`${refused.length} of its ${models} models have another shape, such as ${refused[0]}`);
  modelTable.parse(table);
  const { shared, strange, ...changes } = compared(current, table);
  const before = shared + changes.removed;
  if (shared < before * LEAST_KEPT)
    throw invalid(`it lacks ${changes.removed} of the ${before} models that are known`);
  if (strange > shared * MOST_IN_ANOTHER_UNIT)
    throw invalid(`${strange} prices are ${UNIT_FACTOR} times higher or lower than they were`);
  return { table, changes, refused };
}

function converted(document: unknown): ReturnType<typeof convertDataSet> {
  try {
    return convertDataSet(document);
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

function compared(before: ModelTable, after: ModelTable) {
  const counts = { added: 0, removed: 0, repriced: 0, shared: 0, strange: 0 };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const provider of names) {
    const earlier = byId(before[provider]);
    const later = byId(after[provider]);
    for (const [id, entry] of later) {
      const existing = earlier.get(id);
      if (existing === undefined) counts.added++;
      else {
        counts.shared++;
        if (JSON.stringify(existing.price) !== JSON.stringify(entry.price)) counts.repriced++;
        if (isInAnotherUnit(existing, entry)) counts.strange++;
      }
    }
    for (const id of earlier.keys()) if (!later.has(id)) counts.removed++;
  }
  return counts;
}

function byId(entries: readonly ModelEntry[] = []): Map<string, ModelEntry> {
  return new Map(entries.map((entry) => [entry.id, entry]));
}

function isInAnotherUnit(before: ModelEntry, after: ModelEntry): boolean {
  const [was, is] = [baseInput(before), baseInput(after)];
  if (was === 0 || is === 0) return false;
  return Math.max(was / is, is / was) >= UNIT_FACTOR;
}

function baseInput({ price }: ModelEntry): number {
  const rate = price?.i ?? 0;
  return typeof rate === 'number' ? rate : (rate[0] ?? 0);
}

/**
 * Keeps a verified data set in the data directory, in one step: a gateway that reads it has the old or the new one.
 * @param now milliseconds since the epoch
 */
export async function installDataSet(dataDir: string, table: ModelTable, now: number): Promise<DataSetHead> {
  const file = installedFile(dataDir);
  const timestamp = new Date(now).toISOString();
  const text = renderDataSet(table, {
    source: `models.dev ${timestamp.slice(0, 10)}`,
    notice: 'https://github.com/anomalyco/models.dev, MIT License, Copyright (c) 2025 models.dev',
    taken: timestamp,
  });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(partial, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  await chmod(file, 0o600);
  return openDataSet(file).head();
}

function invalid(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The data set is not accepted: ${problem}`, { param: 'from' });
}
