import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Value } from '../store/database.ts';
import type { Writer } from '../store/writer.ts';
import { ledgerColumns } from './record.ts';

const known: ReadonlySet<string> = new Set(ledgerColumns);

/**
 * Queues the rows of journals whose processes have ended. Those that are in the database already stay there as they are.
 * @returns the files that they were in, to be removed once the rows are written
 * @throws the system's error for a file that cannot be read
 */
export async function queueJournals(
  folder: string,
  writer: Pick<Writer, 'push'>,
  isWanted: (name: string) => boolean,
): Promise<string[]> {
  const found = await readdir(folder).catch(ifMissing);
  const files = found.filter((file) => isWanted(nameOf(file))).map((file) => join(folder, file));
  for (const file of files) pushRows(await readFile(file, 'utf8'), writer);
  return files;
}

/** Without the number of the file. */
function nameOf(file: string): string {
  return file.replace(/\.[01]$/, '');
}

/** A gateway of an earlier version has left no folder. */
function ifMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** The first line names the columns, as the version has them that wrote it. */
function pushRows(text: string, writer: Pick<Writer, 'push'>): void {
  const [first = '', ...lines] = text.split('\n');
  const header = parsed(first);
  if (header === null || !header.every((name) => typeof name === 'string')) return;
  const kept = header.flatMap((name, index) => (known.has(String(name)) ? [index] : []));
  const names = kept.map((index) => String(header[index]));
  const columns = names.join() === ledgerColumns.join() ? ledgerColumns : names;
  for (const line of lines) {
    const row = parsed(line);
    // The last one may have been cut by a full disk.
    if (row === null || row.length !== header.length) continue;
    const values = kept.map((index) => row[index]);
    if (!values.every(isValue)) continue;
    writer.push('requests', columns, values);
  }
}

function parsed(line: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isValue(value: unknown): value is Value {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
