import { closeSync, ftruncate, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '../lib/log.ts';
import type { Value } from '../store/database.ts';

/** What one file may hold while the database takes nothing: some hundred thousand rows. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A write that takes longer says that the disk is busy: requests must not wait for it. */
const SLOW_MS = 50;
/** After a fault, and at most after a slow write, rows are kept in memory alone for so long. */
const PAUSE_MS = 5_000;
/** A slow disk is left alone for so many times as long as it took: requests wait for it for a small part of the time. */
const PAUSE_FACTOR = 10;
/** Rows of a pause, in characters, that are written to the disk after it if the database does not have them by then. */
const MAX_SKIPPED = 1_048_576;

/** How often the journal of requests is begun anew. */
export const JOURNAL_MS = 1_000;

const truncate = promisify(ftruncate);

/**
 * Rows of finished requests on the local disk until the database has them, so that a process that is killed loses none. A row is
 * handed to the operating system, which writes it to the disk later: it survives the process, not a loss of power.
 */
export interface Journal {
  /** Writes one row before it returns. Never throws. @returns whether it is on the disk; false during a pause too */
  append(row: readonly Value[]): boolean;
  /** Has the rows that were appended until now forgotten, once `written` says that they are in the database. */
  rotate(): Promise<void>;
  /** Closes its files, which stay. */
  close(): Promise<void>;
}

export interface JournalInput {
  /** `DATA_DIR/journal`; it is made if it is not there. */
  folder: string;
  /** Of this process alone: its two files are `NAME.0` and `NAME.1`. */
  name: string;
  /** What the values of a row are called. */
  columns: readonly string[];
  /** Resolves once the database has all rows that were recorded until now. */
  written(): Promise<void>;
  /** Told when rows are not written to the disk for a while, and why. */
  onError(error: Error): void;
  maxBytes?: number;
  /** Milliseconds of a clock that does not jump. */
  steady?(): number;
}

/** Where the journals of a gateway's processes are. */
export function journalFolder(dataDir: string): string {
  return join(dataDir, 'journal');
}

/** The two files of a journal. */
export function journalFiles(folder: string, name: string): readonly [string, string] {
  return [join(folder, `${name}.0`), join(folder, `${name}.1`)];
}

interface JournalFile {
  descriptor: number;
  bytes: number;
}

/**
 * Opens the files of a journal: one takes rows while those of the other are on their way to the database.
 * @throws the system's error when they cannot be made
 */
export function openJournal(input: JournalInput): Journal {
  const { columns, folder, maxBytes = MAX_BYTES, name, onError, written } = input;
  const steady = input.steady ?? (() => performance.now());
  const header = `${JSON.stringify(columns)}\n`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [first, second] = journalFiles(folder, name);
  let current = openFile(first);
  let other = openFile(second);
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let rotating = false;
  let truncating: Promise<void> = Promise.resolve();
  let closed = false;
  /** Lines of a pause. */
  let skipped: string[] = [];
  let skippedLength = 0;

  const skip = (line: string): false => {
    if (skippedLength + line.length <= MAX_SKIPPED) {
      skipped.push(line);
      skippedLength += line.length;
    }
    return false;
  };
  const forget = (count: number): void => {
    for (const line of skipped.splice(0, count)) skippedLength -= line.length;
  };
  const pause = (message: string, ms = PAUSE_MS): void => {
    pausedUntil = steady() + ms;
    onError(new Error(message));
  };
  /** A part of a line, or of the columns' names, would make the lines behind it unreadable. */
  const takeBack = ({ bytes, descriptor }: JournalFile): void => {
    try {
      ftruncateSync(descriptor, bytes);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return {
    append(row) {
      const begun = steady();
      if (closed) return false;
      const line = `${JSON.stringify(row)}\n`;
      if (begun < pausedUntil) return skip(line);
      if (current.bytes >= maxBytes) {
        pause('too many rows wait for the database');
        return skip(line);
      }
      const text = `${current.bytes === 0 ? header : ''}${skipped.join('')}${line}`;
      try {
        const wrote = writeSync(current.descriptor, text);
        if (wrote < Buffer.byteLength(text)) {
          takeBack(current);
          pause('the disk is full');
          return skip(line);
        }
        current.bytes += wrote;
      } catch (error) {
        pause(error instanceof Error ? error.message : String(error));
        return skip(line);
      }
      skipped = [];
      skippedLength = 0;
      const took = steady() - begun;
      if (took > SLOW_MS)
        pause(`the disk took ${Math.round(took)} ms for a row`, Math.min(PAUSE_MS, PAUSE_FACTOR * took));
      return true;
    },
    async rotate() {
      if (rotating || closed || (current.bytes === 0 && skipped.length === 0)) return;
      rotating = true;
      const [lines, count] = [skipped, skipped.length];
      try {
        [current, other] = [other, current];
        await written();
        if (closed) return;
        // These are in the database now, if they are not in a file.
        if (skipped === lines) forget(count);
        truncating = truncate(other.descriptor, 0);
        await truncating;
        other.bytes = 0;
      } finally {
        rotating = false;
      }
    },
    async close() {
      closed = true;
      await truncating.catch(() => {});
      for (const { descriptor } of [current, other]) closeSync(descriptor);
    },
  };
}

function openFile(path: string): JournalFile {
  return { descriptor: openSync(path, 'a', 0o600), bytes: 0 };
}

/** Says in the log that rows are in memory alone for a while. */
export function journalFault(log: Pick<Log, 'warn'>, error: Error): void {
  log.warn(
    { reason: error.message },
    'rows of the ledger are not kept on the local disk for some seconds: they are lost if this process is killed before the database has them',
  );
}
