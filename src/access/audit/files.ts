import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The files of the audit log: `DATA_DIR/audit/2026-11.jsonl`, one for each month, so that the order of their names is
 * the order of the records.
 */

const fileName = /^\d{4}-\d\d\.jsonl$/;
const NEWLINE = 0x0a;
const CHUNK_BYTES = 65_536;
/** No writer makes such a line; what is longer is not read as one. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

export function auditFolder(dataDir: string): string {
  return join(dataDir, 'audit');
}

export function auditFileOf(time: number): string {
  return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;
}

/** The names of the files, oldest first; none where there is no folder. */
export async function auditFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => fileName.test(name)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export interface Line {
  text: string;
  /** Whether it is whole: the last one of a file may still be on its way, or its writer was killed. */
  isComplete: boolean;
}

/** The lines of a file, first to last. A line beyond 4 MiB comes as its beginning. */
export async function* linesOf(path: string): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const keep = (piece: Buffer) => {
    if (bytes < MAX_LINE_BYTES) pieces.push(piece);
    bytes += piece.length;
  };
  const line = (isComplete: boolean): Line => {
    const text = Buffer.concat(pieces).toString('utf8');
    pieces = [];
    bytes = 0;
    return { text, isComplete };
  };
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const read: Buffer = chunk;
    let from = 0;
    for (let at = read.indexOf(NEWLINE); at >= 0; at = read.indexOf(NEWLINE, from)) {
      keep(read.subarray(from, at));
      yield line(true);
      from = at + 1;
    }
    if (from < read.length) keep(read.subarray(from));
  }
  if (bytes > 0) yield line(false);
}

/** The whole lines of a file, last to first. */
export async function* linesBackwards(path: string): AsyncGenerator<string> {
  const file = await open(path, 'r');
  try {
    let position = (await file.stat()).size;
    let rest: Buffer = Buffer.alloc(0);
    // What stands behind the last line end is not whole.
    let whole = false;
    while (position > 0) {
      const size = Math.min(CHUNK_BYTES, position);
      position -= size;
      const chunk = Buffer.alloc(size);
      await file.read(chunk, 0, size, position);
      let end = chunk.length;
      for (
        let at = chunk.lastIndexOf(NEWLINE);
        at >= 0;
        at = end === 0 ? -1 : chunk.lastIndexOf(NEWLINE, end - 1)
      ) {
        if (whole) yield Buffer.concat([chunk.subarray(at + 1, end), rest]).toString('utf8');
        whole = true;
        rest = Buffer.alloc(0);
        end = at;
      }
      if (whole && rest.length < MAX_LINE_BYTES) rest = Buffer.concat([chunk.subarray(0, end), rest]);
    }
    if (whole) yield rest.toString('utf8');
  } finally {
    await file.close();
  }
}

/** The lines of all files, newest first. A file that retention removes meanwhile is passed over. */
export async function* newestLines(folder: string): AsyncGenerator<string> {
  for (const name of (await auditFiles(folder)).reverse()) {
    try {
      yield* linesBackwards(join(folder, name));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

/** The size of a file in bytes; 0 where there is none. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
