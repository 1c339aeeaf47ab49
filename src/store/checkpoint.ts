import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/**
 * A write-ahead log beyond this size is folded into the database. The larger it may be, the more often a page is in it before it is
 * written once: with millions of rows each row of the ledger changes pages that no other does soon.
 */
const WAL_BYTES = 32 * 1024 * 1024;

/** A thread that has had nothing to do for so long ends: to start one takes five times as long as a checkpoint. */
const IDLE_MS = 60_000;

/** Answers each message with null, or the error's fields; ends when it is told to. */
const workerSource = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData);
  parentPort.on('message', (order) => {
    if (order === 'end') {
      database.close();
      parentPort.close();
      return;
    }
    try {
      database.exec('pragma wal_checkpoint(passive)');
      parentPort.postMessage(null);
    } catch ({ message, code, errcode }) {
      parentPort.postMessage({ message, code, errcode });
    }
  });
`;

export interface Checkpointer {
  /** Looks whether a checkpoint is due and runs it beside the event loop. */
  consider(): void;
  /** Resolves when no checkpoint runs and nothing is open any more. */
  close(): Promise<void>;
}

/**
 * Checkpoints wait for the disk (fsync), which would stall every request, so they run in a thread, which stays while it is in use.
 * A failed one is reported and tried again at the next occasion; nothing is lost, the log only stays longer.
 */
export function createCheckpointer(path: string, onError: (error: unknown) => void): Checkpointer {
  let thread: { worker: Worker; ended: Promise<void> } | null = null;
  let isRunning = false;
  let idle: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearTimeout(idle);
    thread?.worker.postMessage('end');
  };
  const start = (): NonNullable<typeof thread> => {
    const worker = new Worker(workerSource, { eval: true, workerData: path });
    worker.unref();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    worker.on('message', (fault: { message: string } | null) => {
      isRunning = false;
      idle = setTimeout(end, IDLE_MS).unref();
      if (fault !== null) onError(Object.assign(new Error(fault.message), fault));
    });
    worker.on('error', onError);
    worker.on('exit', () => {
      isRunning = false;
      thread = null;
      clearTimeout(idle);
      resolve();
    });
    return { worker, ended };
  };
  return {
    consider() {
      if (isRunning || walBytes(path) < WAL_BYTES) return;
      isRunning = true;
      clearTimeout(idle);
      thread ??= start();
      thread.worker.postMessage('checkpoint');
    },
    async close() {
      thread?.worker.ref();
      end();
      await thread?.ended;
    },
  };
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
