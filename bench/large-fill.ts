import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import postgres from 'postgres';
import { tagsOfKey } from '../src/access/authenticate.ts';
import { createKey } from '../src/access/keys/keys.ts';
import { hashPassword } from '../src/access/passwords/password.ts';
import { userStore } from '../src/access/users/users.ts';
import { budgetStore } from '../src/budgets/store.ts';
import { createRandom, type Random } from '../src/cli/demo-data/random.ts';
import { comboStore } from '../src/combos/store.ts';
import { usableStorageKey } from '../src/connections/credentials/storage-key.ts';
import { connectionStore } from '../src/connections/store.ts';
import { keepMissing } from '../src/ledger/kept-sums/open.ts';
import { createLedger } from '../src/ledger/record.ts';
import type { LedgerEntry } from '../src/ledger/schema.ts';
import { makeFolder } from '../src/lib/files/folder.ts';
import { newId } from '../src/lib/id.ts';
import { databasePath, openStore, type Store, type Value } from '../src/store/database.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';

/** How much an installation has. */
export interface Size {
  keys: number;
  connections: number;
  combos: number;
  budgets: number;
  /** Rows of the ledger, spread over `days` days that end now. */
  requests: number;
  days: number;
}

/** What is needed to use what was made: the text of one key, and the password of `admin`. */
export interface FilledInstallation {
  key: string;
  /** The file that has the texts of all keys, one in a line. */
  keysFile: string;
  /** Ids of models that lead to the upstream, for requests of each plan: at a connection, and by a combo. */
  targets: Readonly<Record<string, readonly string[]>>;
  password: string;
  size: Size;
}

export interface FillInput {
  dataDir: string;
  /** The address of an empty PostgreSQL database; absent: a file in `dataDir`. */
  database?: string;
  /** Base URL of the upstream that all connections lead to. */
  upstream: string;
  /** What requests ask the upstream for. */
  plans: readonly string[];
  size: Size;
  progress(text: string): void;
}

const DAY_MS = 86_400_000;
const BATCH = 5_000;
const password = 'a password of the bench';
/** What encrypts credentials on a server. */
export const storageKey = '0123456789abcdef'.repeat(4);

