import type { Schedule } from '../../lib/time/schedule.ts';
import type { Store } from '../../store/database.ts';
import { type PruneInput, pruneLedger, pruneTime } from './prune.ts';

const LOOK_MS = 10 * 60_000;

export interface RetentionInput {
  store: Store;
  /** Days for which requests stay in the ledger; null for ever. */
  days: number | null;
  alone: PruneInput['alone'];
  schedule: Pick<Schedule, 'every'>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Told what was removed, where something was. */
  onPruned(pruned: { before: number; requests: number }): void;
  onError(error: unknown): void;
}

/** Has requests removed from the ledger once they are old enough, in the background. @returns what stops it */
export function openRetention(input: RetentionInput): () => Promise<void> {
  const { alone, days, now, onError, onPruned, schedule, store } = input;
  if (days === null) return async () => {};
  let stopped = false;
  let running: Promise<unknown> = Promise.resolve();
  const prune = async () => {
    const before = pruneTime(days, now());
    let requests = 0;
    try {
      await pruneLedger({
        store,
        before,
        alone,
        stopped: () => stopped,
        progress(count) {
          requests = count;
        },
      });
    } finally {
      if (requests > 0) onPruned({ before, requests });
    }
  };
  const stop = schedule.every({
    name: 'ledger retention',
    everyMs: LOOK_MS,
    run() {
      const work = prune();
      running = work.catch(() => {});
      return work;
    },
    onError,
  });
  return async () => {
    stopped = true;
    stop();
    await running;
  };
}
