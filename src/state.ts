import { join } from 'node:path';
import type { keyStore } from './access/store.ts';
import { createCatalog } from './catalog/price.ts';
import type { Config } from './config.ts';
import { type StorageKey, storageKey } from './connections/seal.ts';
import type { connectionStore } from './connections/store.ts';
import { createLedger } from './ledger/record.ts';
import type { Log } from './lib/log.ts';
import type { Schedule } from './lib/schedule.ts';
import { buildSnapshot, type Snapshot } from './snapshot.ts';
import type { Store } from './store/database.ts';
import { createWriter } from './store/writer.ts';

/** How often changes made by other processes (the CLI) are looked for. */
const REVISION_POLL_MS = 500;
/** Ledger rows that may wait to be written before /readyz says so. */
const LEDGER_BACKLOG = 50_000;

/** A failed write, for whoever asks how the store is. */
export interface WriteFault {
  message: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** The ledger of a store, and how writing it goes. */
export function openLedger(store: Store, log: Log) {
  let fault: WriteFault | null = null;
  const writer = createWriter(store, {
    onError(error, lost) {
      fault = { message: error instanceof Error ? error.message : String(error), at: Date.now() };
      log.error({ error: describe(error), lost }, 'the ledger cannot be written');
    },
  });
  return {
    record: createLedger(writer).record,
    pending: writer.pending,
    backlog: LEDGER_BACKLOG,
    fault: () => fault,
    close: writer.stop,
  };
}

/** The key that opens stored credentials. */
export async function sealingKey({ dataDir, storageKey: given }: Config, log: Log): Promise<StorageKey> {
  const sealing = await storageKey(dataDir, given);
  if (sealing.source === 'generated') {
    const file = join(dataDir, 'storage.key');
    log.warn({ file }, 'a key for stored credentials was generated; keep a copy of it with your backups');
  }
  return sealing;
}

interface SnapshotsInput {
  store: Pick<Store, 'revision'>;
  keys: ReturnType<typeof keyStore>;
  connections: ReturnType<typeof connectionStore>;
  config: Pick<Config, 'prices'>;
  schedule: Schedule;
  log: Log;
}

/** Rebuilds the snapshot soon after any process changed keys or connections. A failed rebuild keeps the old one. */
export async function openSnapshots({ config, connections, keys, log, schedule, store }: SnapshotsInput) {
  const catalog = createCatalog({ overrides: config.prices });
  const load = async (): Promise<Snapshot> => {
    const revision = store.revision();
    const open = await connections.listOpen();
    return buildSnapshot({ keys: await keys.list(), connections: open, catalog, revision });
  };
  let snapshot = await load();
  let turn: Promise<unknown> = Promise.resolve();
  // One after the other, so that none puts an older state in a newer one's place.
  const reload = (): Promise<number> => {
    const loaded = turn.then(load).then((next) => {
      snapshot = next;
      return next.revision;
    });
    turn = loaded.catch(() => {});
    return loaded;
  };
  const close = schedule.every({
    name: 'changed settings',
    everyMs: REVISION_POLL_MS,
    async run() {
      if (store.revision() !== snapshot.revision) await reload();
    },
    onError: (error) =>
      log.error(
        { error: describe(error) },
        'changed settings cannot be read; the earlier ones stay in force',
      ),
  });
  return { current: () => snapshot, reload, close };
}

export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
