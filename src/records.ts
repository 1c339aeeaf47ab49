import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config.ts';
import type { NamedKey } from './connections/credentials/seal.ts';
import type { StoredHealthState } from './health/account.ts';
import { openAccounts } from './health/store.ts';
import { JOURNAL_MS, journalFault, journalFiles, journalFolder, openJournal } from './ledger/journal.ts';
import { openKeptSums } from './ledger/kept-sums/open.ts';
import { type LateUse, replaceEstimate } from './ledger/late-use.ts';
import { createLedger, ledgerColumns } from './ledger/record.ts';
import { queueJournals, removeJournals } from './ledger/recovery.ts';
import type { LedgerEntry } from './ledger/schema.ts';
import { openTraces } from './ledger/traces.ts';
import type { OnClose } from './lib/closers.ts';
import { randomText } from './lib/id.ts';
import { createKeyedMutex } from './lib/keyed-mutex.ts';
import { describe, type Log } from './lib/log.ts';
import type { Schedule } from './lib/time/schedule.ts';
import { openResponses } from './responses/open.ts';
import type { SqliteStore, Store } from './store/database.ts';
import { createWriter } from './store/writer.ts';

/** Ledger rows that may wait to be written before /readyz says so. */
const LEDGER_BACKLOG = 50_000;

/** A failed write, for whoever asks how the store is. */
export interface WriteFault {
  message: string;
  /** Milliseconds since the epoch. */
  at: number;
}

interface LedgerInput {
  store: Pick<Store, 'db' | 'insertMany'>;
  log: Log;
  schedule: Schedule;
  dataDir: string;
  /** Writes what is known of requests beside their rows, so that it is there when a row is. */
  beforeBatch(): unknown;
}

/** For how long a start reads the journals of earlier runs before it goes on. */
const QUEUE_MS = 5_000;
/** For how long a stop reads what is left of the journals of workers. */
const CLOSING_MS = 5_000;

/** The ledger of a store, and how writing it goes. Rows that an earlier run could not bring to the database any more are queued. */
export async function openLedger({ beforeBatch, dataDir, log, schedule, store }: LedgerInput) {
  let fault: WriteFault | null = null;
  const writer = createWriter(store, {
    beforeBatch,
    onError(error, lost) {
      fault = { message: error instanceof Error ? error.message : String(error), at: Date.now() };
      log.error({ error: describe(error), lost }, 'the ledger cannot be written');
    },
  });
  const folder = journalFolder(dataDir);
  const unreadable = (error: unknown) =>
    log.error({ error: describe(error), folder }, 'rows of the ledger that wait on the disk cannot be read');
  /** Resolves once the database has the rows of a journal; those that memory had no room for are read from it again. */
  const stored = async (name: string, readFirst: boolean): Promise<void> => {
    let isWhole = !readFirst && (await writer.whenWritten());
    while (!isWhole) {
      await queueJournals(folder, writer, (one) => one === name);
      isWhole = await writer.whenWritten();
    }
  };
  const closing = new AbortController();
  /** In the background: a database that is slow or away must not keep the gateway from its start. The files stay until it has their rows. */
  const recover = async (isWanted: (name: string) => boolean, onQueued = () => {}): Promise<void> => {
    try {
      for (let done = false; !done && !closing.signal.aborted; ) {
        const files = await queueJournals(folder, writer, isWanted, closing.signal);
        onQueued();
        void writer.flush();
        const isWritten = await writer.whenWritten();
        if (isWritten && !closing.signal.aborted) done = removeJournals(files);
      }
    } catch (error) {
      unreadable(error);
      onQueued();
    }
  };
  // No other run has used it: files of earlier ones are removed when their rows are written.
  const run = randomText(12);
  let journals = 0;
  const nextName = (): string => {
    journals += 1;
    return `${run}-${journals}`;
  };
  const own = nextName();
  const queued = Promise.withResolvers<void>();
  void recover((name) => !name.startsWith(`${run}-`), queued.resolve);
  // Budgets are counted from the ledger next.
  await Promise.race([queued.promise, sleep(QUEUE_MS, undefined, { ref: false })]);
  const journal = openJournal({
    folder,
    name: own,
    columns: ledgerColumns,
    whenWritten: () => stored(own, false),
    onError: (error) => journalFault(log, error),
  });
  const stopRotating = schedule.every({
    name: 'journal of requests',
    everyMs: JOURNAL_MS,
    run: journal.rotate,
  });
  const { record, recordJournaled } = createLedger(writer, journal);
  return {
    record,
    recordJournaled,
    /** The journals of worker processes. */
    journals: {
      nextName,
      /** Queues what a worker that has ended had not told. */
      recover: (name: string) => recover((one) => one === name),
      stored,
    },
    async replaceEstimate(id: string, useOf: (entry: LedgerEntry) => LateUse) {
      // It may still be on its way to the database.
      await writer.flush();
      return replaceEstimate(store, id, useOf);
    },
    pending: writer.pending,
    lostRows: writer.lostRows,
    flush: writer.flush,
    backlog: LEDGER_BACKLOG,
    fault: () => fault,
    async close() {
      stopRotating();
      await journal.close();
      // Of workers that had no time to tell everything. What takes longer is left for the next start.
      const reading = queueJournals(folder, writer, (name) => name !== own, closing.signal).catch((error) => {
        unreadable(error);
        return [];
      });
      const files = await Promise.race([reading, sleep(CLOSING_MS, [], { signal: closing.signal })]);
      closing.abort();
      await writer.stop();
      // The next start reads again what memory had no room for.
      removeJournals(files);
      if (writer.lostRows() > 0) return;
      await Promise.all(journalFiles(folder, own).map((file) => rm(file, { force: true })));
    },
  };
}

