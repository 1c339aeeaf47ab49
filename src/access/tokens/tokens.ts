import type { Selectable } from 'kysely';
import { newId } from '../../lib/id.ts';
import { createSchedule, type Schedule } from '../../lib/time/schedule.ts';
import type { Store } from '../../store/database.ts';
import type { TokenTable } from '../../store/tables.ts';
import { serialized } from '../serialized.ts';
import type { TokenRecord } from './schema.ts';
import { createToken, hashToken, isTokenText, tokenHint } from './text.ts';
import { isExpired } from './time.ts';

/** What is to be said of a token when it is made. */
export interface NewToken {
  userId: string;
  credentialVersion: number;
  roleVersion: number;
  kind: TokenRecord['kind'];
  /** Milliseconds since the epoch, on a whole second. */
  expiresAt: number;
  maxExpiresAt: number | null;
  ttlSeconds: number;
  authAt: number | null;
  name?: string;
  scopes?: string[];
  labels?: Record<string, string>;
  cidrs?: string[] | null;
  selectors?: string[] | null;
}

/** One use of a token. */
export interface TokenUse {
  /** The peer's address. */
  address: string;
  /** The new expiry, where the use renews it. */
  expiresAt?: number;
}

/** The tokens of the management API, in memory and in the store. */
export interface Tokens {
  /** Makes a token. Its text is in the answer and nowhere else. */
  issue(token: NewToken): Promise<{ record: TokenRecord; token: string }>;
  /** The record of a presented text, also of one that expired within the last hour; null when there is none. */
  find(text: string): TokenRecord | null;
  /** Like `find`, and looks where another gateway that shares the store may have put it. */
  lookUp(text: string): Promise<TokenRecord | null>;
  byId(id: string): TokenRecord | null;
  /** Those that are not expired, oldest first. */
  list(): TokenRecord[];
  /** Notes a use. Written a little later, in one go with others. */
  noteUse(record: TokenRecord, use: TokenUse): void;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  /** Ends the tokens that a user got by logging in; those for automation stay. Returns how many there were. */
  endSessions(userId: string): Promise<number>;
  /** Writes what waits, forgets what expired and what another process removed. */
  sweep(): Promise<void>;
  /** Stops the clockwork and writes what waits. */
  close(): Promise<void>;
}

export interface TokensOptions {
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Time between two sweeps. */
  sweepMs?: number;
  /** Told when a sweep failed; the next one tries again. */
  onError?: (error: unknown) => void;
  /** Runs the sweeps. Default: one of its own. */
  schedule?: Pick<Schedule, 'every'>;
}

/** An expired token is known for so long as one that expired, which is no guess and counts as none. */
const KEPT_MS = 3_600_000;
/** Tokens of logins per user; the oldest beyond it end, so that a script that logs in for every call fills no memory. */
const MAX_SESSIONS = 1000;

/** Opens the tokens of a store. Lookups go to memory; the text of a token is in neither. */
export async function openTokens(
  { db, node }: Pick<Store, 'db' | 'node'>,
  options: TokensOptions = {},
): Promise<Tokens> {
  const { now = Date.now, sweepMs = 5000, onError = () => {}, schedule = createSchedule(now) } = options;
  const shelf = createShelf();
  for (const row of await db.selectFrom('tokens').selectAll().orderBy('created_at').orderBy('id').execute())
    shelf.put(row.hash, recordOf(row));
  const { dirty, drop, sweep } = upkeep({ db, node }, shelf, now);
  const swept = serialized(sweep);
  const stop = schedule.every({ name: 'used and expired tokens', everyMs: sweepMs, run: swept, onError });
  const find = (text: string) => (isTokenText(text) ? shelf.byHash(hashToken(text)) : null);

  return {
    async issue(newToken) {
      const token = createToken(newToken.kind === 'automation' ? 'gwa' : 'gws');
      const row = rowOf(newToken, token, now());
      await db.insertInto('tokens').values(row).execute();
      const record = recordOf(row);
      shelf.put(row.hash, record);
      const sessions = shelf.ofUser(newToken.userId).filter(({ kind }) => kind !== 'automation');
      if (sessions.length > MAX_SESSIONS) await drop(sessions.slice(0, -MAX_SESSIONS).map(({ id }) => id));
      return { record, token };
    },
    find,
    async lookUp(text) {
      const token = find(text);
      if (token !== null || node === '' || !isTokenText(text)) return token;
      const hash = hashToken(text);
      const row = await db.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return null;
      shelf.put(hash, recordOf(row));
      return shelf.byHash(hash);
    },
    byId: shelf.byId,
    list: () => [...shelf.all()].filter((record) => !isExpired(record, now())),
    noteUse(record, { address, expiresAt }) {
      record.lastUsedAt = now();
      record.lastUsedAddress = address;
      if (expiresAt !== undefined) record.expiresAt = expiresAt;
      dirty.add(record.id);
    },
    async remove(id) {
      const exists = shelf.byId(id) !== null;
      await drop([id]);
      return exists;
    },
    async endSessions(userId) {
      const ids = shelf
        .ofUser(userId)
        .filter(({ kind }) => kind !== 'automation')
        .map(({ id }) => id);
      await drop(ids);
      return ids.length;
    },
    sweep: swept,
    async close() {
      stop();
      await swept();
    },
  };
}

