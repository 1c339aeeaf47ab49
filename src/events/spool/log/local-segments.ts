import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  statfs,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { NoSpace, type Segments } from './segments.ts';

const PROGRESS_MS = 100;
const PROGRESS_FILE = 'progress.json';
/** Segments that are smaller than this together are few: half of what has to be free is enough for them. */
const FEW_BYTES = 4_194_304;

export interface LocalSegmentsInput {
  /** Of this log alone. */
  folder: string;
  /** A segment that has as many bytes gets no more. */
  segmentBytes: number;
  /**
   * What is left free on the disk, so that `events.db` has room to take what waits here. Half of it, while little waits: what
   * `events.db` has free inside does not count as free on the disk.
   */
  minFreeBytes: number;
}

interface Active {
  readonly number: number;
  readonly file: FileHandle;
  bytes: number;
}

/** Segments as files of a folder on a disk of this machine, which are written to until they are full. */
export function localSegments({ folder, minFreeBytes, segmentBytes }: LocalSegmentsInput): Segments {
  const pathOf = (segment: number) => join(folder, `${String(segment).padStart(12, '0')}.log`);
  let last = 0;
  let active: Active | null = null;
  const sizes = new Map<number, number>();

  const create = async (): Promise<Active> => {
    last += 1;
    const file = await open(pathOf(last), 'wx', 0o600);
    await syncFolder(folder);
    return { number: last, file, bytes: 0 };
  };
  const checkSpace = async () => {
    if (minFreeBytes === 0) return;
    const { bavail, bsize } = await statfs(folder);
    const used = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (bavail * bsize < (used < FEW_BYTES ? minFreeBytes / 2 : minFreeBytes))
      throw new NoSpace('There is too little space left on the disk');
  };
  const leave = async (one: Active | null) => {
    if (active === one) active = null;
    await one?.file.close();
  };
  return {
    progressEveryMs: PROGRESS_MS,
    async open(after) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const names = await readdir(folder);
      const numbers = names.flatMap((name) =>
        /^\d{12}\.log$/.test(name) ? [Number.parseInt(name, 10)] : [],
      );
      last = Math.max(after, ...numbers);
      for (const number of numbers) sizes.set(number, (await stat(pathOf(number))).size);
      return numbers.sort((a, b) => a - b);
    },
    read: (segment) => readFile(pathOf(segment)),
    async write(bytes) {
      await checkSpace();
      try {
        if (active !== null && active.bytes >= segmentBytes) await leave(active);
        active ??= await create();
      } catch (error) {
        throw noSpaceOr(error);
      }
      const into: Active = active;
      try {
        await writeAll(into.file, bytes, into.bytes);
        await into.file.datasync();
      } catch (error) {
        // What is there of it must not be taken for accepted. Where that fails, nothing more goes into this file.
        await into.file.truncate(into.bytes).catch(() => leave(into));
        throw noSpaceOr(error);
      }
      into.bytes += bytes.length;
      sizes.set(into.number, into.bytes);
      return into.number;
    },
    async remove(segment) {
      if (active?.number === segment) await leave(active);
      sizes.delete(segment);
      await unlink(pathOf(segment)).catch(ignoreMissing);
    },
    async setAside(segment, bytes) {
      const name = `damaged-${segment}-${crc32(bytes).toString(16)}`;
      await writeFile(join(folder, name), bytes, { mode: 0o600 });
    },
    readProgress: () => readFile(join(folder, PROGRESS_FILE), 'utf8').catch(ignoreMissing),
    async writeProgress(text) {
      const path = join(folder, PROGRESS_FILE);
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    close: () => leave(active),
  };
}

async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, at + written);
    written += bytesWritten;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);

function noSpaceOr(error: unknown): unknown {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' ? new NoSpace('There is no space left') : error;
}

function ignoreMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
