import { closeSync, ftruncate, ftruncateSync, mkdirSync, openSync, write, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '../lib/log.ts';

/** The largest size of one file while the database is not writable: some hundred thousand rows. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A write that takes longer says that the disk is busy: requests must not wait for it. */
const SLOW_MS = 50;
/** How long rows stay only in memory after a fault, and how long a slow disk is written to in the background at most. */
const PAUSE_MS = 5_000;
/** After a slow write, rows are written in the background for this many times as long as it took, so that requests rarely wait for the disk. */
const PAUSE_FACTOR = 10;
/** How many characters of rows wait in memory for the disk at most. */
const MAX_SKIPPED = 1_048_576;

/** How often the journal switches to its other file and empties this one. */
export const JOURNAL_MS = 1_000;

const truncate = promisify(ftruncate);

/** How a journal writes to its files. Both append, and return how many bytes were written. */
export interface JournalDisk {
  writeNow(descriptor: number, text: string): number;
  /** The same in the background. */
  writeLater(descriptor: number, text: string): Promise<number>;
}

const localDisk: JournalDisk = {
  writeNow: writeSync,
  writeLater: (descriptor, text) =>
    new Promise((resolve, reject) => {
      write(descriptor, text, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
    }),
};

/**
 * Rows of finished requests on the local disk until the database has them, so that a process that is killed loses none. A row is
 * handed to the operating system, which writes it to the disk later: it survives the process, not a loss of power.
 */
export interface Journal {
  /**
   * Writes one row before it returns; to a slow disk, soon after. Never throws.
   * @param row its values as JSON, in one line
   * @returns whether it is on the disk
   */
  append(row: string): boolean;
  /** Removes the rows that were appended until now, once `whenWritten` says that the database has them. */
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
  whenWritten(): Promise<void>;
  /** Told when rows are not written to the disk for a while, and why. */
  onError(error: Error): void;
  maxBytes?: number;
  /** Milliseconds of a clock that does not jump. */
  steady?(): number;
  disk?: JournalDisk;
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
  const { columns, disk = localDisk, folder, maxBytes = MAX_BYTES, name, onError, whenWritten } = input;
  const steady = input.steady ?? (() => performance.now());
  const header = `${JSON.stringify(columns)}\n`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [first, second] = journalFiles(folder, name);
  let current = openFile(first);
  let other = openFile(second);
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** Whether the disk works and is only slow, so that it is written to in the background meanwhile. */
  let isSlow = false;
  /** The write in the background that is under way. */
  let late: Promise<void> | null = null;
  let rotating = false;
  let truncating: Promise<void> = Promise.resolve();
  let closed = false;
  /** Lines that are not on the disk yet. */
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
  const takeSkipped = (): string[] => {
    const lines = skipped;
    skipped = [];
    skippedLength = 0;
    return lines;
  };
  const pause = (message: string, ms = PAUSE_MS): void => {
    pausedUntil = steady() + ms;
    onError(new Error(message));
  };
  const failed = (message: string): void => {
    isSlow = false;
    pause(message);
  };
  /** A part of a line, or of the columns' names, would make the lines behind it unreadable. */
  const takeBack = ({ bytes, descriptor }: JournalFile): void => {
    try {
      ftruncateSync(descriptor, bytes);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  /** Notes what came of a write. @returns whether all of it is on the disk */
  const isWhole = (file: JournalFile, text: string, bytes: number): boolean => {
    if (bytes === Buffer.byteLength(text)) {
      file.bytes += bytes;
      return true;
    }
    takeBack(file);
    failed('the disk is full');
    return false;
  };
  const textOf = ({ bytes }: JournalFile, lines: readonly string[]): string =>
    `${bytes === 0 ? header : ''}${lines.join('')}`;
  /** Writes what waits, without anyone waiting for it. */
  const writeLate = async (): Promise<void> => {
    while (isSlow && !closed && skipped.length > 0 && current.bytes < maxBytes) {
      const file = current;
      const lines = takeSkipped();
      const text = textOf(file, lines);
      try {
        const bytes = await disk.writeLater(file.descriptor, text);
        if (!isWhole(file, text, bytes)) for (const line of lines) skip(line);
      } catch (error) {
        for (const line of lines) skip(line);
        failed(messageOf(error));
      }
      if (steady() >= pausedUntil) return;
    }
  };
  const rest = (line: string): false => {
    skip(line);
    late ??= writeLate().finally(() => {
      late = null;
    });
    return false;
  };
  return {
    append(row) {
      const begun = steady();
      if (closed) return false;
      const line = `${row}\n`;
      // One that is still under way holds up the next.
      if (late !== null || begun < pausedUntil) return isSlow ? rest(line) : skip(line);
      if (current.bytes >= maxBytes) {
        failed('too many rows wait for the database');
        return skip(line);
      }
      const text = textOf(current, [...skipped, line]);
      try {
        if (!isWhole(current, text, disk.writeNow(current.descriptor, text))) return skip(line);
      } catch (error) {
        failed(messageOf(error));
        return skip(line);
      }
      takeSkipped();
      const took = steady() - begun;
      isSlow = took > SLOW_MS;
      if (isSlow)
        pause(`the disk took ${Math.round(took)} ms for a row`, Math.min(PAUSE_MS, PAUSE_FACTOR * took));
      return true;
    },
    async rotate() {
      if (rotating || closed || (current.bytes === 0 && skipped.length === 0)) return;
      rotating = true;
      const [lines, count] = [skipped, skipped.length];
      const before = late;
      try {
        [current, other] = [other, current];
        await whenWritten();
        await before;
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
      await late;
      await truncating.catch(() => {});
      for (const { descriptor } of [current, other]) closeSync(descriptor);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
