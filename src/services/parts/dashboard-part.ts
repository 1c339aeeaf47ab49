import type { Gate } from '../gate.ts';
import { iso, type Part } from '../part.ts';
import type { Endpoint } from '../schema.ts';

export interface DashboardPartInput {
  version: string;
  gate: Gate;
  endpoints(): Endpoint[];
  /** Whether its pages were built; null until it is first needed. */
  isBuilt(): boolean | null;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** How long open requests may finish when nothing else is said. */
const DRAIN_MS = 5000;
const BUILD = 'the pages are not built: run `npm run build:dashboard` in the clone';

/** The pages for people. Stopped, they answer 503; the management API still works. */
export function dashboardPart({ isBuilt, endpoints, gate, now, version }: DashboardPartInput): Part {
  const missing = () => isBuilt() === false;
  return {
    key: 'dashboard',
    id: 'dashboard',
    kind: 'dashboard',
    critical: false,
    name: 'Dashboard',
    description: 'The pages at /dashboard.',
    dependsOn: ['management'],
    version,
    endpoints,
    status() {
      const status = gate.status();
      if (status.state !== 'running' || !missing()) return status;
      return { ...status, state: 'degraded', reason: { code: 'not_built', message: BUILD } };
    },
    checks: () => [
      {
        name: 'pages',
        status: missing() ? 'warn' : 'pass',
        observed_at: iso(now()),
        output: missing() ? BUILD : 'the pages are there',
      },
    ],
    lifeCycle: {
      confirm: false,
      restarts: true,
      openRequests: gate.openRequests,
      start: async () => gate.start(),
      stop: (ms = DRAIN_MS) => gate.stop(ms, false),
    },
  };
}
