import { createHttpMetrics, type HttpCounts, type HttpMetrics } from './http-metrics.ts';
import { createRequestMetrics, type RequestCounts, type RequestMetrics } from './request-metrics.ts';

/** What a process has counted of requests, for another one that adds it up. */
export interface ProcessCounts {
  requests: RequestCounts;
  http: HttpCounts;
}

/** Counts requests of a process whose figures another one shows. */
export interface ProcessCounter extends Pick<RequestMetrics, 'count'> {
  countHttp: HttpMetrics['count'];
  /** What was counted since the last call; null where nothing was. */
  take(): ProcessCounts | null;
}

export function createProcessCounter(): ProcessCounter {
  let requests: RequestMetrics | null = null;
  let http: HttpMetrics | null = null;
  return {
    count(entry, trace) {
      requests ??= createRequestMetrics();
      requests.count(entry, trace);
    },
    countHttp(surface, method, status) {
      http ??= createHttpMetrics();
      http.count(surface, method, status);
    },
    take() {
      if (requests === null && http === null) return null;
      const counts = {
        requests: (requests ?? createRequestMetrics()).counts(),
        http: http?.counts() ?? [],
      };
      requests = null;
      http = null;
      return counts;
    },
  };
}
