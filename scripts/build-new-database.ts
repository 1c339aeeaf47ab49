/**
 * Writes `src/store/new-database.gen.json`: what all migrations make of an empty database, as a new one gets it. After a new
 * migration it may be run, and need not: migrations that are not in it follow one by one. `--check` writes nothing and
 * exits 1 when the migrations that are in it make something else.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLockWait } from '../src/store/lock-wait.ts';
import { migrate } from '../src/store/migrate.ts';
import { migrations } from '../src/store/migrations/index.ts';
import { type PreparedSchema, readPreparedSchema, statementsOf } from '../src/store/new-database.ts';
import { kyselyOver, openDatabase } from '../src/store/sqlite.ts';

const { values: flags } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const file = fileURLToPath(new URL('../src/store/new-database.gen.json', import.meta.url));

async function schemaAfter(names: readonly string[]): Promise<PreparedSchema> {
  const dataDir = mkdtempSync(join(tmpdir(), 'modelgate-schema-'));
  const path = join(dataDir, 'modelgate.db');
  const lockWait = createLockWait({ path });
  const database = openDatabase(path);
  try {
    await migrate(database, kyselyOver(database, lockWait), {
      dataDir,
      path,
      lockWait,
      now: Date.now,
      migrations: Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name))),
      prepared: () => null,
    });
    return { migrations: names, statements: statementsOf(database) };
  } finally {
    database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const text = (schema: PreparedSchema) => `${JSON.stringify(schema, null, 2)}\n`;

if (flags.check) {
  if (text(await schemaAfter(readPreparedSchema().migrations)) !== readFileSync(file, 'utf8')) {
    process.stderr.write(
      'src/store/new-database.gen.json is not what its migrations make: run scripts/build-new-database.ts\n',
    );
    process.exitCode = 1;
  }
} else writeFileSync(file, text(await schemaAfter(Object.keys(migrations))));
