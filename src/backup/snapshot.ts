import { statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

const workerSource = `
  const { DatabaseSync } = require('node:sqlite');
  const { workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData.from, { readOnly: true, timeout: 5000 });
  database.prepare('vacuum into ?').run(workerData.to);
  database.close();
  const copy = new DatabaseSync(workerData.to, { readOnly: true });
  const said = copy.prepare('pragma integrity_check(1)').get().integrity_check;
  copy.close();
  if (said !== 'ok') throw new Error('the database is damaged: ' + said);
`;

const LOOK_MS = 250;

/**
 * Copies a database as it is at one moment, also while others write to it, without holding up this thread, and checks
 * the copy.
 * @param progress called with how much of it is written, from 0 to 1
 * @throws SQLite's error, or one that says that the database is damaged
 */
export async function snapshotDatabase(
  from: string,
  to: string,
  progress: (done: number) => void = () => {},
): Promise<void> {
  // SQLite writes into an empty file that exists, which keeps the mode.
  writeFileSync(to, '', { mode: 0o600, flag: 'wx' });
  const look = () => progress(Math.min(1, bytesOf(to) / Math.max(1, bytesOf(from))));
  const looking = setInterval(look, LOOK_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      // Without the flags of this process, which may say that texts are modules.
      const worker = new Worker(workerSource, { eval: true, execArgv: [], workerData: { from, to } });
      worker.on('error', reject);
      worker.on('exit', () => resolve());
    });
  } finally {
    clearInterval(looking);
  }
}

/** 0 for a file that is gone: the copying itself says what is wrong with that. */
function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What is wrong with a database file; null when it is sound. */
export function databaseFault(path: string): string | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const checkResult = String(database.prepare('pragma integrity_check(1)').get()?.['integrity_check']);
    return checkResult === 'ok' ? null : checkResult;
  } catch (error) {
    return String(error);
  } finally {
    database?.close();
  }
}

/** The last migration of a database. */
export function schemaOf(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return String(database.prepare('select max(name) as name from kysely_migration').get()?.['name']);
  } finally {
    database.close();
  }
}
