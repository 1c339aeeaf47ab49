import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** A write-ahead log beyond this size is folded into the database. */
const WAL_BYTES = 8 * 1024 * 1024;

const workerSource = `
  const { DatabaseSync } = require('node:sqlite');
  const { workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData);
  database.exec('pragma wal_checkpoint(passive)');
  database.close();
`;

export interface Checkpointer {
  /** Looks whether a checkpoint is due and runs it beside the event loop. */
  consider(): void;
  /** Resolves when no checkpoint runs. */
  settled(): Promise<void>;
}

/**
 * Checkpoints wait for the disk (fsync), which would stall every request, so each runs in a short-lived thread.
 * A failed one is reported and tried again at the next occasion; nothing is lost, the log only stays longer.
 */
export function createCheckpointer(path: string, onError: (error: unknown) => void): Checkpointer {
  let running: Promise<void> | null = null;
  return {
    consider() {
      if (running !== null || walBytes(path) < WAL_BYTES) return;
      running = new Promise<void>((resolve) => {
        const worker = new Worker(workerSource, { eval: true, workerData: path });
        worker.on('error', onError);
        worker.on('exit', () => {
          running = null;
          resolve();
        });
      });
    },
    settled: () => running ?? Promise.resolve(),
  };
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
