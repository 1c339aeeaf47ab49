import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Sql } from 'postgres';
import { storable } from '../storable.ts';

/** A Kysely instance that runs each statement with `run`, for one who has begun a transaction and ends it. */
export function kyselyOverStatements<Tables>(
  run: (query: CompiledQuery) => Promise<QueryResult<unknown>>,
): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery: <Row>(query: CompiledQuery) => run(query) as Promise<QueryResult<Row>>,
    async *streamQuery<Row>(query: CompiledQuery) {
      yield await connection.executeQuery<Row>(query);
    },
  };
  const nothing = async () => {};
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        releaseConnection: nothing,
        destroy: nothing,
      }),
      createIntrospector: (over) => new PostgresIntrospector(over),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** The numbers of PostgreSQL's types. */
const FLOAT8 = 701;

/** A value as the server takes it. Its texts have no NUL and no half of a surrogate pair. */
export function sent(sql: Pick<Sql, 'typed'>, value: unknown) {
  if (typeof value === 'string') return storable(value);
  // A whole number is of the type that its place asks for.
  if (typeof value === 'number' && !Number.isInteger(value)) return sql.typed(value, FLOAT8) as never;
  return value as never;
}