/** Keeps memory and store alike. `dirty` are the ids of tokens whose last use is to be written. */
function upkeep(
  { db, node }: Pick<Store, 'db' | 'node'>,
  shelf: ReturnType<typeof createShelf>,
  now: () => number,
) {
  const dirty = new Set<string>();
  const drop = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      shelf.remove(id);
      dirty.delete(id);
    }
    for (let from = 0; from < ids.length; from += 500)
      await db
        .deleteFrom('tokens')
        .where('id', 'in', ids.slice(from, from + 500))
        .execute();
  };
  const flush = async (): Promise<void> => {
    for (const id of dirty) {
      dirty.delete(id);
      const record = shelf.byId(id);
      if (record === null) continue;
      await writeUse(db, record).catch((error: unknown) => {
        dirty.add(id);
        throw error;
      });
    }
  };
  const sweep = async (): Promise<void> => {
    await flush();
    const tokens = [...shelf.all()];
    await drop(tokens.filter(({ expiresAt }) => expiresAt + KEPT_MS <= now()).map(({ id }) => id));
    // Another gateway may have renewed one that is in memory here.
    if (node !== '')
      for (const row of await db.selectFrom('tokens').selectAll().execute())
        if (!dirty.has(row.id)) shelf.put(row.hash, recordOf(row));
    const stored = new Set((await db.selectFrom('tokens').select('id').execute()).map(({ id }) => id));
    for (const { id } of tokens) if (!stored.has(id)) shelf.remove(id);
  };
  return { dirty, drop, sweep };
}

/** The records in memory, by what they are asked for. */
function createShelf() {
  const byHash = new Map<string, TokenRecord>();
  const byId = new Map<string, { hash: string; record: TokenRecord }>();
  return {
    put(hash: string, record: TokenRecord): void {
      byHash.set(hash, record);
      byId.set(record.id, { hash, record });
    },
    remove(id: string): void {
      const existing = byId.get(id);
      if (existing === undefined) return;
      byId.delete(id);
      byHash.delete(existing.hash);
    },
    byHash: (hash: string) => byHash.get(hash) ?? null,
    byId: (id: string) => byId.get(id)?.record ?? null,
    all: () => byHash.values(),
    ofUser: (userId: string) => [...byHash.values()].filter((record) => record.userId === userId),
  };
}

async function writeUse(db: Store['db'], record: TokenRecord): Promise<void> {
  await db
    .updateTable('tokens')
    .set({
      last_used_at: record.lastUsedAt,
      last_used_address: record.lastUsedAddress,
      expires_at: record.expiresAt,
    })
    .where('id', '=', record.id)
    .execute();
}

function rowOf(newToken: NewToken, token: string, now: number): Selectable<TokenTable> {
  const { cidrs = null, labels = {}, name = null, scopes = null, selectors = null } = newToken;
  return {
    id: newId('token', now),
    user_id: newToken.userId,
    kind: newToken.kind,
    hash: hashToken(token),
    hint: tokenHint(token),
    name,
    scopes: scopes === null ? null : JSON.stringify(scopes),
    labels: JSON.stringify(labels),
    cidrs: cidrs === null ? null : JSON.stringify(cidrs),
    selectors: selectors === null ? null : JSON.stringify(selectors),
    credential_version: newToken.credentialVersion,
    role_version: newToken.roleVersion,
    created_at: now,
    expires_at: newToken.expiresAt,
    auth_at: newToken.authAt,
    last_used_at: null,
    last_used_address: null,
    ttl_seconds: newToken.ttlSeconds,
    max_expires_at: newToken.maxExpiresAt,
  };
}

function recordOf(row: Selectable<TokenTable>): TokenRecord {
  return {
    id: row.id,
    userId: row.user_id,
    kind: row.kind,
    hint: row.hint,
    name: row.name,
    scopes: row.scopes === null ? null : JSON.parse(row.scopes),
    labels: row.labels === null ? {} : JSON.parse(row.labels),
    cidrs: row.cidrs === null ? null : JSON.parse(row.cidrs),
    selectors: row.selectors === null ? null : JSON.parse(row.selectors),
    credentialVersion: row.credential_version,
    roleVersion: row.role_version,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    authAt: row.auth_at,
    lastUsedAt: row.last_used_at,
    lastUsedAddress: row.last_used_address,
    ttlSeconds: row.ttl_seconds,
    maxExpiresAt: row.max_expires_at,
  };
}
