import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { tableNames } from './tables.ts';

/** What a data directory has only once a gateway has used it: never before its database is there and complete. */
const TRACES = ['storage.key', 'storage.key.next', 'backups', 'audit'] as const;

/** What shows that a data directory was in use; null for a new one. */
function traceOfUse(dataDir: string): string | null {
  return TRACES.find((name) => existsSync(join(dataDir, name))) ?? null;
}

/**
 * Why a database file that is there must not be taken for a new one; null when it may be opened. A file without a byte
 * is what two first starts at once see of each other.
 */
export function emptinessFault(dataDir: string, path: string): string | null {
  if (statSync(path).size > 0) return null;
  const trace = traceOfUse(dataDir);
  return trace === null ? null : `it is empty, and ${trace} beside it shows that it was not`;
}

/** The same as `schemaFault`, of a file that is not open: opening it for writing would change another program's. */
export function foreignFault(path: string, dataDir: string): string | null {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return schemaFault(database, dataDir);
  } finally {
    database.close();
  }
}

/** Why the tables that a database has before it is brought up to date cannot be right; null when they can. */
export function schemaFault(database: DatabaseSync, dataDir: string): string | null {
  const tables = tablesOf(database);
  if (tables.has('kysely_migration')) return null;
  if (tables.size > 0) return `it is no database of Modelgate: it has the tables ${[...tables].join(', ')}`;
  const trace = traceOfUse(dataDir);
  return trace === null ? null : `it has no tables, and ${trace} beside it shows that it had`;
}

/** Which tables of this version's schema are missing; null when none is. */
export function missingTables(database: DatabaseSync): string | null {
  const tables = tablesOf(database);
  const missing = tableNames.filter((name) => !tables.has(name));
  return missing.length === 0 ? null : `it lacks the tables ${missing.join(', ')}`;
}

/** What SQLite's own check finds; null when the structure is sound. Takes about a second for half a gigabyte. */
export function structureFault(database: DatabaseSync): string | null {
  const checkResult = String(database.prepare('pragma quick_check(1)').get()?.['quick_check']);
  return checkResult === 'ok' ? null : `it is damaged: ${checkResult}`;
}

function tablesOf(database: DatabaseSync): ReadonlySet<string> {
  const rows = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    .all();
  return new Set(rows.map(({ name }) => String(name)));
}