const models = [
  { provider: 'openai', models: ['gpt-5', 'gpt-5-mini', 'gpt-4o'] },
  { provider: 'anthropic', models: ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-5'] },
  { provider: 'mistral', models: ['mistral-large-latest', 'mistral-small-latest'] },
  { provider: 'groq', models: ['llama-3.3-70b-versatile'] },
  { provider: 'deepseek', models: ['deepseek-chat', 'deepseek-reasoner'] },
] as const;

const clients = [
  'claude-cli/2.1.3 (external, cli)',
  'codex_cli_rs/0.60.1',
  'OpenAI/Python 2.8.0',
  'curl/8.5.0',
];

/** Requests that are made up one by one; the others repeat them at later times. */
const MADE_UP = 200_000;

/** Makes a data directory of a size, or goes on using the one that is there. */
export async function filled(input: FillInput): Promise<FilledInstallation> {
  const marker = join(input.dataDir, 'large-installation.json');
  if (existsSync(marker)) return JSON.parse(readFileSync(marker, 'utf8')) as FilledInstallation;
  const { database } = input;
  makeFolder(input.dataDir);
  const store = await opened(input.dataDir, database);
  let made: FilledInstallation;
  try {
    const begin = Date.now() - input.size.days * DAY_MS;
    await userStore(store, () => begin).setAdminPassword(await hashPassword(password));
    const connections = await addConnections(store, input, begin);
    const comboIds = await addCombos(store, input, connections, begin);
    const { key, keys, keysFile } = await addKeys(store, input, begin);
    await addBudgets(store, input, keys, begin);
    await addRequests(store, input, { comboIds, connections, keys });
    made = { key, keysFile, targets: targetsOf(input, connections), password, size: input.size };
    if (database !== undefined) await repeatOnServer(database, input);
  } finally {
    await store.close();
  }
  if (database === undefined) repeatRequests(input);
  await addSums(input);
  writeFileSync(marker, JSON.stringify(made), { mode: 0o600 });
  return made;
}

function opened(dataDir: string, database: string | undefined): Promise<Store> {
  return database === undefined
    ? openStore(dataDir, { create: true })
    : openPostgresStore(database, { dataDir });
}

/** What a gateway would do in the background, 20 seconds in each minute. */
async function addSums({ database, dataDir, progress }: FillInput): Promise<void> {
  progress('sums and counts of all hours and days');
  const store = await opened(dataDir, database);
  try {
    await keepMissing(store, Date.now, () => false, Number.POSITIVE_INFINITY);
  } finally {
    await store.close();
  }
}

interface MadeConnection {
  id: string;
  name: string;
  provider: string;
  models: readonly string[];
}

async function addConnections(
  store: Store,
  { database, dataDir, progress, size, upstream }: FillInput,
  begin: number,
): Promise<MadeConnection[]> {
  const sealing = await usableStorageKey(store, {
    dataDir,
    secret: database === undefined ? null : storageKey,
  });
  const accounts = connectionStore(store, sealing.key, () => begin);
  const bench = {
    name: 'bench',
    provider: 'openai-compatible',
    apiKey: 'sk-of-the-bench',
    baseUrl: upstream,
  };
  const shared = { defaultModel: null, priority: 0, active: true };
  await accounts.add({ ...bench, ...shared });
  const made: MadeConnection[] = [];
  for (let index = 1; index < size.connections; index += 1) {
    const { models: own, provider } = models[index % models.length] ?? models[0];
    const name = `${provider}-${index}`;
    const account = { name, provider, apiKey: `sk-made-up-${index}`, baseUrl: upstream };
    const { id } = await accounts.add({ ...account, ...shared });
    made.push({ id, name, provider, models: own });
  }
  progress(`${size.connections} connections`);
  return made;
}

/** Five targets each, at connections of the path. */
async function addCombos(
  store: Store,
  { plans, progress, size }: FillInput,
  connections: readonly MadeConnection[],
  begin: number,
): Promise<string[]> {
  const routing = comboStore(store, () => begin);
  const chat = connections.filter(isOnPath);
  const ids: string[] = [];
  for (let index = 0; index < size.combos; index += 1) {
    const targets = Array.from({ length: 5 }, (_, place) => {
      const name = chat[(index * 5 + place) % chat.length]?.name ?? 'bench';
      return { target: `${name}/${plans[index % plans.length]}`, weight: 1 };
    });
    const { id } = await routing.add({ name: `combo-${index}`, targets });
    ids.push(id);
  }
  progress(`${size.combos} combos`);
  return ids;
}

/** All of one provider: those with rules of their own cost more, and the comparison is about size alone. */
const isOnPath = ({ provider }: Pick<MadeConnection, 'provider'>) => provider === 'groq';

/** As many ids at connections as of combos, so that a random one is a combo every other time. */
function targetsOf(
  { plans, size }: FillInput,
  connections: readonly MadeConnection[],
): Record<string, string[]> {
  const chat = connections.filter(isOnPath);
  const of = (plan: string, index: number) => {
    const combos = Array.from({ length: size.combos }, (_, at) => at).filter(
      (at) => at % plans.length === index,
    );
    const share = Math.max(1, Math.ceil(chat.length / Math.max(1, combos.length)));
    const named = combos.flatMap((at) => Array.from({ length: share }, () => `combo-${at}`));
    return [...chat.map(({ name }) => `${name}/${plan}`), ...named];
  };
  return Object.fromEntries(plans.map((plan, index) => [plan, of(plan, index)]));
}

interface MadeKey {
  id: string;
  tags: readonly string[];
}

async function addKeys(store: Store, { dataDir, progress, size }: FillInput, begin: number) {
  const keys: MadeKey[] = [];
  const texts: string[] = [];
  // Each key would be another version of the row that counts changes, in one transaction.
  const triggers = (how: 'disable' | 'enable') =>
    store.kind === 'postgres'
      ? sql.raw(`alter table keys ${how} trigger user`).execute(store.db)
      : Promise.resolve();
  await triggers('disable');
  for (let start = 0; start < size.keys; start += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, size.keys - start) }, (_, place) => {
      const index = start + place;
      const { hash, key, prefix } = createKey();
      const facts = { owner: `person-${index % 5_000}`, team: `team-${index % 200}` };
      const labels = { app: `app-${index % 20}` };
      const id = newId('key', begin + start);
      texts.push(key);
      keys.push({ id, tags: tagsOfKey({ ...facts, labels }) });
      return {
        id,
        name: index === 0 ? 'bench' : `key-${index}`,
        prefix,
        hash,
        created_at: begin + start,
        disabled: 0,
        ...facts,
        labels: JSON.stringify(labels),
      };
    });
    // At once: one by one they would be looked up before, with a transaction for each on a server.
    const columns = Object.keys(rows[0] ?? {});
    await store.insertMany(
      'keys',
      columns,
      rows.map((row) => Object.values(row)),
    );
    progress(`${keys.length} keys`);
  }
  await triggers('enable');
  const keysFile = join(dataDir, 'keys-of-the-bench.txt');
  writeFileSync(keysFile, `${texts.join('\n')}\n`, { mode: 0o600 });
  return { key: texts[0] ?? '', keys, keysFile };
}

