import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { makeFolder } from '../lib/files/folder.ts';
import { createCheckpointer } from './checkpoint.ts';
import { type FileWatch, watchDatabaseFile } from './file-watch.ts';
import { emptinessFault, foreignFault, missingTables, structureFault } from './integrity.ts';
import { createLockWait } from './lock-wait.ts';
import { type Migrations, migrate } from './migrate.ts';
import { createReader } from './reader.ts';
import { isBusy, isRowFault } from './result-code.ts';
import { kyselyOver, openDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

export type Value = string | number | null | Uint8Array;

/** The state of one gateway, in a file of its own or on a server that several gateways share. */
export type Store = SqliteStore | PostgresStore;

interface AnyStore {
  db: Kysely<Tables>;
  /** The same for reading what may take long, in a thread of its own. */
  reading: Kysely<Tables>;
  /**
   * Writes `rows` in one transaction, leaving out those whose primary key exists, or putting them in its place in tables
   * that hold the state of something (`replaced`). False: another process is
   * writing just now, nothing was written, try again. Never waits. Rows that cannot be stored, whenever that may be
   * tried, are left out too, and each is told to `onRefused`.
   * @throws the database's error, e.g. for a full disk; nothing was written then
   */
  insertMany(
    table: keyof Tables,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    onRefused?: (error: unknown) => void,
  ): boolean | Promise<boolean>;
  /**
   * Counts the changes of keys, connections, users and settings, by whichever process. Costs microseconds. Of a server
   * it is what this process knows: its own changes at once, those of others within a second.
   */
  revision(): number;
  /**
   * What this gateway is called among those that share the database, which some rows belong to one of; empty where none
   * other does.
   */
  node: string;
  /** The revision, asked of the database itself. */
  latestRevision(): Promise<number>;
  close(): Promise<void>;
}

/** A file in the data directory, which one gateway owns. */
export interface SqliteStore extends AnyStore {
  kind: 'sqlite';
  insertMany(...input: Parameters<AnyStore['insertMany']>): boolean;
  /** For jobs in the background that read much and write what comes of it, in another thread. */
  working: Kysely<Tables>;
  /** Whether the database's file is still there and sound. */
  file: Pick<FileWatch, 'fault' | 'look'>;
}

/** A database on a PostgreSQL server, which any number of gateways share. */
export interface PostgresStore extends AnyStore {
  kind: 'postgres';
  server: ServerState;
  /**
   * Does long work in a transaction that sees the database as it is at one moment, on a connection of its own, and without the lock
   * that those take who change settings.
   * @throws what `work` throws, and GatewayError where the server does not answer; nothing was changed then
   */
  inSnapshot<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  months: LedgerMonths;
}

/** The parts of the ledger on a server, each a month of UTC. */
export interface LedgerMonths {
  /** When the months begin that there are parts of, oldest first, in milliseconds since the epoch. */
  list(): Promise<number[]>;
  /** Removes one with all its requests. Others go on reading and writing the rest meanwhile. */
  drop(start: number): Promise<void>;
}

/** How the server of a database does, as far as this gateway knows. */
export interface ServerState {
  /** Where it is, without a password. */
  place: string;
  /** Since when it does not answer, in milliseconds since the epoch, and why; null while it does. */
  outage(): { since: number; message: string } | null;
  /** Rows that wait on the local disk until it answers again. */
  waiting(): number;
}

export interface OpenStoreOptions {
  /** Whether a missing database is created. Default true. */
  create?: boolean;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Called with a checkpoint that failed; it is tried again later. */
  onError?: (error: unknown) => void;
  /** Called when something waits for more than a second because another process has locked the database. */
  onWait?: () => void;
  /** Whether the structure of the whole file is checked; of a large one in the background. Default false. */
  check?: boolean;
  /** Default: those of this version. */
  migrations?: Migrations;
}

/** For how long a server that is away is asked again. */
export interface Patience {
  /** In milliseconds; 0 to ask once. */
  forMs: number;
  /** Told once, with what the server answered, when the first question failed. */
  onWait(reason: string): void;
  /** Ends the waiting, e.g. when the process is told to stop. */
  signal?: AbortSignal;
}

export interface StoreOnServerOptions extends Pick<OpenStoreOptions, 'create' | 'now' | 'migrations'> {
  /** Whether the changes of other gateways are followed; a command that ends soon need not. Default true. */
  follow?: boolean;
  /** Keeps rows that wait while the server does not answer. Default: none, they stay in memory. */
  dataDir?: string;
  /** How long a server that is away is waited for. Default: not at all. */
  patience?: Patience;
  /** Called when the server stops to answer, and, with null, when it does again. */
  onOutage?: (outage: { since: number; message: string } | null) => void;
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'modelgate.db');
}

/**
 * Opens the database of a data directory and brings its schema up to date.
 * @throws GatewayError when there is none and `create` is false, when it is damaged, or when a newer version wrote it
 */
