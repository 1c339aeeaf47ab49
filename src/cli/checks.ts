import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config.ts';
import type { StorageKey } from '../connections/credentials/seal.ts';
import { emptinessFault, missingTables, schemaFault } from '../store/integrity.ts';
import { migrations } from '../store/migrations/index.ts';
import { answersAsGateway, probe, type RunningGateway } from './gateway/client.ts';

export interface Check {
  name: CheckName;
  status: 'ok' | 'warn' | 'fail';
  message: string;
}

export const checkNames = [
  'Config',
  'Database',
  'Storage/encryption',
  'Port availability',
  'Node runtime',
  'Native binary',
  'Memory',
  'Server liveness',
] as const;

export type CheckName = (typeof checkNames)[number];

type Finding = Omit<Check, 'name'>;

const ok = (message: string): Finding => ({ status: 'ok', message });
const warn = (message: string): Finding => ({ status: 'warn', message });
const fail = (message: string): Finding => ({ status: 'fail', message });

/** Whether the data directory is a directory that only its owner can read. */
export async function checkConfig(config: Config): Promise<Finding> {
  const where = `data directory ${config.dataDir}`;
  if (!existsSync(config.dataDir)) return ok(`valid; ${where} will be made at the first start`);
  const { mode, isDirectory } = await statOf(config.dataDir);
  if (!isDirectory)
    return fail(`${config.dataDir} is not a directory: choose another with DATA_DIR or --data-dir`);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return warn(`others can read the ${where}: chmod 700 ${config.dataDir}`);
  }
  return ok(`valid; ${where}`);
}

async function statOf(path: string): Promise<{ mode: number; isDirectory: boolean }> {
  const stats = await stat(path);
  return { mode: stats.mode, isDirectory: stats.isDirectory() };
}

/** What a look at the database found. `current`: it may be opened without being changed. */
export type DatabaseState =
  | { state: 'missing' }
  | { state: 'current' }
  | { state: 'behind'; pending: string[] }
  | { state: 'unusable'; problem: string };

/** SQLite's own check and the schema, read only, so that looking does not change the file. */
export async function databaseState(path: string): Promise<DatabaseState> {
  if (!existsSync(path)) return { state: 'missing' };
  const { DatabaseSync } = await import('node:sqlite');
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const fault = emptinessFault(dirname(path), path) ?? schemaFault(database, dirname(path));
      if (fault !== null) return { state: 'unusable', problem: fault };
      const rows = database.prepare('PRAGMA integrity_check(5)').all();
      const problems = rows.flatMap((row) => Object.values(row)).join('; ');
      if (problems !== 'ok') return { state: 'unusable', problem: `it is damaged: ${problems}` };
      const names = database.prepare('SELECT name FROM kysely_migration').all();
      const schema = schemaState(names.map((row) => String(row['name'])));
      const missing = schema.state === 'current' ? missingTables(database) : null;
      return missing === null ? schema : { state: 'unusable', problem: missing };
    } finally {
      database.close();
    }
  } catch (error) {
    return { state: 'unusable', problem: messageOf(error) };
  }
}

function schemaState(applied: readonly string[]): DatabaseState {
  const migrationNames = Object.keys(migrations);
  const newer = applied.filter((name) => !migrationNames.includes(name));
  if (newer.length > 0)
    return { state: 'unusable', problem: `a newer Modelgate wrote it (${newer.join(', ')})` };
  const pending = migrationNames.filter((name) => !applied.includes(name));
  return pending.length === 0 ? { state: 'current' } : { state: 'behind', pending };
}

export function checkDatabase(path: string, database: DatabaseState): Finding {
  switch (database.state) {
    case 'missing':
      return warn('there is no database yet: `gateway serve` or `gateway setup` makes it');
    case 'current':
      return ok(`${path} is sound and up to date`);
    case 'behind':
      return warn(`${path} will be brought up to date at the next start: ${database.pending.join(', ')}`);
    case 'unusable':
      return fail(
        `${path} cannot be used: ${database.problem}. Put a backup in its place with \`gateway restore\`, or move it away to start afresh`,
      );
  }
}

/** Who holds a port that cannot be bound. */
export interface PortHolders {
  /** The gateway of the data directory, where it answers. */
  running: Pick<RunningGateway, 'pid' | 'port'> | null;
  /** What it left when it started; null for nothing, and for a process that is gone. */
  started: { pid: number; port: number } | null;
}

/** `named`: the host was named on the command line, and may be another machine's. */
export async function checkPort(
  config: Config,
  { running, started }: PortHolders,
  named: boolean,
): Promise<Finding> {
  if (running !== null && running.port === config.port) {
    return ok(`${config.port} is held by this gateway (pid ${running.pid})`);
  }
  if (config.port === 0) return ok('any free port will be taken');
  const problem = await bindProblem(config.host, config.port);
  if (problem === null) return ok(`${config.host}:${config.port} is free`);
  if (named && (problem === 'EADDRNOTAVAIL' || problem === 'ENOTFOUND')) {
    return warn(`not checked: ${config.host} is not an address of this machine`);
  }
  if (started?.port === config.port)
    return warn(
      `${config.port} is held by this gateway (pid ${started.pid}), which does not answer: \`gateway stop\`, or look into its log`,
    );
  if (problem === 'EADDRINUSE' && (await isModelgate(config)))
    return warn(
      `${config.host}:${config.port} is in use by a Modelgate with another data directory: name that with DATA_DIR or --data-dir, or choose another port`,
    );
  const cure = 'choose another with --port or GATEWAY_PORT, or stop what holds it';
  if (problem === 'EADDRINUSE')
    return fail(`${config.host}:${config.port} is in use by another program: ${cure}`);
  return fail(`${config.host}:${config.port} cannot be bound (${problem}): ${cure}`);
}

