import { hostname } from 'node:os';
import type { StoreOutage } from '../events/emitters/outages.ts';
import { describe } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import { announceNode } from '../services/nodes.ts';
import type { Store } from '../store/database.ts';
import { openStoreAt } from '../store/open.ts';
import type { OpenInput } from './open-input.ts';

/** For how long a start waits for a PostgreSQL server that is away. */
const DATABASE_WAIT_MS = 30_000;

/**
 * Opens the database, and waits for its server if that is away.
 * @param onOutage called when the server does not answer any more, and with null when it answers again
 */
export async function openDatabase(
  { config, log, onClose, signal }: Pick<OpenInput, 'config' | 'log' | 'onClose' | 'signal'>,
  onOutage: (outage: StoreOutage | null) => void,
): Promise<Store> {
  const store = await openStoreAt(config, {
    check: true,
    patience: {
      forMs: DATABASE_WAIT_MS,
      onWait: (reason) =>
        log.warn(
          { reason, for_ms: DATABASE_WAIT_MS },
          'the database does not answer: the start waits for it',
        ),
      ...(signal === undefined ? {} : { signal }),
    },
    onOutage(outage) {
      if (outage === null) log.info('the database answers again');
      else
        log.error(
          { reason: outage.message },
          'the database does not answer: requests go on with the settings in memory, and their records wait',
        );
      onOutage(outage);
    },
    onError: (error) =>
      log.error({ error: describe(error) }, 'the write-ahead log of the database cannot be checkpointed'),
    onWait: () => log.warn('another process has locked the database; writes wait until it is unlocked'),
  });
  onClose('store', async () => {
    await store.close();
    const rows = rowsWaiting(store);
    if (rows > 0) log.warn({ rows_waiting: rows }, 'records wait in outbox.db for the next start');
  });
  return store;
}

/** Rows that wait on the local disk until the server of the database answers. */
export function rowsWaiting(store: Store): number {
  return store.kind === 'postgres' ? store.server.waiting() : 0;
}

/**
 * Enters this gateway among those that share a database on a server.
 * @param url where it listens; null as long as it does not
 */
export async function enterAmongGateways(
  { log, onClose, version }: Pick<OpenInput, 'log' | 'onClose' | 'version'>,
  store: Store,
  schedule: Schedule,
  url: () => string | null,
): Promise<void> {
  if (store.kind !== 'postgres') return;
  const onError = (error: unknown) =>
    log.warn({ error: describe(error) }, 'this gateway could not renew its entry in the database');
  const leave = await announceNode({
    store,
    schedule,
    host: hostname(),
    version,
    url,
    now: Date.now,
    onError,
  });
  onClose('entry among the gateways', () => leave().catch(onError));
}
