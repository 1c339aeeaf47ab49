import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecord } from './chain.ts';
import { auditFiles, sizeOf } from './files.ts';
import type { AuditRecord } from './schema.ts';

/** At most so much is read at a time. */
const MOST_BYTES = 1_048_576;
const NEWLINE = 0x0a;

/**
 * Follows the audit log of a folder from its end on: what this process writes, and what the commands beside it write.
 * @returns what reads the records that came since it was called last; one call at a time
 */
export async function followAudit(folder: string): Promise<() => Promise<AuditRecord[]>> {
  const [newest = null] = (await auditFiles(folder)).slice(-1);
  let file = newest;
  let offset = newest === null ? 0 : await sizeOf(join(folder, newest));
  return async () => {
    const records: AuditRecord[] = [];
    for (const name of await auditFiles(folder)) {
      if (file !== null && name < file) continue;
      if (name !== file) offset = 0;
      file = name;
      const { lines, read } = await wholeLines(join(folder, name), offset);
      offset += read;
      for (const line of lines) {
        const record = parseRecord(line);
        if (record !== null) records.push(record);
      }
    }
    return records;
  };
}

/** The lines from an offset on that are whole, and their bytes. What was cut off meanwhile is read from its beginning. */
async function wholeLines(path: string, offset: number): Promise<{ lines: string[]; read: number }> {
  const size = await sizeOf(path);
  if (size < offset) return { lines: [], read: size - offset };
  if (size === offset) return { lines: [], read: 0 };
  const bytes = Buffer.alloc(Math.min(size - offset, MOST_BYTES));
  const file = await open(path, 'r');
  try {
    await file.read(bytes, 0, bytes.length, offset);
  } finally {
    await file.close();
  }
  const end = bytes.lastIndexOf(NEWLINE);
  // A line that fills everything is none that a writer makes.
  if (end < 0) return { lines: [], read: bytes.length === MOST_BYTES ? MOST_BYTES : 0 };
  return { lines: bytes.toString('utf8', 0, end).split('\n'), read: end + 1 };
}
