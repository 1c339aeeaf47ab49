import type { MetricFamily } from './family.ts';
import { createTally, type TallyCount } from './tally.ts';

/** Which part of the gateway serves a path. */
export type HttpSurface = 'models' | 'management' | 'mcp' | 'a2a' | 'probes' | 'other';

/** Counts answered HTTP requests, whoever served them. */
export interface HttpMetrics {
  /** @param status null for a client that left before there was an answer */
  count(surface: HttpSurface, method: string | undefined, status: number | null): void;
  /** Adds what another process has counted. */
  add(counts: HttpCounts): void;
  counts(): HttpCounts;
  families(): MetricFamily[];
}

/** What was counted, as plain values. */
export type HttpCounts = readonly TallyCount[];

/** A client may send any word as its method. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createHttpMetrics(): HttpMetrics {
  const requests = createTally(['surface', 'method', 'status']);
  return {
    count(surface, method = '', status) {
      requests.add(
        1,
        surface,
        methods.has(method) ? method : 'other',
        status === null ? 'none' : String(status),
      );
    },
    add(counts) {
      for (const { amount, values } of counts) requests.add(amount, ...values);
    },
    counts: requests.counts,
    families: () => [
      {
        name: 'modelgate_http_requests',
        type: 'counter',
        help: 'HTTP requests by the part of the gateway that serves them; status "none" where the client left first',
        points: requests.points(),
      },
    ],
  };
}
