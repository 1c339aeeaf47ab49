import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  KyselyPlugin,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Sql } from 'postgres';
import { withDeadline } from './deadline.ts';
import { reported } from './failure.ts';
import { isReading } from './reading.ts';
import { sent } from './statements.ts';
import { inTransaction, lockOf, type OpenTransaction } from './transaction.ts';

/** Whoever writes takes it first, until the end of the transaction. A number by chance. */
const WRITERS_LOCK = 7_348_910_228;

/** Statements that a connection keeps prepared; those that come later are parsed each time. */
const MOST_PREPARED = 500;
const LONGEST_PREPARED = 4_000;

export interface PostgresDriverInput {
  /** The connections as they are now. */
  sql(): Sql;
  /** Begins a transaction with these statements. */
  beginTransaction(first: string): Promise<OpenTransaction>;
  /** For messages. */
  place: string;
  prepare: boolean;
  /** For how long a statement is waited for. */
  deadlineMs: number;
  /** Called after each change, before whoever made it hears of it. */
  onChange(): Promise<void>;
  /** Told how each statement ended: null for well. */
  onEnd(error: unknown): void;
}

/** A Kysely instance over the connections of a pool. */
export function kyselyOverPostgres<Tables>(
  input: PostgresDriverInput,
  plugins: KyselyPlugin[] = [],
): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => postgresDriver(input),
      createIntrospector: (over) => new PostgresIntrospector(over),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins,
  });
}

/**
 * Kysely's driver over postgres.js. One writes at a time among all gateways, as with the file: a transaction, and each
 * statement that changes something, takes a lock first. So what a change has checked stays true until it is made.
 */
function postgresDriver(input: PostgresDriverInput): Driver {
  const { beginTransaction, onChange, deadlineMs, onEnd, place, prepare, sql } = input;
  const prepared = new Set<string>();
  const isPrepared = (text: string): boolean => {
    if (!prepare || text.length > LONGEST_PREPARED) return false;
    if (prepared.has(text)) return true;
    if (prepared.size >= MOST_PREPARED) return false;
    prepared.add(text);
    return true;
  };
  const run = async <Row>(
    on: Pick<Sql, 'unsafe'>,
    { parameters, sql: text }: CompiledQuery,
  ): Promise<QueryResult<Row>> => {
    const rows = await on.unsafe(
      text,
      parameters.map((value) => sent(sql(), value)),
      {
        prepare: isPrepared(text),
      },
    );
    return { rows: [...rows] as Row[], numAffectedRows: BigInt(rows.count ?? 0) };
  };
  const withConnection = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await withDeadline(work(), deadlineMs);
      onEnd(null);
      return result;
    } catch (error) {
      onEnd(error);
      throw reported(error, place);
    }
  };
  const lock = lockOf(WRITERS_LOCK);
  const begin = () => beginTransaction(lock);
  /** One that comes when nobody waits for it any more is ended. */
  const beginInTime = async (): Promise<OpenTransaction> => {
    const begun = begin();
    try {
      return await withConnection(() => begun);
    } catch (error) {
      begun.then(({ end }) => end('rollback')).catch(() => {});
      throw error;
    }
  };
  const open = new WeakMap<DatabaseConnection, OpenTransaction>();
  /** One statement as a transaction. */
  const write = <Row>(query: CompiledQuery) =>
    inTransaction(begin, (transaction) => run<Row>(transaction, query));
  const connect = (): DatabaseConnection => {
    const connection: DatabaseConnection = {
      async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
        const transaction = open.get(connection);
        if (transaction !== undefined) return withConnection(() => run<Row>(transaction, query));
        if (isReading(query)) return withConnection(() => run<Row>(sql(), query));
        const result = await withConnection(() => write<Row>(query));
        await onChange();
        return result;
      },
      async *streamQuery<Row>(query: CompiledQuery) {
        yield await connection.executeQuery<Row>(query);
      },
    };
    return connection;
  };
  const end = async (connection: DatabaseConnection, word: 'commit' | 'rollback'): Promise<void> => {
    const transaction = open.get(connection);
    open.delete(connection);
    await withConnection(async () => transaction?.end(word));
  };
  return {
    init: async () => {},
    acquireConnection: async () => connect(),
    async beginTransaction(connection: DatabaseConnection, _settings: TransactionSettings) {
      open.set(connection, await beginInTime());
    },
    async commitTransaction(connection) {
      await end(connection, 'commit');
      await onChange();
    },
    // Where the connection is lost, the server has rolled back by itself.
    rollbackTransaction: (connection) => end(connection, 'rollback').catch(() => {}),
    releaseConnection: async () => {},
    // The pool belongs to whoever opened it; Kysely ends nothing that it has not used.
    destroy: async () => {},
  };
}
