import type { Store, Value } from './database.ts';
import type { Tables } from './tables.ts';

export interface Writer {
  /** Queues a row; it is on its way to the database within `flushMs`. */
  push(table: keyof Tables, columns: readonly string[], row: readonly Value[]): void;
  /** Writes what is queued; at once where the store does. False when the database was busy or failed; the rows stay queued. */
  flush(): boolean | Promise<boolean>;
  /**
   * Resolves once nothing of what was queued until now waits any more: true where the database was given all of it, false where
   * rows were dropped because too many waited. A row that the database refuses counts as given.
   */
  whenWritten(): Promise<boolean>;
  /** Writes everything and stops. @throws when rows could not be written */
  stop(): Promise<void>;
  /** Rows not written yet. */
  pending(): number;
  /** Rows that could not be written and are gone. */
  lostRows(): number;
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
  beforeBatch?: () => unknown;
  /** Called with failures, at most once every ten seconds, and with how many rows were lost so far. */
  onError?: (error: unknown, dropped: number) => void;
}

interface Queue {
  table: keyof Tables;
  columns: readonly string[];
  rows: (readonly Value[])[];
  /** The first so many are being written. */
  underWay: number;
  /** Who waits until so many of the first rows are gone. */
  waiting: Waiting[];
}

interface Waiting {
  /** So many of the first rows. */
  rows: number;
  /** Whether none of them was dropped. */
  whole: boolean;
  resolve(whole: boolean): void;
}

const REPORT_MS = 10_000;
const STOP_PAUSE_MS = 50;

/**
 * Batches rows, so that no request waits for the database. Rows of one `columns` array share a statement. A row
 * that the database refuses is dropped, counted and reported; the others of its batch are written. One batch is under
 * way at a time.
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
  /** The batch that a server is writing just now. */
  let writing: Promise<boolean> | null = null;

  /** Forgets rows of a queue, and tells who waited for nothing else. */
  const remove = (queue: Queue, from: number, count: number, isDropped: boolean): void => {
    queue.rows.splice(from, count);
    pending -= count;
    for (const one of queue.waiting) {
      if (one.rows <= from) continue;
      one.rows -= Math.min(one.rows - from, count);
      if (isDropped) one.whole = false;
    }
    while (queue.waiting[0] !== undefined && queue.waiting[0].rows <= 0) {
      const one = queue.waiting.shift();
      one?.resolve(one.whole);
    }
  };
  const failed = (error: unknown): false => {
    lastError = error;
    losses.report(error);
    return false;
  };
  const insert = (queue: Queue): boolean | Promise<boolean> => {
    const { columns, rows, table } = queue;
    const batch = rows.slice(0, maxRows);
    const ended = (written: boolean): boolean => {
      queue.underWay = 0;
      if (!written) return false;
      remove(queue, 0, batch.length, false);
      lastError = null;
      return true;
    };
    queue.underWay = batch.length;
    try {
      const written = store.insertMany(table, columns, batch, (error) => losses.lost(error));
      if (typeof written === 'boolean') return ended(written);
      return written.catch(failed).then(ended);
    } catch (error) {
      return ended(failed(error));
    }
  };
  /** False when the database cannot be written now. */
  const writeBatch = (queue: Queue): boolean | Promise<boolean> => {
    const before = beforeBatch();
    const written = before instanceof Promise ? before.then(() => insert(queue)) : insert(queue);
    if (typeof written === 'boolean') return written;
    const batch = written.finally(() => {
      if (writing === batch) writing = null;
    });
    writing = batch;
    return batch;
  };
  const next = () => [...queues.values()].find(({ rows }) => rows.length > 0);
  const flush = (): boolean | Promise<boolean> => {
    if (writing !== null) return writing.then((written) => written && flush());
    for (let queue = next(); queue !== undefined; queue = next()) {
      const written = writeBatch(queue);
      if (written instanceof Promise) return written.then((done) => done && flush());
      if (!written) return false;
    }
    return true;
  };
  const schedule = (ms: number) => {
    timer ??= setTimeout(() => {
      timer = null;
      const queue = next();
      if (queue === undefined || stopped) return;
      // One batch a turn: a backlog must not hold up the requests.
      const then = (written: boolean) => {
        if (pending > 0 && !stopped) schedule(written ? 0 : flushMs);
      };
      const written = writing ?? writeBatch(queue);
      if (written instanceof Promise) void written.then(then);
      else then(written);
    }, ms);
  };

  return {
    push(table, columns, row) {
      if (stopped) return losses.lost(new Error('an entry came after the writer had stopped'));
      let queue = queues.get(columns);
      if (queue === undefined) {
        queue = { table, columns, rows: [], underWay: 0, waiting: [] };
        queues.set(columns, queue);
      }
      queue.rows.push(row);
      pending += 1;
      if (pending > maxPending) {
        remove(queue, queue.underWay, 1, true);
        losses.lost(lastError ?? new Error('the database stays busy'));
      }
      schedule(flushMs);
    },
    flush,
    async whenWritten() {
      const left = [...queues.values()].filter(({ rows }) => rows.length > 0);
      const whole = await Promise.all(
        left.map(
          ({ rows, waiting }) =>
            new Promise<boolean>((resolve) => {
              waiting.push({ rows: rows.length, whole: true, resolve });
            }),
        ),
      );
      return whole.every(Boolean);
    },
    pending: () => pending,
    lostRows: losses.count,
    async stop() {
      stopped = true;
      const deadline = performance.now() + stopMs;
      while (!(await flush()) && performance.now() < deadline) {
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
