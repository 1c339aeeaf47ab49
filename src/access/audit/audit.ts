import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import { createSteadyClock } from '../../lib/time/clock.ts';
import { type Appender, createAppender, ownEntry, type PendingEntry } from './append.ts';
import { parseRecord } from './chain.ts';
import { auditFileOf, auditFiles, auditFolder, linesBackwards } from './files.ts';
import { masked } from './mask.ts';
import { createRefusalThrottle } from './refusal-throttle.ts';
import type { AuditEntry } from './schema.ts';

export interface AuditLog {
  /** Where the files are. */
  folder: string;
  /**
   * Records soon, beside the request. What cannot be written yet waits and is tried again. Of many refusals of one kind
   * the first are recorded, and the number of the rest.
   */
  write(entry: AuditEntry): void;
  /**
   * Returns once the record is on the disk.
   * @throws GatewayError `audit_unavailable` when it cannot be: what it is about must be refused then
   */
  writeNow(entry: AuditEntry): Promise<void>;
  /** Removes what is older than is kept. Also done with the first record of a month. */
  retain(): Promise<void>;
  /** Writes what waits. */
  close(): Promise<void>;
}

export interface AuditInput {
  dataDir: string;
  /** Files of a month that ended so many months ago go; null keeps all. Only the gateway removes any. */
  retentionMonths: number | null;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Told when records cannot be written, or files not be removed. */
  onError(error: unknown): void;
}

interface QueuedEntry extends PendingEntry {
  /** Of a record whose writing is awaited. */
  settle: { resolve(): void; reject(error: unknown): void } | null;
}

/** How long a record may wait for others, to be written with them. */
const BATCH_MS = 50;
const RETRY_MS = 5000;
/** Records that may wait for a disk that takes none. Those beyond are counted, and the count is recorded. */
const MAX_WAITING = 10_000;

/**
 * The audit log of a data directory: `DATA_DIR/audit/YYYY-MM.jsonl`, one record a line, each with the hash of the one
 * before. Nothing is written before the first record.
 */
export function openAudit({ dataDir, now, onError, retentionMonths }: AuditInput): AuditLog {
  const folder = auditFolder(dataDir);
  const appender = createAppender(folder, now);
  const queue: QueuedEntry[] = [];
  let lost = 0;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let month = '';

  const plan = (milliseconds: number) => {
    timer ??= setTimeout(() => {
      timer = null;
      void start();
    }, milliseconds).unref();
  };
  const start = (): Promise<void> => {
    running ??= drain().then((written) => {
      running = null;
      // Awaited records that came too late for this run.
      if (written && queue.some(({ settle }) => settle !== null)) void start();
    });
    return running;
  };
  /** False when the disk takes nothing just now. */
  const drain = async (): Promise<boolean> => {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      const missing = lost;
      const notes: PendingEntry[] = missing === 0 ? [] : [{ entry: lostEntry(missing), time: now() }];
      try {
        await appender.append(
          [...notes, ...batch],
          batch.some(({ settle }) => settle !== null),
        );
        lost -= missing;
        for (const { settle } of batch) settle?.resolve();
      } catch (error) {
        onError(error);
        for (const { settle } of batch) settle?.reject(unavailable(error));
        queue.unshift(...batch.filter(({ settle }) => settle === null));
        plan(RETRY_MS);
        return false;
      }
    }
    if (retentionMonths === null || month === auditFileOf(now())) return true;
    month = auditFileOf(now());
    await retain({ folder, months: retentionMonths, now: now(), appender }).catch(onError);
    return true;
  };

  const enqueue = (entry: AuditEntry) => {
    if (queue.length >= MAX_WAITING) lost += 1;
    else queue.push({ entry: masked(entry), time: now(), settle: null });
    plan(BATCH_MS);
  };
  const refusals = createRefusalThrottle(createSteadyClock(now), enqueue);

  return {
    folder,
    write(entry) {
      if (refusals.allows(entry)) enqueue(entry);
    },
    writeNow(entry) {
      return new Promise((resolve, reject) => {
        queue.push({ entry: masked(entry), time: now(), settle: { resolve, reject } });
        void start();
      });
    },
    retain() {
      month = '';
      return start();
    },
    async close() {
      refusals.finish();
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await running;
      if (queue.length > 0) await start();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function unavailable(error: unknown): GatewayError {
  return new GatewayError(
    'audit_unavailable',
    'The audit log cannot be written, so the gateway refuses everything that it must record there: see the log of the gateway',
    { cause: error },
  );
}

function lostEntry(records: number): AuditEntry {
  return ownEntry('audit.lost', null, { records }, 'not_writable');
}

interface Retention {
  folder: string;
  months: number;
  /** Milliseconds since the epoch. */
  now: number;
  appender: Appender;
}

/**
 * Removes the files of months that ended more than `months` ago, each after a record that says where the chain now
 * begins.
 */
async function retain({ appender, folder, months, now }: Retention): Promise<void> {
  const time = new Date(now);
  const oldest = auditFileOf(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() - months));
  for (const name of (await auditFiles(folder)).slice(0, -1)) {
    if (name >= oldest) return;
    for await (const line of linesBackwards(join(folder, name))) {
      const last = parseRecord(line);
      const after = { last_seq: last?.seq, last_hash: last?.hash };
      await appender.append([{ entry: ownEntry('audit.removed', name, after, null), time: now }], true);
      break;
    }
    await rm(join(folder, name), { force: true });
  }
}