async function addBudgets(store: Store, { size }: FillInput, keys: readonly MadeKey[], begin: number) {
  const limits = budgetStore(store, () => begin);
  const rest = { softPercent: 80, unpriced: 'allow' } as const;
  for (let index = 0; index < size.budgets; index += 1) {
    const subject = keys[1 + index]?.id;
    if (subject !== undefined)
      await limits.add({ scope: 'key', subject, metric: 'usd', period: 'month', limit: 1e6, ...rest });
  }
}

interface Installed {
  connections: readonly MadeConnection[];
  comboIds: readonly string[];
  keys: readonly MadeKey[];
}

async function addRequests(store: Store, { progress, size }: FillInput, installed: Installed): Promise<void> {
  if (size.requests === 0) return;
  const random = createRandom(1);
  const end = Date.now();
  let columns: readonly string[] = [];
  let rows: (readonly Value[])[] = [];
  const ledger = createLedger({
    push(_table, names, row) {
      columns = names;
      rows.push(row);
    },
  });
  const stepMs = (size.days * DAY_MS) / size.requests;
  const count = Math.min(MADE_UP, size.requests);
  for (let index = 0; index < count; index += 1) {
    const at = Math.floor(end - size.days * DAY_MS + index * stepMs);
    ledger.record(entryAt(at, index, installed, random));
    if (rows.length < BATCH && index < count - 1) continue;
    if (!(await store.insertMany('requests', columns, rows))) throw new Error('another process writes');
    rows = [];
    if ((index + 1) % 50_000 === 0) progress(`${index + 1} requests`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Repeats the requests that are there until there are enough of them. Writes past the store: it takes a tenth of the time. */
function repeatRequests({ dataDir, progress, size }: FillInput): void {
  if (size.requests <= MADE_UP) return;
  const database = new DatabaseSync(databasePath(dataDir));
  try {
    database.exec('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -262144');
    const read = (query: string) => database.prepare(query).all() as Record<string, string>[];
    const indexes = read(
      "select name, sql from sqlite_master where tbl_name = 'requests' and sql like 'create index%'",
    );
    for (const { name } of indexes) database.exec(`drop index ${name}`);
    const columns = read("select name from pragma_table_info('requests')").map(({ name }) => name);
    const first = database.prepare('select min(started_at) as at, max(id) as last from requests').get();
    const spanMs = (size.days * DAY_MS * MADE_UP) / size.requests;
    const values = columns.map((column) => {
      if (column === 'id')
        return "printf('req_%011x%06d', started_at + :shift, row_number() over (order by id))";
      if (column === 'started_at') return 'started_at + :shift';
      return column === 'session' ? "session || '-' || :copy" : column;
    });
    const insert = database.prepare(
      `insert into requests (${columns.join()}) select ${values.join()} from requests where id <= :last order by id`,
    );
    for (let copy = 1; copy * MADE_UP < size.requests; copy += 1) {
      insert.run({ shift: Math.round(copy * spanMs), copy, last: String(first?.['last']) });
      progress(`${(copy + 1) * MADE_UP} requests`);
    }
    for (const { sql } of indexes) {
      database.exec(String(sql));
      progress(String(sql));
    }
    loosen(
      database,
      columns.filter((column) => column !== undefined),
      size,
    );
    database.exec('pragma journal_mode = wal');
  } finally {
    database.close();
  }
}

/** The same on a server, in its parts by month. */
async function repeatOnServer(database: string, { progress, size }: FillInput): Promise<void> {
  if (size.requests <= MADE_UP) return;
  const client = postgres(database, { max: 1, onnotice: () => {} });
  try {
    const [first] = await client.unsafe('select min(started_at) as at, max(id) as last from requests');
    for (let time = Number(first?.['at']); time < Date.now() + DAY_MS; time += DAY_MS) {
      const date = new Date(time);
      const [since, before] = [0, 1].map((more) =>
        Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more),
      );
      await client.unsafe(
        `create table if not exists requests_${date.toISOString().slice(0, 7).replace('-', '_')}
          partition of requests for values from (${since}) to (${before})`,
      );
    }
    const rows = await client.unsafe(
      "select attname as name from pg_attribute where attrelid = 'requests'::regclass and attnum > 0 and not attisdropped",
    );
    const columns = rows.map((row) => String(row['name']));
    const spanMs = Math.round((size.days * DAY_MS * MADE_UP) / size.requests);
    for (let copy = 1; copy * MADE_UP < size.requests; copy += 1) {
      const shift = copy * spanMs;
      const values = columns.map((column) => {
        if (column === 'id')
          return `'req_' || lpad(to_hex(started_at + ${shift}), 11, '0') || lpad((row_number() over (order by id))::text, 6, '0')`;
        if (column === 'started_at') return `started_at + ${shift}`;
        return column === 'session' ? `session || '-' || ${copy}` : column;
      });
      await client.unsafe(
        `insert into requests (${columns.join()}) select ${values.join()} from requests where id <= '${first?.['last']}'`,
      );
      progress(`${(copy + 1) * MADE_UP} requests`);
    }
    await client.unsafe('vacuum analyze');
  } finally {
    await client.end();
  }
}

/**
 * Adds some requests of random keys, connections and times, one by one. An index that was made at once has pages without room, each of which the
 * next row divides; one that grew has not.
 */
function loosen(database: DatabaseSync, columns: readonly string[], size: Size): void {
  const random = createRandom(2);
  const idsOf = (table: string) =>
    (database.prepare(`select id from ${table}`).all() as { id: string }[]).map(({ id }) => id);
  const [keys, connections] = [idsOf('keys'), idsOf('connections')];
  const last = database.prepare('select * from requests order by started_at desc limit 1').get() ?? {};
  const insert = database.prepare(
    `insert into requests (${columns.join()}) values (${columns.map((column) => `:${column}`).join()})`,
  );
  const end = Number(last['started_at']);
  database.exec('begin');
  for (let index = 0; index < size.requests / ROWS_PER_LOOSE; index += 1) {
    const startedAt = end - Math.floor(random.next() * size.days * DAY_MS);
    insert.run({
      ...last,
      id: `req_${startedAt.toString(16).padStart(11, '0')}z${index}`,
      started_at: startedAt,
      key_id: random.pick(keys),
      connection_id: random.pick(connections),
    });
  }
  database.exec('commit');
}

/** About three rows for each page of an index. */
const ROWS_PER_LOOSE = 25;

/** One of a list, the first much more often than the last. */
function skewed<T>(list: readonly T[], random: Random, power: number): T | undefined {
  return list[Math.floor(list.length * random.next() ** power)];
}

function entryAt(startedAt: number, index: number, installed: Installed, random: Random): LedgerEntry {
  const { comboIds, connections, keys } = installed;
  const key = skewed(keys, random, 3);
  const connection = skewed(connections, random, 2);
  const comboId = random.chance(0.6) ? (skewed(comboIds, random, 2) ?? null) : null;
  const model = connection === undefined ? null : random.pick(connection.models);
  const failed = random.chance(0.03);
  const durationMs = Math.round(random.spread(2_500, 0.8));
  const input = Math.round(random.spread(4_000, 1.2));
  const output = Math.round(random.spread(400, 1));
  const cacheRead = random.chance(0.5) ? Math.round(random.spread(9_000, 1)) : 0;
  const costUsd = Math.round(input * 3 + output * 15 + cacheRead * 0.3) / 1e6;
  return {
    id: `req_${startedAt.toString(16).padStart(11, '0')}${String(index).padStart(6, '0')}`,
    startedAt,
    keyId: key?.id ?? null,
    connectionId: connection?.id ?? null,
    connection: connection?.name ?? null,
    provider: connection?.provider ?? null,
    format: random.chance(0.5) ? 'anthropic-messages' : 'openai-chat',
    requestedModel: comboId === null ? `${connection?.name}/${model}` : 'auto',
    comboId,
    innerComboIds: [],
    model,
    dropped: [],
    status: failed ? random.pick([429, 500, 502]) : 200,
    outcome: failed ? 'failed' : 'ok',
    errorCode: failed ? 'upstream_error' : null,
    errorMessage: failed ? 'The provider answered with an error' : null,
    streamed: random.chance(0.8),
    usage: failed
      ? null
      : {
          ...noUsage,
          input,
          output,
          cacheRead,
          cacheWrite5m: random.chance(0.1) ? input : 0,
        },
    estimated: false,
    cached: false,
    continued: 0,
    requestedTier: null,
    servedTier: null,
    finishReason: 'stop',
    rawFinishReason: 'stop',
    costUsd: failed ? null : costUsd,
    priceSource: failed ? null : 'models.dev 2026-11-20',
    cacheSavingsUsd: failed ? null : (cacheRead * 2.7) / 1e6,
    billing: 'metered',
    routingSavingsUsd: null,
    session: random.chance(0.4) ? `run-${Math.floor(index / 40)}` : null,
    ttftMs: failed ? null : Math.round(durationMs / 4),
    durationMs,
    attempts: failed ? 2 : 1,
    upstreamRequestId: `up_${index}`,
    userAgent: random.pick(clients),
    tags: key?.tags ?? [],
  };
}

const noUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  webSearches: 0,
  images: 0,
  audioSeconds: 0,
  characters: 0,
  searchUnits: 0,
};
