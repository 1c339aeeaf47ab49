import { rmSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Value } from '../store/database.ts';
import type { Writer } from '../store/writer.ts';
import { ledgerColumns } from './record.ts';

/** Rows that are queued at a time: more than the writer keeps would push each other out. */
const MOST_ROWS = 20_000;

const knownColumns: ReadonlySet<string> = new Set(ledgerColumns);

/** A file of a journal whose rows were all queued. */
export interface QueuedJournal {
  path: string;
  /** How long it was then. */
  bytes: number;
}

/**
 * Brings the rows of journals to the database, as fast as it takes them. Those that it has already stay there as they are.
 * @param signal ends the reading between two portions of rows
 * @returns the files whose rows were all queued, for `removeJournals` once the rows are written
 * @throws the system's error for a file that cannot be read
 */
export async function queueJournals(
  folder: string,
  writer: Pick<Writer, 'push' | 'whenWritten'>,
  isWanted: (name: string) => boolean,
  signal?: AbortSignal,
): Promise<QueuedJournal[]> {
  const fileNames = await readdir(folder).catch(ifMissing);
  const files = fileNames.filter((file) => isWanted(nameOf(file))).map((file) => join(folder, file));
  const queued: QueuedJournal[] = [];
  for (const path of files) {
    const content = await readFile(path);
    if (await queueRows(content.toString(), writer, signal)) queued.push({ path, bytes: content.length });
  }
  return queued;
}

/**
 * Removes files whose rows are written. A worker of a gateway that was killed may still have ended a request since its file was read.
 * @returns whether all are gone; a file that has grown stays, to be read again
 * @throws the system's error for a file that cannot be removed
 */
export function removeJournals(files: readonly QueuedJournal[]): boolean {
  let areGone = true;
  // Nothing comes between the look and the removal but the process itself that writes.
  for (const file of files)
    if (hasGrown(file)) areGone = false;
    else rmSync(file.path, { force: true });
  return areGone;
}

function hasGrown({ bytes, path }: QueuedJournal): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > bytes;
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

/**
 * The first line names the columns, as the version has them that wrote it.
 * @returns whether the file is done with: not one that has rows whose columns cannot be read, or whose reading was ended
 */
async function queueRows(
  text: string,
  writer: Pick<Writer, 'push' | 'whenWritten'>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const [first = '', ...lines] = text.split('\n');
  const header = parsed(first);
  if (header === null || !header.every((name) => typeof name === 'string'))
    return lines.every((line) => line === '');
  let queued = 0;
  const keptColumns = header.flatMap((name, index) => (knownColumns.has(String(name)) ? [index] : []));
  const names = keptColumns.map((index) => String(header[index]));
  const columns = names.join() === ledgerColumns.join() ? ledgerColumns : names;
  for (const line of lines) {
    const row = parsed(line);
    // The last one may have been cut by a full disk.
    if (row === null || row.length !== header.length) continue;
    const values = keptColumns.map((index) => row[index]);
    if (!values.every(isValue)) continue;
    if (queued === MOST_ROWS) {
      await writer.whenWritten();
      queued = 0;
    }
    if (signal?.aborted) return false;
    writer.push('requests', columns, values);
    queued += 1;
  }
  return true;
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
