import { hash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../lib/error.ts';
import { type Lock, tryLock } from '../../store/lock.ts';
import { type ChainEnd, chained, chainStart, parseRecord } from './chain.ts';
import { auditFileOf, auditFiles, newestLines, sizeOf } from './files.ts';
import type { AuditEntry } from './schema.ts';

export interface PendingEntry {
  entry: AuditEntry;
  /** Milliseconds since the epoch. */
  time: number;
}

export interface Appender {
  /**
   * Appends all of the entries or none of them. The gateway and the commands beside it write one chain: each append
   * holds a lock, and looks first whether another process wrote meanwhile.
   * @param sync whether they must be on the disk
   * @throws the system's error, or GatewayError when another process keeps the lock
   */
  append(pending: readonly PendingEntry[], sync: boolean): Promise<void>;
}

const LOCK_TRIES = 250;
const LOCK_PAUSE_MS = 20;

/** Where the last append ended: the newest file, null where there is none, and its size. */
interface FileEnd {
  file: string | null;
  bytes: number;
}

/** What the next record follows, and what has to be said first. */
interface ChainTail extends FileEnd {
  end: ChainEnd;
  notes: AuditEntry[];
}

/** Writes the chain in `folder`, which is made when there is none. */
export function createAppender(folder: string, now: () => number): Appender {
  let fileEnd: FileEnd | null = null;
  let end = chainStart;

  const write = async (pending: readonly PendingEntry[], sync: boolean): Promise<void> => {
    const tail = (await isUnchanged(folder, fileEnd)) ? null : await findEnd(folder, end, now());
    const at: FileEnd = tail ?? fileEnd ?? { file: null, bytes: 0 };
    // A clock that was set back begins no file that would stand before others.
    const month = auditFileOf(now());
    const file = at.file !== null && at.file > month ? at.file : month;
    let next = tail?.end ?? end;
    const lines = [...(tail?.notes ?? []).map((entry) => ({ entry, time: now() })), ...pending].map(
      ({ entry, time }) => {
        const record = chained(entry, time, next);
        next = record.end;
        return record.line;
      },
    );
    // Where this fails, the next append looks anew.
    fileEnd = null;
    const bytes = Buffer.from(lines.join(''));
    const before = file === at.file ? at.bytes : 0;
    await appendWhole(join(folder, file), bytes, before, sync);
    if (sync && file !== at.file) await syncFolder(folder);
    fileEnd = { file, bytes: before + bytes.length };
    end = next;
  };

  return {
    async append(pending, sync) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const lock = await waitForLock(join(folder, 'audit.lock'));
      try {
        await write(pending, sync);
      } finally {
        lock.release();
      }
    },
  };
}

async function waitForLock(path: string): Promise<Lock> {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    await delay(LOCK_PAUSE_MS);
  }
  throw new GatewayError('audit_unavailable', `Another process keeps the audit log locked (${path})`);
}

async function isUnchanged(folder: string, fileEnd: FileEnd | null): Promise<boolean> {
  if (fileEnd === null) return false;
  const newest = (await auditFiles(folder)).at(-1) ?? null;
  return (
    newest === fileEnd.file && (newest === null || (await sizeOf(join(folder, newest))) === fileEnd.bytes)
  );
}

/**
 * Looks where the chain ends. What a killed writer left of a line is set aside; what else is wrong stays as it is, so
 * that a check finds it, and is reported in a record.
 * @param ownEnd the end as this process last wrote it
 */
async function findEnd(folder: string, ownEnd: ChainEnd, now: number): Promise<ChainTail> {
  const file = (await auditFiles(folder)).at(-1) ?? null;
  const notes: AuditEntry[] = [];
  if (file !== null) {
    const torn = await setTornLineAside(folder, file, now);
    if (torn !== null) notes.push(ownEntry('audit.recovered', file, torn, 'unfinished_line'));
  }
  const { end, unread } = await lastRecord(folder);
  if (unread > 0) notes.push(ownEntry('audit.damaged', file, { lines: unread }, 'unreadable_lines'));
  const tail = { file, bytes: file === null ? 0 : await sizeOf(join(folder, file)), notes };
  if (end.seq >= ownEnd.seq) return { ...tail, end };
  // Records of this process are gone. The chain continues behind them, so that the gap shows.
  notes.push(
    ownEntry('audit.damaged', file, { last_seq: ownEnd.seq, found_seq: end.seq }, 'missing_records'),
  );
  return { ...tail, end: ownEnd };
}

async function lastRecord(folder: string): Promise<{ end: ChainEnd; unread: number }> {
  let unread = 0;
  for await (const line of newestLines(folder)) {
    const record = parseRecord(line);
    if (record !== null) return { end: { seq: record.seq, hash: record.hash }, unread };
    unread += 1;
  }
  return { end: chainStart, unread };
}

/** Moves what stands behind the last line end into a file of its own. Null when nothing does. */
async function setTornLineAside(
  folder: string,
  name: string,
  now: number,
): Promise<Record<string, unknown> | null> {
  const file = await open(join(folder, name), 'r+');
  try {
    const { size } = await file.stat();
    const end = await lastLineEnd(file, size);
    if (end === size) return null;
    const torn = Buffer.alloc(size - end);
    await file.read(torn, 0, torn.length, end);
    const tornFile = `torn-${new Date(now).toISOString().replace(/[:.]/g, '-')}.txt`;
    await writeFile(join(folder, tornFile), torn, { mode: 0o600, flush: true });
    await file.truncate(end);
    return { bytes: torn.length, sha256: hash('sha256', torn, 'hex'), kept: tornFile };
  } finally {
    await file.close();
  }
}

const CHUNK_BYTES = 65_536;

/** The offset behind the last line end; 0 where there is none. */
async function lastLineEnd(file: Awaited<ReturnType<typeof open>>, size: number): Promise<number> {
  for (let end = size; end > 0; end -= CHUNK_BYTES) {
    const from = Math.max(0, end - CHUNK_BYTES);
    const chunk = Buffer.alloc(end - from);
    await file.read(chunk, 0, chunk.length, from);
    const at = chunk.lastIndexOf('\n');
    if (at >= 0) return from + at + 1;
  }
  return 0;
}

/** Appends to a file of a known size. What fails half-way is taken back. */
async function appendWhole(path: string, bytes: Buffer, before: number, sync: boolean): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    await file.appendFile(bytes);
    if (sync) await file.sync();
  } catch (error) {
    // Where not even that works, the next append finds the line unfinished.
    await file.truncate(before).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

/** Makes the name of a new file last. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A record of the log about itself. */
export function ownEntry(
  action: string,
  target: string | null,
  after: Record<string, unknown>,
  reason: string | null,
): AuditEntry {
  return {
    request_id: null,
    actor: { id: null, name: null, role: null, via: 'gateway', token_id: null },
    address: null,
    action,
    target,
    input: null,
    before: null,
    after,
    outcome: reason === null ? 'success' : 'failure',
    reason,
  };
}
