import type { JobState, Schedule } from '../../lib/time/schedule.ts';
import { alwaysRunning, iso, isoOrNull, type Part, type PartStatus } from '../part.ts';
import type { Check } from '../schema.ts';

export interface SchedulerPartInput {
  schedule: Pick<Schedule, 'jobs'>;
  version: string;
  since: number;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A job may miss its time by so much, for the process may have stood still. */
const LATE_MS = 5000;

/** The jobs that come back by the clock. Without them changes of other processes would not be seen, so none can be stopped. */
export function schedulerPart({ now, schedule, since, version }: SchedulerPartInput): Part {
  return {
    key: 'scheduler',
    id: 'scheduler',
    kind: 'scheduler',
    critical: false,
    name: 'Scheduler',
    description: 'Periodic jobs, such as looking for changed settings.',
    dependsOn: ['store'],
    version,
    status: () => statusOf(schedule.jobs(), since),
    checks: () => schedule.jobs().map((job) => checkOf(job, now())),
    endpoints: () => [],
  };
}

function statusOf(jobs: readonly JobState[], since: number): PartStatus {
  const base = alwaysRunning(since);
  const failed = jobs.find(({ lastError }) => lastError !== null);
  if (failed === undefined) return base;
  const message = `The job "${failed.name}" failed: ${failed.lastError}`;
  return {
    ...base,
    state: 'degraded',
    reason: { code: 'job_failed', message },
    error: { code: 'job_failed', message, at: failed.lastAt },
  };
}

function checkOf(job: JobState, now: number): Check {
  const { everyMs, failures, lastAt, lastError, lastMs, name, runs, since } = job;
  const late = now - (lastAt ?? since) > 2 * everyMs + LATE_MS;
  const every = everyMs < 1000 ? `${everyMs} ms` : `${everyMs / 1000} s`;
  const last = lastMs === null ? 'not run yet' : `last took ${lastMs.toFixed(1)} ms`;
  return {
    name,
    status: lastError !== null || late ? 'warn' : lastAt === null ? 'unknown' : 'pass',
    observed_at: isoOrNull(lastAt),
    output:
      lastError ??
      `every ${every}, ${runs} runs, ${failures} failed, ${last}${late ? `, late at ${iso(now)}` : ''}`,
  };
}
