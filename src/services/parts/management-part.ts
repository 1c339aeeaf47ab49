import { performance } from 'node:perf_hooks';
import { alwaysRunning, iso, type Part } from '../part.ts';
import type { Check, Endpoint } from '../schema.ts';

export interface ManagementPartInput {
  version: string;
  /** When the process began to serve, in milliseconds since the epoch. */
  since: number;
  endpoints(): Endpoint[];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Above it, requests wait for others noticeably. */
const BUSY = 0.95;

/** This API. It cannot be stopped through itself. */
export function managementPart({ endpoints, now, since, version }: ManagementPartInput): Part {
  let last = performance.eventLoopUtilization();
  const eventLoop = (): Check => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, last);
    last = current;
    return {
      name: 'event_loop',
      status: utilization < BUSY ? 'pass' : 'warn',
      observed_at: iso(now()),
      output: `${Math.round(utilization * 100)} % busy since the last look`,
    };
  };
  const listening = (): Check => {
    const open = endpoints().length > 0;
    return {
      name: 'listening',
      status: open ? 'pass' : 'fail',
      observed_at: iso(now()),
      output: open ? 'connections are accepted' : 'no connections are accepted yet',
    };
  };
  return {
    key: 'management',
    id: 'management',
    kind: 'management_api',
    critical: true,
    name: 'Management API',
    description: 'This API. It runs as long as the process does.',
    dependsOn: ['store'],
    version,
    status: () => alwaysRunning(since),
    checks: () => [listening(), eventLoop()],
    endpoints,
  };
}
