import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ModelEntry, ModelTable } from './schema.ts';

/** What stands before the models. */
export interface DataSetHead {
  /** Such as `models.dev 2026-07-01`: kept in the ledger beside each cost. */
  source: string;
  /** Where it comes from, and its license. */
  notice: string;
  /** When it was taken, as an ISO 8601 date or time. */
  taken: string;
  providers: number;
  models: number;
  /** SHA-256 (hex) of the lines of the models. */
  digest: string;
}

/**
 * The file as JSON with one line for the head and one for each provider, so that a reader parses the provider that it
 * is asked for and leaves the others, and a change reads well in a diff.
 */
export function renderDataSet(
  table: ModelTable,
  about: Pick<DataSetHead, 'source' | 'notice' | 'taken'>,
): string {
  const lines = Object.entries(table)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, entries]) => `${JSON.stringify(id)}:${JSON.stringify(entries)}`);
  const head: DataSetHead = {
    ...about,
    providers: lines.length,
    models: Object.values(table).reduce((sum, { length }) => sum + length, 0),
    digest: digestOf(lines),
  };
  return `{"head":${JSON.stringify(head)},"providers":{\n${lines.join(',\n')}\n}}\n`;
}

/** What is in the file. @throws Error when it is cut short, changed or no such file */
export function parseDataSet(text: string): { head: DataSetHead; table: ModelTable } {
  const { head, providers: table } = JSON.parse(text) as { head: DataSetHead; providers: ModelTable };
  if (digestOf(linesOf(text)) !== head.digest) throw new Error('its digest is not that of its content');
  return { head, table };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .slice(1, -2)
    .map((line) => line.replace(/,$/, ''));
}

function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

export interface DataSet {
  head(): DataSetHead;
  /** Whether it is one that was installed later, and not the one that came with the gateway. */
  isInstalled(): boolean;
  /** The models of a provider by their ids in lower case; empty for a provider that the data set does not have. */
  models(provider: string): ReadonlyMap<string, ModelEntry>;
}

/**
 * Reads a data set's file when something of it is first asked for, and keeps only what was asked for: a gateway that
 * needs nothing of it pays nothing for it.
 * @param otherwise what is read when `file` cannot be, or is damaged
 */
export function openDataSet(
  file: URL | string,
  { otherwise = null }: { otherwise?: URL | null } = {},
): DataSet {
  const modelsByFile = new Map<string, ReadonlyMap<string, ModelEntry>>();
  let about: { head: DataSetHead; installed: boolean } | null = null;
  const read = (): string => {
    const own = otherwise === null ? null : intactText(file);
    const text = own ?? readFileSync(otherwise ?? file, 'utf8');
    about ??= { head: headOf(text), installed: own !== null };
    return text;
  };
  const opened = () => {
    if (about === null) read();
    if (about === null) throw new Error('the data set has no head');
    return about;
  };
  return {
    head: () => opened().head,
    isInstalled: () => opened().installed,
    models(provider) {
      const earlier = modelsByFile.get(provider);
      if (earlier !== undefined) return earlier;
      const models = new Map(modelsIn(read(), provider).map((entry) => [entry.id.toLowerCase(), entry]));
      modelsByFile.set(provider, models);
      return models;
    },
  };
}

/** The text of a file that is whole; null for one that is damaged or gone. */
function intactText(file: URL | string): string | null {
  try {
    const text = readFileSync(file, 'utf8');
    return digestOf(linesOf(text)) === headOf(text).digest ? text : null;
  } catch {
    return null;
  }
}

function headOf(text: string): DataSetHead {
  const end = text.indexOf(',"providers":{\n');
  return (JSON.parse(`${text.slice(0, end)}}`) as { head: DataSetHead }).head;
}

function modelsIn(text: string, provider: string): ModelEntry[] {
  const start = `\n${JSON.stringify(provider)}:`;
  const at = text.indexOf(start);
  if (at < 0) return [];
  const end = text.indexOf('\n', at + 1);
  return JSON.parse(text.slice(at + start.length, end).replace(/,$/, '')) as ModelEntry[];
}

/** The data set that comes with the gateway. */
export const builtInDataSet = new URL('../models.gen.json', import.meta.url);
