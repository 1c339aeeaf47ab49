import { join } from 'node:path';
import { canMount, mountSmallDisk, runFullDisk } from './full-disk.ts';
import { nothingLost, type Scenario } from './scenario.ts';

/** A disk that the events of the engine fill, and one that other files fill as well. */

const AGAIN = 100;

const scenarioOf = (storage: 'none' | 'block' | 'drop', othersFillIt: boolean): Scenario => ({
  name: `full disk, ${storage === 'none' ? 'without a storage' : `a storage that ${storage}s`}${othersFillIt ? ', filled by others' : ''}`,
  async run(folder) {
    if (!canMount) return { skipped: 'only root may mount a disk' };
    const disk = join(folder, 'disk');
    const unmount = mountSmallDisk(disk, 96);
    try {
      const run = { storage, othersFillIt, events: 3_000, eventsAfter: AGAIN };
      const report = await runFullDisk({ ...run, folder: disk });
      return { ...report, allCounted: report.counted === report.notAccepted };
    } finally {
      unmount();
    }
  },
  expected: canMount
    ? { ...nothingLost, duplicates: 0, allCounted: true, acceptedAgain: AGAIN }
    : { skipped: 'only root may mount a disk' },
});

export const fullDiskScenarios: readonly Scenario[] = (['none', 'block', 'drop'] as const).flatMap(
  (storage) => [scenarioOf(storage, false), scenarioOf(storage, true)],
);
