import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import { createWriter } from '../store/writer.ts';
import type { LedgerRow } from './report.ts';
import type { TraceRow } from './schema.ts';

/** How long it can be said why a request went where it went. */
const TRACE_DAYS = 30;
const DAY_MS = 86_400_000;
const SWEEP_MS = 3_600_000;
/** Rows deleted at once, so that no request waits long for it. */
const SWEPT_ROWS = 500;

/** One array, for the writer batches rows by it. */
const columns = ['id', 'trace'] as const;

export interface Traces {
  /** Queues the trace of a request, as JSON text. */
  record(requestId: string, trace: string): void;
  /** Rows not written yet. */
  pending(): number;
  /** Rows that could not be written and are gone. */
  lostRows(): number;
  /** Writes what waits. False when the database was busy or failed. */
  flush(): boolean | Promise<boolean>;
  /** Writes what waits and stops. */
  close(): Promise<void>;
}

/**
 * The decision traces of a running gateway.
 * @param onError is called with what could not be written or deleted, and with how many were lost so far
 */
export function openTraces(
  store: Pick<Store, 'db' | 'insertMany'>,
  schedule: Pick<Schedule, 'every'>,
  onError: (error: unknown, lost: number) => void,
  now: () => number = Date.now,
): Traces {
  const writer = createWriter(store, { onError });
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = (): Promise<unknown> => {
    const swept = sweepTraces(store, now() - TRACE_DAYS * DAY_MS);
    sweeping = swept.catch(() => {});
    return swept;
  };
  const failed = (error: unknown) => onError(error, 0);
  sweep().catch(failed);
  const stop = schedule.every({ name: 'old traces', everyMs: SWEEP_MS, run: sweep, onError: failed });
  return {
    record: (requestId, trace) => writer.push('traces', columns, [requestId, trace]),
    pending: writer.pending,
    lostRows: writer.lostRows,
    flush: writer.flush,
    async close() {
      stop();
      await sweeping;
      await writer.stop();
    },
  };
}

/** Deletes what is older than `before`, in milliseconds since the epoch. @returns how many */
async function sweepTraces({ db }: Pick<Store, 'db'>, before: number): Promise<number> {
  const oldest = firstId(before);
  let deleted = 0;
  for (;;) {
    const rows = await db
      .selectFrom('traces')
      .select('id')
      .where('id', '<', oldest)
      .orderBy('id')
      .limit(SWEPT_ROWS)
      .execute();
    if (rows.length === 0) return deleted;
    const ids = rows.map(({ id }) => id);
    await db.deleteFrom('traces').where('id', 'in', ids).execute();
    deleted += rows.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** No request from `time` on, in milliseconds since the epoch, has a lower id: they sort by time (`lib/id.ts`). */
function firstId(time: number): string {
  return `req_${Math.max(0, time).toString(36).padStart(9, '0')}`;
}

/** An attempt that failed by the fault of its target. */
export interface FailedAttempt {
  connectionId: string;
  provider: string;
  model: string;
  durationMs: number;
}

/** The failed attempts of each request since a time, in milliseconds since the epoch, that anything is kept of. */
export async function failedAttempts(
  { db }: Pick<Store, 'db'>,
  since: number,
): Promise<Map<string, FailedAttempt[]>> {
  const rows = await db.selectFrom('traces').selectAll().where('id', '>=', firstId(since)).execute();
  const failed = new Map<string, FailedAttempt[]>();
  for (const { id, trace } of rows) {
    const { attempts } = JSON.parse(trace) as Pick<KeptTrace, 'attempts'>;
    // What did nothing to the account was a fault of the request.
    const own = attempts.filter(({ effect, outcome }) => outcome === 'failed' && effect !== null);
    failed.set(id, own);
  }
  return failed;
}

interface KeptTrace {
  attempts: (FailedAttempt & { outcome: string; effect: string | null })[];
}

/** Why a request went where it went, as it is shown; null where that is not kept, or not any more. */
export async function traceOf(
  { db }: Pick<Store, 'db'>,
  entry: LedgerRow,
  now: number = Date.now(),
): Promise<TraceRow | null> {
  const row = await db.selectFrom('traces').select('trace').where('id', '=', entry.id).executeTakeFirst();
  if (row !== undefined) return underscored(JSON.parse(row.trace)) as TraceRow;
  return entry.startedAt < now - TRACE_DAYS * DAY_MS ? null : plainTrace(entry);
}

/** The trace of a request that was answered by the one connection that it named: nothing else is kept of it. */
function plainTrace(entry: LedgerRow): TraceRow | null {
  const { attempts, connection, connectionId, durationMs, model, outcome, provider, requestedModel, status } =
    entry;
  if (outcome !== 'ok' || attempts !== 1 || requestedModel === null) return null;
  if (connection === null || connectionId === null || provider === null || model === null) return null;
  const name = { connection_id: connectionId, connection, provider, model };
  const attempt = { ...name, started_ms: 0, duration_ms: durationMs, status, error: null, effect: null };
  return {
    requested: requestedModel,
    via: [{ by: 'connection', name: connection }],
    combo: null,
    strategy: null,
    candidates: [name],
    skipped: [],
    affinity: null,
    attempts: [{ ...attempt, outcome: 'answered' }],
  };
}

/** The value with its members' names as they are shown: `startedMs` as `started_ms`. */
function underscored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(underscored);
  if (typeof value !== 'object' || value === null) return value;
  const named = Object.entries(value).map(([name, member]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    underscored(member),
  ]);
  return Object.fromEntries(named);
}
