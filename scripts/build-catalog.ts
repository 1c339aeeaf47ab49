import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { convertDataSet } from '../src/catalog/data-set/convert.ts';
import { builtInDataSet, parseDataSet, renderDataSet } from '../src/catalog/data-set/file.ts';
import { modelTable } from '../src/catalog/data-set/schema.ts';
import type { WireFormat } from '../src/codecs/wire-format.ts';
import type { DirectoryEntry } from '../src/providers/directory.ts';
import { readCheckout } from './catalog/checkout.ts';
import { corrections } from './catalog/corrections.ts';
import { directoryOf } from './catalog/directory.ts';

/**
 * `build-catalog.ts CHECKOUT DATE` writes src/catalog/models.gen.json and src/providers/directory.gen.json from a
 * checkout of the repository anomalyco/models.dev, whose last commit is of that date.
 * `--check` needs no checkout: it says whether the committed files have their shape, order and digest.
 */
const directory = fileURLToPath(new URL('../src/providers/directory.gen.json', import.meta.url));
const { positionals, values: flags } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [checkout, date = ''] = positionals;
if (flags.check || checkout === undefined) check();
else build(checkout, date);

function build(folder: string, taken: string): void {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(taken)) throw new Error('name the day of the checkout: YYYY-MM-DD');
  const providers = readCheckout(folder);
  const { models, refused, table } = convertDataSet(providers);
  for (const each of refused) console.error(`left out: ${each}`);
  const notice =
    'https://github.com/anomalyco/models.dev, MIT License, Copyright (c) 2025 models.dev; see NOTICE';
  const text = renderDataSet(table, { source: `models.dev ${taken}`, notice, taken });
  writeFileSync(builtInDataSet, text);
  const entries = directoryOf(providers);
  writeFileSync(directory, `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`);
  console.log(`${Object.keys(table).length} providers, ${models} models, ${text.length} bytes`);
}

function check(): void {
  const { table } = parseDataSet(readFileSync(fileURLToPath(builtInDataSet), 'utf8'));
  modelTable.parse(table);
  const entries = JSON.parse(readFileSync(directory, 'utf8')) as DirectoryEntry[];
  const problems = [...misplaced(entries.map(({ id }) => id)), ...staleEntries(entries)];
  if (problems.length === 0) return;
  console.error(problems.join('\n'));
  console.error('run `node scripts/build-catalog.ts CHECKOUT DAY`, see docs/catalog.md');
  process.exitCode = 1;
}

function misplaced(ids: readonly string[]): string[] {
  const sorted = [...new Set(ids)].sort();
  return ids.filter((id, index) => id !== sorted[index]).map((id) => `${id} is not in its place`);
}

/** Entries that were made before their correction was changed, as far as that can be seen without the checkout. */
function staleEntries(entries: readonly DirectoryEntry[]): string[] {
  return Object.entries(corrections).flatMap(([id, { freeTier, more, root, urls, website }]) => {
    const entry = entries.find(({ id: own, modelsDev = own }) => modelsDev === id);
    if (entry === undefined) return [`${id} has a correction and no entry`];
    const base = entry.baseUrl ?? entry.baseUrlOf ?? '';
    const addresses = Object.entries({ ...urls, ...more }) as [WireFormat, string][];
    return [
      ...addresses
        .filter(([format, url]) => `${base}${entry.formats?.[format]}` !== url)
        .map(([format]) => format),
      ...(root !== undefined && root !== base ? ['root'] : []),
      ...(website !== undefined && website !== entry.website ? ['website'] : []),
      ...(freeTier !== entry.freeTier ? ['freeTier'] : []),
    ].map((what) => `${id}: ${what} is not that of its correction`);
  });
}
