import { statfsSync, statSync } from 'node:fs';
import { databasePath, type ServerState, type Store } from '../../store/database.ts';
import { alwaysRunning, iso, type Part, type PartStatus } from '../part.ts';
import type { Check } from '../schema.ts';

/** A write that failed, e.g. for a full disk. */
export interface WriteFault {
  message: string;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface StorePartInput {
  dataDir: string;
  version: string;
  since: number;
  store: StoreBackend;
  /** Rows of the ledger that wait to be written. */
  pending(): number;
  /** As many of them are too many. */
  backlog: number;
  /** The last write that failed; null when none has. */
  fault(): WriteFault | null;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What is looked at of a store. */
export type StoreBackend =
  | Pick<Extract<Store, { kind: 'sqlite' }>, 'kind' | 'file' | 'revision'>
  | Pick<Extract<Store, { kind: 'postgres' }>, 'kind' | 'server'>;

const MEGABYTE = 1024 * 1024;
/** The log is folded into the database beyond 8 MB; so much more says that folding does not get through. */
const LARGE_LOG = 256 * MEGABYTE;
const LITTLE_SPACE = 512 * MEGABYTE;
const RECENT_MS = 60_000;

/** The database: settings, ledger and kept responses. */
export function storePart(input: StorePartInput): Part {
  const { fault, now, since, store } = input;
  const recent = () => {
    const last = fault();
    if (last === null) return null;
    const age = now() - last.at;
    return age >= 0 && age < RECENT_MS ? last : null;
  };
  const status = (): PartStatus => {
    const last = fault();
    const error = last === null ? null : { code: 'write_failed', message: last.message, at: last.at };
    const base = { ...alwaysRunning(since), error };
    const outage = store.kind === 'postgres' ? store.server.outage() : null;
    if (outage !== null)
      return {
        ...base,
        state: 'degraded',
        reason: { code: 'database_unreachable', message: outage.message },
        error: { code: 'database_unreachable', message: outage.message, at: outage.since },
      };
    if (recent() === null) return base;
    const message = 'A write failed within the last minute';
    return { ...base, state: 'degraded', reason: { code: 'write_failed', message } };
  };
  const look = (name: string, measure: () => Pick<Check, 'output' | 'status'>): Check => ({
    name,
    observed_at: iso(now()),
    ...measured(measure),
  });
  return {
    key: 'store',
    id: 'store',
    kind: 'store',
    critical: true,
    name: 'Store',
    description:
      store.kind === 'sqlite'
        ? 'The database of settings, ledger and kept responses, in the data directory.'
        : `The database of settings, ledger and kept responses, at ${store.server.place}.`,
    dependsOn: [],
    version: input.version,
    status,
    checks: () => [
      ...(store.kind === 'sqlite'
        ? [look('file', () => file(store.file.fault())), look('read', () => timed(store.revision))]
        : [look('server', () => server(store.server))]),
      look('write_queue', () => queue(input.pending(), input.backlog)),
      look('writes', () => writes(recent())),
      ...(store.kind === 'sqlite' ? [look('files', () => files(input.dataDir))] : []),
      look('disk', () => disk(input.dataDir)),
    ],
    endpoints: () => [],
  };
}

type Finding = Pick<Check, 'output' | 'status'>;

function measured(measure: () => Finding): Finding {
  try {
    return measure();
  } catch (error) {
    return { status: 'fail', output: error instanceof Error ? error.message : String(error) };
  }
}

function file(damage: string | null): Finding {
  if (damage === null) return { status: 'pass', output: 'as it was opened, and sound as far as is known' };
  return { status: 'fail', output: `The database file ${damage}` };
}

/** An outage is not a failure: requests use what is in memory. */
function server({ outage, place, waiting }: ServerState): Finding {
  const away = outage();
  if (away === null) return { status: 'pass', output: `${place} answers` };
  return { status: 'warn', output: `${away.message}; ${waiting()} rows wait on the local disk` };
}

function timed(read: () => number): Finding {
  const start = performance.now();
  read();
  return { status: 'pass', output: `${(performance.now() - start).toFixed(1)} ms` };
}

function queue(pending: number, backlog: number): Finding {
  return { status: pending < backlog ? 'pass' : 'fail', output: `${pending} rows wait to be written` };
}

function writes(recent: WriteFault | null): Finding {
  return recent === null
    ? { status: 'pass', output: 'none failed within the last minute' }
    : { status: 'warn', output: recent.message };
}

function files(dataDir: string): Finding {
  const path = databasePath(dataDir);
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return {
    status: log < LARGE_LOG ? 'pass' : 'warn',
    output: `database ${statSync(path).size} bytes, log ${log} bytes`,
  };
}

function disk(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  return {
    status: free < LITTLE_SPACE ? 'warn' : 'pass',
    output: `${Math.floor(free / MEGABYTE)} MB free`,
  };
}
