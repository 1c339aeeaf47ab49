import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** What the first migrations make of an empty database, for a new one: that takes a tenth of their time. */
export interface PreparedSchema {
  /** Their names, oldest first. Those that were added later follow one by one. */
  migrations: readonly string[];
  /** In SQLite's words: the tables, indexes and triggers as they are in the end, and the rows in them. */
  statements: readonly string[];
}

/** The one that belongs to this version, made by `scripts/build-new-database.ts`. */
export function readPreparedSchema(): PreparedSchema {
  return JSON.parse(
    readFileSync(new URL('./new-database.gen.json', import.meta.url), 'utf8'),
  ) as PreparedSchema;
}

/** Whether nothing was ever made in the database. */
export function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('select 1 from sqlite_master').get() === undefined;
}

/** @returns the statements that make another database like this one, whose record of migrations is left out */
export function statementsOf(database: DatabaseSync): string[] {
  const statements = database
    .prepare(
      "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite\\_%' escape '\\' and tbl_name <> 'kysely_migration' order by rowid",
    )
    .all()
    .map(({ name, sql, type }) => ({ type: String(type), name: String(name), sql: String(sql) }));
  const tables = statements.filter(({ type }) => type === 'table');
  const triggers = statements.filter(({ type }) => type === 'trigger');
  const rows = tables.flatMap(({ name }) => insertsInto(database, name));
  // Triggers would count the rows once more.
  return [
    ...statements.filter(({ type }) => type !== 'trigger').map(({ sql }) => sql),
    ...rows,
    ...triggers.map(({ sql }) => sql),
  ];
}

function insertsInto(database: DatabaseSync, table: string): string[] {
  const columns = database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => `"${name}"`);
  const quoted = columns.map((column) => `quote(${column})`).join(" || ', ' || ");
  return database
    .prepare(`select ${quoted} as row from "${table}"`)
    .all()
    .map(({ row }) => `insert into "${table}" (${columns.join(', ')}) values (${row})`);
}
