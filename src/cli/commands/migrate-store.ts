import { GatewayError } from '../../lib/error.ts';
import { readRunFile } from '../../run-file.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { moveStoreTo } from '../storage/move-store.ts';
import { tableNotes } from '../storage/table-notes.ts';
import { usageError } from '../terminal/failure.ts';
import { count } from '../terminal/text.ts';

export const migrateStoreCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'to',
      value: 'WHERE',
      summary: '`postgres`: the database of DATABASE_URL; postgres://USER@HOST/DATABASE; `sqlite`: DATA_DIR',
    },
  ],
  needs: 'store',
  about:
    'Needs all gateways stopped. Copies keys, connections, settings, ledger and all else between the file in the data directory and a PostgreSQL database, and compares each row after it was written. The source stays as it is. If the command is interrupted, run it again and it continues. A password is read from DATABASE_URL or PGPASSWORD, never from the command line.',
  examples: [
    {
      command: 'gateway migrate-store --to postgres',
      does: 'from DATA_DIR into the database of DATABASE_URL',
    },
    {
      command: 'gateway migrate-store --to postgres://modelgate@db.example/modelgate',
      does: 'with PGPASSWORD',
    },
    {
      command: 'gateway migrate-store --to sqlite --json',
      does: 'from the database of DATABASE_URL into DATA_DIR',
    },
  ],
  run: async (options, context) => {
    const { io, now } = context;
    const where = options.text('to');
    if (where === undefined) throw usageError('Say where to: --to postgres, or --to sqlite');
    const direction = where === 'sqlite' ? 'to sqlite' : 'to postgres';
    const url =
      where === 'sqlite' || where === 'postgres' ? await configured(context) : await named(where, context);
    const dataDir = await context.dataDir();
    const moved = await moveStoreTo({
      dataDir,
      direction,
      url,
      now,
      owner: () => readRunFile(dataDir),
      progress: tableNotes(io),
    });
    const { from, tables, to } = moved;
    const rows = Object.values(tables).reduce((sum, one) => sum + one, 0);
    io.note(
      direction === 'to postgres'
        ? 'Start the gateway with DATABASE_URL and STORAGE_ENCRYPTION_KEY, or with the storage.key that is here.'
        : 'Start the gateway without DATABASE_URL.',
    );
    io.result(
      { moved: true, from, to, rows, tables },
      () => `Moved ${count(rows, 'row')} from ${from} to ${to}.`,
    );
    return 0;
  },
};

async function configured(context: Context): Promise<string> {
  const url = await context.database();
  if (url === null) throw usageError('Set DATABASE_URL to the address of the PostgreSQL database');
  return url;
}

/** An address of the command line, which everybody on the machine can read. */
async function named(text: string, context: Context): Promise<string> {
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text))
    throw usageError('--to takes `postgres`, `sqlite`, or postgres://USER@HOST:PORT/DATABASE');
  const url = new URL(text);
  if (url.password !== '')
    throw new GatewayError(
      'invalid_request',
      'A password on the command line can be read by everybody on the machine: put it into PGPASSWORD, or the whole address into DATABASE_URL and say --to postgres',
      { param: '--to' },
    );
  url.password = encodeURIComponent((await context.variable('PGPASSWORD')) ?? '');
  return url.href;
}