export async function openStore(dataDir: string, options: OpenStoreOptions = {}): Promise<SqliteStore> {
  const { check = false, create = true, migrations, now = Date.now } = options;
  const { onError = () => {}, onWait = () => {} } = options;
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    if (!create)
      throw new GatewayError(
        'not_found',
        `There is no database at ${path}: start with \`gateway setup\` or \`gateway serve\``,
      );
    makeFolder(dataDir);
    // Created empty first, so that it never exists with wider permissions.
    writeFileSync(path, '', { mode: 0o600, flag: 'a' });
  }
  const empty = emptinessFault(dataDir, path);
  if (empty !== null) throw damaged(path, empty);
  const watch = watchDatabaseFile(path);
  const lockWait = createLockWait({ path, onWait, onError: watch.noteError });
  const explained = <T>(attempt: () => T): Promise<T> =>
    lockWait.retry(attempt).catch((error: unknown) => {
      throw damaged(path, error);
    });
  await explained(() => refuseFault(statSync(path).size === 0 ? null : foreignFault(path, dataDir)));
  const main = await explained(() => openDatabase(path));
  const db = kyselyOver<Tables>(main, lockWait);
  const small = statSync(path).size <= CHECKED_AT_ONCE_BYTES;
  try {
    if (check && small) refuseFault(structureFault(main));
    await migrate(main, db, {
      dataDir,
      path,
      now,
      lockWait,
      ...(migrations === undefined ? {} : { migrations }),
    });
    if (migrations === undefined) refuseFault(missingTables(main));
  } catch (error) {
    main.close();
    throw damaged(path, error);
  }
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
  const writing = await explained(() => openDatabase(path));
  // What SQLite keeps of each statement, in case it fails, would fill a temporary file in the course of a batch.
  writing.exec(`pragma temp_store = memory; pragma cache_size = -${WRITING_CACHE_KB}`);
  const checkpointer = createCheckpointer(path, onError);
  const reader = createReader(path, watch.noteError);
  const worker = createReader(path, watch.noteError, false);
  // Not by the reader, which lists and reports wait for: it takes a minute for 5 GB.
  if (check && !small) void checkBehind(worker.db, watch);
  const revisionRow = main.prepare('select value from revision');
  const revision = () => Number(revisionRow.get()?.['value'] ?? 0);
  return {
    kind: 'sqlite',
    node: '',
    db,
    reading: reader.db,
    working: worker.db,
    file: watch,
    insertMany: inserter(writing, { consider: checkpointer.consider, onError: watch.noteError }),
    revision,
    latestRevision: async () => revision(),
    async close() {
      await reader.close();
      await worker.close();
      await checkpointer.close();
      writing.close();
      await db.destroy();
      // Kysely closes only what it has used. The last connection to close folds the log into the database.
      if (main.isOpen) main.close();
    },
  };
}

/** What of the file the connection that writes keeps in memory, at most: with millions of rows each row of the ledger is in other pages of the indexes. */
const WRITING_CACHE_KB = 32_768;

/** Tables whose rows take the place of those with the same primary key. */
const replaced: ReadonlySet<string> = new Set<keyof Tables>(['standings', 'budget_tallies']);

/** Batches between two looks at the size of the log. */
const BATCHES_PER_LOOK = 64;

interface InserterInput {
  /** Called now and then, between two batches. */
  consider(): void;
  onError(error: unknown): void;
}

function inserter(database: DatabaseSync, { consider, onError }: InserterInput): SqliteStore['insertMany'] {
  const statements = new Map<string, StatementSync>();
  let batches = 0;
  const statementOf = (table: string, columns: readonly string[]): StatementSync => {
    const name = `${table}(${columns.join()})`;
    const statement = statements.get(name);
    if (statement !== undefined) return statement;
    const marks = columns.map(() => '?').join();
    // Not `insert or ignore`, which would also leave out in silence a row without a required value.
    const replacing = columns.map((column) => `${column} = excluded.${column}`).join();
    const conflict = replaced.has(table) ? `update set ${replacing}` : 'nothing';
    const insert = database.prepare(`insert into ${name} values (${marks}) on conflict do ${conflict}`);
    statements.set(name, insert);
    return insert;
  };
  return (table, columns, rows, onRefused = () => {}) => {
    if (!began(database)) return false;
    let refused: unknown[];
    try {
      refused = insertEach(statementOf(table, columns), rows);
      database.exec('commit');
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      if (isBusy(error)) return false;
      onError(error);
      throw error;
    }
    for (const error of refused) onRefused(error);
    batches += 1;
    if (batches % BATCHES_PER_LOOK === 0) consider();
    return true;
  };
}

/** The errors of the rows that could not be stored. A refused statement leaves its transaction as it was. */
function insertEach(insert: StatementSync, rows: readonly (readonly Value[])[]): unknown[] {
  const refused: unknown[] = [];
  for (const row of rows) {
    try {
      insert.run(...row);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      refused.push(error);
    }
  }
  return refused;
}

function began(database: DatabaseSync): boolean {
  try {
    database.exec('begin immediate');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** A larger file is checked while the gateway runs: its start must not wait for the disk. */
const CHECKED_AT_ONCE_BYTES = 64 * 1024 * 1024;

async function checkBehind(working: Kysely<Tables>, watch: FileWatch): Promise<void> {
  try {
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(working);
    const checkResult = rows[0]?.quick_check ?? 'no answer';
    if (checkResult !== 'ok') watch.noteDamage(checkResult);
  } catch (error) {
    watch.noteError(error);
  }
}

function refuseFault(fault: string | null): void {
  if (fault !== null) throw new Error(fault);
}

function damaged(path: string, cause: unknown): Error {
  if (cause instanceof GatewayError) return cause;
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new GatewayError(
    'internal_error',
    `The database ${path} cannot be used: ${problem}. It was left as it is: put a backup in its place with \`gateway restore\` (see ${join(dirname(path), 'backups')}), or move it away to start afresh`,
    { cause },
  );
}