/** How often the database's file is looked at. */
const FILE_LOOK_MS = 2000;

/** Looks at the database's file now and then, and says in the log when something is wrong with it. */
function watchFile({ file }: SqliteStore, schedule: Schedule, log: Log): () => void {
  let told: string | null = null;
  return schedule.every({
    name: 'database file',
    everyMs: FILE_LOOK_MS,
    async run() {
      await file.look();
      const fault = file.fault();
      if (fault !== null && fault !== told)
        log.error({ fault }, 'the database file is damaged: stop the gateway and restore a backup');
      told = fault;
    },
  });
}

export interface RecordsInput {
  config: Config;
  log: Log;
  onClose: OnClose;
  store: Store;
  key: NamedKey;
  schedule: Schedule;
  /** Called with each change of the health of a connection, or of a model at it. */
  onHealth(changed: StoredHealthState): void;
}

/** Opens what requests leave behind: the ledger, answers to continue, the state of the accounts. All are written in the background. */
export async function openRecords(input: RecordsInput) {
  const { config, key, log, onClose, schedule, store } = input;
  if (store.kind === 'sqlite') onClose('look at the database file', watchFile(store, schedule, log));
  const traces = openTraces(store, schedule, (error, lost) =>
    log.error({ error: describe(error), lost }, 'traces of requests cannot be stored'),
  );
  onClose('traces', () => traces.close());
  const { dataDir } = config;
  const ledger = await openLedger({ store, log, schedule, dataDir, beforeBatch: traces.flush });
  onClose('ledger', () => ledger.close());
  const mutex = createKeyedMutex();
  /** Runs work on the store's connection for work in the background while nobody else uses it. */
  const alone = <T>(work: () => Promise<T>) => mutex.runExclusive('background', work);
  onClose(
    'sums over the ledger',
    openKeptSums({
      store,
      alone,
      schedule,
      now: Date.now,
      onError: (error) => log.warn({ error: describe(error) }, 'sums over the ledger cannot be kept'),
    }),
  );
  const responses = openResponses({
    store,
    schedule,
    key,
    ...config.responses,
    onError: (error, lost) => log.error({ error: describe(error), lost }, 'responses cannot be stored'),
  });
  onClose('responses', () => responses.close());
  const { accounts, close, storedStates } = await openAccounts(
    store,
    Date.now,
    (error, lost) => log.error({ error: describe(error), lost }, 'the state of accounts cannot be stored'),
    input.onHealth,
  );
  onClose('accounts', close);
  return { accounts, alone, ledger, responses, storedStates, traces };
}
