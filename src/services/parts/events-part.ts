import type { Events } from '../../events/open.ts';
import { alwaysRunning, iso, type Part } from '../part.ts';
import type { Check } from '../schema.ts';

export interface EventsPartInput {
  version: string;
  since: number;
  /** Null as long as the gateway starts. */
  events(): Events | null;
  endpoints: Part['endpoints'];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The event engine. Model requests never wait for it. */
export function eventsPart({ endpoints, events, now, since, version }: EventsPartInput): Part {
  const check = (name: string, problem: string | null, output: string): Check => ({
    name,
    status: problem === null ? 'pass' : 'warn',
    observed_at: iso(now()),
    output: problem ?? output,
  });
  const engineProblem = (): string | null => {
    const problems = events()?.opened()?.engine.problems() ?? [];
    return problems.length === 0 ? null : problems.join('; ');
  };
  return {
    key: 'events',
    id: 'events',
    kind: 'event_engine',
    critical: false,
    name: 'Events',
    description: 'Brings events from sources through channels to triggers. Model requests never wait for it.',
    dependsOn: ['store'],
    version,
    status() {
      const problem = engineProblem();
      const base = alwaysRunning(since);
      return problem === null
        ? base
        : { ...base, state: 'degraded', reason: { code: 'events_degraded', message: problem } };
    },
    checks() {
      const opened = events()?.opened() ?? null;
      const rejected = opened?.config.rejected()?.problems.find(({ severity }) => severity === 'error');
      const version = opened?.config.inForce().version.number ?? 0;
      return [
        check(
          'configuration',
          rejected === undefined ? null : `events.yaml: ${rejected.path} ${rejected.message}`,
          `version ${version} is in force`,
        ),
        check('engine', engineProblem(), 'no problems'),
      ];
    },
    endpoints,
    async reload() {
      await events()?.opened()?.config.lookAtFile();
      return 'The file of the configuration was looked at';
    },
  };
}
