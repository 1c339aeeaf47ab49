import { Worker } from 'node:worker_threads';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from './tables.ts';

/** A connection in a thread of its own: what takes seconds there holds up nobody here. */
export interface Reader {
  /** Queries run one after the other. */
  db: Kysely<Tables>;
  /** Ends the thread once the query under way has ended, which cannot be cut short. What waits fails. */
  close(): Promise<void>;
}

/** Text, so that it runs from the sources and from the published package alike. */
const workerSource = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData.path, { readOnly: workerData.readOnly, timeout: 5000 });
  if (!workerData.readOnly) database.exec('pragma synchronous = normal; pragma secure_delete = on');
  parentPort.on('message', ({ id, sql, parameters }) => {
    try {
      parentPort.postMessage({ id, rows: database.prepare(sql).all(...parameters) });
    } catch ({ message, code, errcode }) {
      parentPort.postMessage({ id, error: { message, code, errcode } });
    }
  });
`;

interface ReaderAnswer {
  id: number;
  rows?: unknown[];
  error?: { message: string; code: unknown; errcode: unknown };
}

interface Waiting {
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
}

/**
 * Opens nothing before the first query. A thread that ends by a fault is followed by another with the next one.
 * @param onError called with each query that failed
 * @param readOnly false for one that also writes: it waits for other writers, and its transactions are statements
 */
export function createReader(
  path: string,
  onError: (error: unknown) => void = () => {},
  readOnly: boolean = true,
): Reader {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;
  const failAll = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(workerSource, { eval: true, workerData: { path, readOnly } });
    started.unref();
    started.on('message', ({ error, id, rows = [] }: ReaderAnswer) => {
      const one = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) one?.resolve(rows);
      else {
        const failure = Object.assign(new Error(error.message), error);
        onError(failure);
        one?.reject(failure);
      }
    });
    started.on('error', (error: Error) => failAll(error));
    started.on('exit', () => {
      if (worker === started) worker = null;
      failAll(new Error('the thread that reads the database ended'));
    });
    return started;
  };
  const ask = ({ parameters, sql }: CompiledQuery): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      worker ??= start();
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      worker.postMessage({ id: lastId, sql, parameters });
    });
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driverOver(ask),
      createIntrospector: (over) => new SqliteIntrospector(over),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return {
    db,
    async close() {
      await worker?.terminate();
    },
  };
}

function driverOver(ask: (query: CompiledQuery) => Promise<unknown[]>): Driver {
  const nothing = async () => {};
  const refuse = async () => {
    throw new Error('the reader of the database reads');
  };
  const connection: DatabaseConnection = {
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      return { rows: (await ask(query)) as Row[] };
    },
    async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
      yield { rows: (await ask(query)) as Row[] };
    },
  };
  return {
    init: nothing,
    acquireConnection: async () => connection,
    releaseConnection: nothing,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: nothing,
  };
}
