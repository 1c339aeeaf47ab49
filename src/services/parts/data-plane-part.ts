import type { DataPlane } from '../data-plane.ts';
import { iso, type Part } from '../part.ts';
import type { Check, Endpoint } from '../schema.ts';

export interface DataPlanePartInput {
  plane: DataPlane;
  version: string;
  /** How long open requests may finish when nothing else is said, in milliseconds. */
  drainMs(): number;
  endpoints(): Endpoint[];
  /** Active connections that can serve, beside the demo. */
  connections(): number;
  /** Whether limits are shared with other gateways at this moment; null where they are not meant to be. */
  sharing: (() => boolean) | null;
  /** Reads keys and connections anew. @returns the revision that is in force then */
  reload(): Promise<number>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The model endpoints: `/v1/…`, and what Gemini's and Ollama's clients call. */
export function dataPlanePart(input: DataPlanePartInput): Part {
  const { now, plane } = input;
  return {
    key: 'data-plane',
    id: 'data-plane',
    kind: 'data_plane',
    critical: true,
    name: 'Data plane',
    description:
      'The model endpoints. While they are stopped, they answer 503; the management API still works.',
    dependsOn: ['store'],
    version: input.version,
    status: plane.status,
    endpoints: input.endpoints,
    options: { drain_seconds: Math.round(input.drainMs() / 1000) },
    checks: () => [
      accepting(plane, now()),
      connected(input.connections(), now()),
      ...(input.sharing === null ? [] : [sharing(input.sharing(), now())]),
    ],
    lifeCycle: {
      confirm: true,
      restarts: true,
      openRequests: plane.openRequests,
      start: async () => plane.start(),
      stop: (ms = input.drainMs(), again) => plane.stop(ms, again),
    },
    reload: async () => `Keys and connections were read anew, at revision ${await input.reload()}`,
  };
}

function accepting(plane: DataPlane, now: number): Check {
  const { state } = plane.status();
  const open = plane.openRequests();
  return {
    name: 'accepting',
    status: state === 'running' ? 'pass' : 'fail',
    observed_at: iso(now),
    output: `${state}, ${open} open ${open === 1 ? 'request' : 'requests'}`,
  };
}

function sharing(works: boolean, now: number): Check {
  return {
    name: 'shared limits',
    status: works ? 'pass' : 'warn',
    observed_at: iso(now),
    output: works
      ? 'counted in Redis'
      : 'Redis does not answer: budgets are limited to what was granted before',
  };
}

function connected(count: number, now: number): Check {
  return {
    name: 'connections',
    status: count > 0 ? 'pass' : 'warn',
    observed_at: iso(now),
    output: count > 0 ? `${count} in use` : 'none in use: only the built-in demo answers',
  };
}
