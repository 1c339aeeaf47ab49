import type { OnClose } from '../lib/closers.ts';
import type { Log } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import { type AccessTokens, openAccessTokens } from './credentials/access-tokens.ts';
import { grantStore } from './credentials/grants.ts';
import { createLogins, type Logins } from './oauth/logins.ts';
import type { ConnectionsInput } from './resource.ts';
import type { OpenConnection } from './schema.ts';
import { type ModelListsInput, refreshModelLists } from './testing/model-lists.ts';

const LISTS_MS = 600_000;
const LIST_TIMEOUT_MS = 15_000;
/** Often enough for tokens that are good for a minute. */
const RENEWAL_MS = 5000;
const SWEEP_MS = 30_000;

export interface TokensInput {
  store: Pick<Store, 'db' | 'kind'>;
  sealingKey: Buffer;
  schedule: Schedule;
  /** Those in use. */
  inUse(): readonly OpenConnection[];
  connections: ModelListsInput['connections'];
  /** Where the gateway listens; null as long as it does not. */
  listening(): { host: string; port: number } | null;
  /** Null when lists of models are fetched only on request. */
  modelsMaxAgeMs: number | null;
  log: Pick<Log, 'warn'>;
  onClose: OnClose;
}

/** The access tokens of a running gateway, renewed before they end, and the lists of models, renewed when they are old. */
export function openTokens(input: TokensInput): AccessTokens {
  const { connections, inUse, listening, log, modelsMaxAgeMs: maxAgeMs, onClose, schedule } = input;
  const tokens = openAccessTokens(input.store, input.sealingKey, ({ name: connection }, error) =>
    log.warn({ connection, error: (error as Error).message }, 'an access token was not renewed'),
  );
  const run = () => tokens.renewDue(inUse());
  onClose('access tokens', schedule.every({ name: 'access tokens', everyMs: RENEWAL_MS, run }));
  if (maxAgeMs === null) return tokens;
  const lists = { connections, tokens, maxAgeMs, listening, timeoutMs: LIST_TIMEOUT_MS, now: Date.now };
  onClose(
    'lists of models',
    schedule.every({
      name: 'lists of models',
      everyMs: LISTS_MS,
      run: () => refreshModelLists(lists),
      onError: (error) => log.warn({ error: (error as Error).message }, 'lists of models cannot be stored'),
    }),
  );
  return tokens;
}

export interface LoginsInput {
  store: Pick<Store, 'db'>;
  sealingKey: Buffer;
  schedule: Schedule;
  tasks: {
    begin(task: { name: string; target: string; userId: string; message: string }): Promise<string>;
    finish(id: string, status: 'Ok' | 'Error', message: string): Promise<void>;
  };
  /** Where the gateway listens; null as long as it does not. */
  listening(): { host: string; port: number } | null;
  /** Takes the new login over into what requests see. */
  reload(): Promise<unknown>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The logins that people begin through the management API. */
export function openLogins(input: LoginsInput): {
  logins: Logins;
  grants: ConnectionsInput['grants'];
  beginLoginTask: ConnectionsInput['beginLoginTask'];
  close(): void;
} {
  const { listening, now, reload, schedule, sealingKey, store, tasks } = input;
  const grants = grantStore(store, sealingKey);
  const logins = createLogins({
    grants,
    redirectUri: () => redirectUri(listening()),
    now,
    async onEnd({ taskId }, error) {
      if (error === null) await reload().catch(() => {});
      await tasks.finish(
        taskId,
        error === null ? 'Ok' : 'Error',
        error === null ? 'Logged in' : error.message,
      );
    },
  });
  const stop = schedule.every({ name: 'unfinished logins', everyMs: SWEEP_MS, run: logins.sweep });
  return {
    logins,
    grants,
    beginLoginTask: ({ id, name }, { userId }) =>
      tasks.begin({
        name: 'login',
        target: `/api/connections/${id}`,
        userId,
        message: `A login of the connection "${name}" has begun`,
      }),
    close() {
      stop();
      logins.close();
    },
  };
}

/** The loopback address at which a browser on this machine finds the gateway (RFC 8252, 7.3). */
function redirectUri(address: { host: string; port: number } | null): string | null {
  if (address === null) return null;
  const { host, port } = address;
  if (host === '::1') return `http://[::1]:${port}/api/oauth/callback`;
  const near = /^(127\.|0\.0\.0\.0$|::$|localhost$)/.test(host);
  return near ? `http://127.0.0.1:${port}/api/oauth/callback` : null;
}