/** Whether a gateway of this program answers at the configured address, of any user. */
async function isModelgate({ host, port }: Config): Promise<boolean> {
  const anywhere = host === '0.0.0.0' || host === '::';
  const name = anywhere ? '127.0.0.1' : host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  try {
    return await answersAsGateway(`http://${name}:${port}/readyz`);
  } catch {
    return false;
  }
}

/** The error code of a trial bind, or null when it worked. */
function bindProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** The range of package.json: >=22.22.2 <23 or >=24. */
export function checkRuntime(nodeVersion: string): Finding {
  const [major = 0, minor = 0, patch = 0] = nodeVersion.split('.').map(Number);
  const late22 = major === 22 && (minor > 22 || (minor === 22 && patch >= 2));
  if (late22 || major >= 24) return ok(`Node.js ${nodeVersion}`);
  return fail(`Node.js ${nodeVersion} is not supported: install 24, or 22.22.2 or newer of 22`);
}

export async function checkNative(): Promise<Finding> {
  try {
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(':memory:');
    const row = database.prepare('SELECT sqlite_version() AS version').get();
    database.close();
    return ok(`none needed; the SQLite ${String(row?.['version'])} that is built into Node.js works`);
  } catch (error) {
    return fail(`none needed, but the SQLite that is built into Node.js does not work: ${messageOf(error)}`);
  }
}

const megabyte = 1024 * 1024;

/** The gateway itself uses about 100 MB; large request bodies come on top. */
export function checkMemory(available: number = process.availableMemory()): Finding {
  const heap = getHeapStatistics().heap_size_limit;
  const free = Math.round(available / megabyte);
  const text = `${free} MB available, heap limit ${Math.round(heap / megabyte)} MB`;
  if (available < 64 * megabyte)
    return fail(`${text}: too little to start; free some, or raise the container's limit`);
  if (available < 256 * megabyte || heap < 256 * megabyte) return warn(`${text}: little for large requests`);
  return ok(text);
}

const livenessTimeoutMs = 2000;

/** `demanded`: the address was named by the user, so that silence is a failure and not just a gateway that is off. */
export async function checkLiveness(url: string, demanded: boolean): Promise<Finding> {
  try {
    const status = await probe(url, livenessTimeoutMs);
    if (status >= 200 && status < 300) return ok(`${url} answers`);
    return fail(`${url} answers ${status}`);
  } catch (error) {
    const message = `${url} does not answer (${causeOf(error)})`;
    return demanded ? fail(message) : warn(`${message}: start it with \`gateway serve\``);
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return messageOf(cause);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface StorageFacts {
  source: StorageKey['source'];
  dataDir: string;
  /** Connections that have a credential. */
  sealed: readonly string[];
  /** Those whose credential the key does not open. */
  unreadable: readonly string[];
  /** Kept responses, and those of them that the key does not open. */
  responses: { total: number; unreadable: number };
}

export async function checkStorage(facts: StorageFacts): Promise<Finding> {
  const { dataDir, responses, sealed, source, unreadable } = facts;
  const file = join(dataDir, 'storage.key');
  if (source === 'missing' && sealed.length > 0)
    return fail(
      `the key is gone that encrypted the credentials of ${sealed.join(', ')}: put ${file} back, or set STORAGE_ENCRYPTION_KEY; if it is lost, run \`gateway reset-encrypted-columns --force\` and enter them again`,
    );
  if (unreadable.length > 0) {
    const names = unreadable.join(', ');
    return fail(
      `the key does not open the credentials of ${names}: set the STORAGE_ENCRYPTION_KEY (or restore ${file}) that they were stored with, or enter them again`,
    );
  }
  if (source === 'missing') return ok(`nothing is stored yet; a key will be made in ${file}`);
  if (source !== 'environment' && process.platform !== 'win32' && ((await statOf(file)).mode & 0o077) !== 0) {
    return warn(`others can read ${file}: chmod 600 ${file}`);
  }
  const from = source === 'environment' ? 'STORAGE_ENCRYPTION_KEY' : file;
  if (responses.unreadable > 0)
    return warn(
      `the key of ${from} opens all ${sealed.length} credentials, but ${responses.unreadable} of ${responses.total} kept responses were encrypted with another: these cannot be continued, and go when their time is over`,
    );
  return ok(
    `AES-256-GCM with the key of ${from}; ${sealed.length} credentials and ${responses.total} kept responses readable`,
  );
}
