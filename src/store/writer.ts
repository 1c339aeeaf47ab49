import type { Store, Value } from './database.ts';
import type { Tables } from './tables.ts';

export interface Writer {
  /** Queues a row; it is on its way to the disk within `flushMs`. */
  push(table: keyof Tables, columns: readonly string[], row: readonly Value[]): void;
  /** Writes what is queued. False when the database was busy or failed; the rows stay queued. */
  flush(): boolean;
  /** Writes everything and stops. @throws when rows could not be written */
  stop(): Promise<void>;
  /** Rows not written yet. */
  pending(): number;
  /** Rows that could not be written and are gone. */
  lost(): number;
}

export interface WriterOptions {
  flushMs?: number;
  /** Rows of one transaction. */
  maxRows?: number;
  /** Rows kept while the database cannot be written; the oldest beyond it are dropped and counted. */
  maxPending?: number;
  /** How long `stop` tries to write what is left. Default 15,000. */
  stopMs?: number;
  /** Called before each batch: writes what a reader of its rows looks for. */
  beforeBatch?: () => void;
  /** Told of failures, at most once every ten seconds, and of how many rows were lost so far. */
  onError?: (error: unknown, dropped: number) => void;
}

interface Queue {
  table: keyof Tables;
  columns: readonly string[];
  rows: (readonly Value[])[];
}

const REPORT_MS = 10_000;
const STOP_PAUSE_MS = 50;

/**
 * Batches rows, so that no request waits for the database. Rows of one `columns` array share a statement. A row
 * that the database refuses is dropped, counted and reported; the others of its batch are written.
 */
export function createWriter(store: Pick<Store, 'insertMany'>, options: WriterOptions = {}): Writer {
  const { flushMs = 50, maxRows = 500, maxPending = 100_000, stopMs = 15_000, onError = () => {} } = options;
  const { beforeBatch = () => {} } = options;
  const queues = new Map<readonly string[], Queue>();
  const losses = createLosses(onError);
  let pending = 0;
  let lastError: unknown = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  /** False when the database cannot be written now. */
  const writeBatch = ({ table, columns, rows }: Queue): boolean => {
    const batch = rows.slice(0, maxRows);
    beforeBatch();
    try {
      if (!store.insertMany(table, columns, batch, (error) => losses.lost(error))) return false;
    } catch (error) {
      lastError = error;
      losses.report(error);
      return false;
    }
    rows.splice(0, batch.length);
    pending -= batch.length;
    lastError = null;
    return true;
  };
  const next = () => [...queues.values()].find(({ rows }) => rows.length > 0);
  const flush = (): boolean => {
    for (let queue = next(); queue !== undefined; queue = next()) if (!writeBatch(queue)) return false;
    return true;
  };
  const schedule = (ms: number) => {
    timer ??= setTimeout(() => {
      timer = null;
      const queue = next();
      if (queue === undefined || stopped) return;
      // One batch a turn: a backlog must not hold up the requests.
      const written = writeBatch(queue);
      if (pending > 0) schedule(written ? 0 : flushMs);
    }, ms);
  };

  return {
    push(table, columns, row) {
      if (stopped) return losses.lost(new Error('an entry came after the writer had stopped'));
      let queue = queues.get(columns);
      if (queue === undefined) {
        queue = { table, columns, rows: [] };
        queues.set(columns, queue);
      }
      queue.rows.push(row);
      pending += 1;
      if (pending > maxPending) {
        queue.rows.shift();
        pending -= 1;
        losses.lost(lastError ?? new Error('the database stays busy'));
      }
      schedule(flushMs);
    },
    flush,
    pending: () => pending,
    lost: losses.count,
    async stop() {
      stopped = true;
      const deadline = performance.now() + stopMs;
      while (!flush() && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, STOP_PAUSE_MS));
      }
      if (timer !== null) clearTimeout(timer);
      timer = null;
      if (pending > 0)
        throw new Error(
          `${pending} ledger entries could not be written: ${String(lastError ?? 'the database stayed busy')}`,
        );
    },
  };
}

/** Counts lost rows and limits how often anyone is told. */
function createLosses(onError: NonNullable<WriterOptions['onError']>) {
  let dropped = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (error: unknown): void => {
    if (performance.now() - reportedAt < REPORT_MS) return;
    reportedAt = performance.now();
    onError(error, dropped);
  };
  return {
    report,
    count: () => dropped,
    lost(error: unknown): void {
      dropped += 1;
      report(error);
    },
  };
}
