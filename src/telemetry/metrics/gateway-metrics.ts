import type { BudgetState } from '../../budgets/limits.ts';
import type { Accounts } from '../../health/accounts.ts';
import { accountMetrics, type MeasuredConnection } from './account-metrics.ts';
import { budgetMetrics } from './budget-metrics.ts';
import { counter, gauge, type MetricFamily } from './family.ts';
import { createHttpMetrics, type HttpMetrics } from './http-metrics.ts';
import type { ProcessCounts } from './process-counts.ts';
import { createProcessMetrics } from './process-metrics.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';

/** Rows on their way to the database. */
export interface Backlog {
  /** Rows that wait to be written. */
  pending(): number;
  /** Rows that could not be written and are gone, since the start. */
  lostRows(): number;
}

export interface GatewayMetricsInput {
  version: string;
  connections(): readonly MeasuredConnection[];
  accounts: Pick<Accounts, 'headroom' | 'inFlight' | 'conditionsOf'>;
  budgets(): readonly BudgetState[];
  ledger: Backlog & { backlog: number };
  traces: Backlog;
  /** Model requests under way, and how many of them wait for a target to be ready again. */
  calls(): { open: number; waiting: number };
  /** The processes that serve the data plane beside this one; null where there are none. */
  workers(): MeasuredWorkers | null;
  /** Traced requests that could not be sent by OTLP. */
  tracesDropped(): number;
  /** HTTP requests that are not answered yet. */
  openRequests(): number;
  isReady(): boolean;
  /** The database, and records that wait on the local disk until it answers. */
  store(): { up: boolean; rowsWaiting: number };
  /** Whether limits are shared with other gateways at this moment; null where they are not meant to be. */
  sharing: (() => boolean) | null;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The workers of a gateway. CPU time in seconds, memory in bytes, all of them together. */
export interface MeasuredWorkers {
  states(): readonly { state: 'starting' | 'serving' | 'ended' }[];
  restarts(): { count: number };
  load(): { cpuSeconds: number; residentBytes: number };
}

/** Every figure of a gateway beside those of its events. */
export interface GatewayMetrics extends Pick<RequestMetrics, 'count'> {
  countHttp: HttpMetrics['count'];
  /** Adds what a worker has counted. */
  add(counts: ProcessCounts): void;
  families(): MetricFamily[];
  close(): void;
}

export function createGatewayMetrics(input: GatewayMetricsInput): GatewayMetrics {
  const requests = createRequestMetrics();
  const http = createHttpMetrics();
  const own = createProcessMetrics();
  return {
    count: requests.count,
    countHttp: http.count,
    add(counts) {
      requests.add(counts.requests);
      http.add(counts.http);
    },
    families: () => [
      {
        name: 'modelgate_build_info',
        type: 'gauge',
        help: 'The version of the gateway',
        points: [{ labels: { version: input.version }, value: 1 }],
      },
      gauge(
        'modelgate_ready',
        'Whether all critical services pass, as /readyz says',
        Number(input.isReady()),
      ),
      ...http.families(),
      ...requests.families(),
      ...load(input),
      ...accountMetrics(input.connections(), input.accounts),
      ...budgetMetrics(input.budgets(), input.now()),
      ...workerMetrics(input.workers()),
      ...own.families(),
    ],
    close: own.close,
  };
}

function workerMetrics(workers: MeasuredWorkers | null): MetricFamily[] {
  if (workers === null) return [];
  const states = workers.states();
  const { cpuSeconds, residentBytes } = workers.load();
  return [
    {
      name: 'modelgate_workers',
      type: 'gauge',
      help: 'Processes that serve the model endpoints, by state',
      points: (['starting', 'serving', 'ended'] as const).map((state) => ({
        labels: { state },
        value: states.filter((worker) => worker.state === state).length,
      })),
    },
    counter('modelgate_worker_restarts', 'Workers that were started again', workers.restarts().count),
    counter('modelgate_worker_cpu_seconds', 'CPU time of the workers', cpuSeconds, 'seconds'),
    gauge('modelgate_worker_resident_memory_bytes', 'Resident memory of the workers', residentBytes, 'bytes'),
  ];
}

function load(input: GatewayMetricsInput): MetricFamily[] {
  const { calls, ledger, openRequests, sharing, store, traces, tracesDropped } = input;
  const { open, waiting } = calls();
  const { rowsWaiting, up } = store();
  return [
    gauge('modelgate_store_up', 'Whether the database answers', Number(up)),
    gauge(
      'modelgate_store_rows_waiting',
      'Records that wait on the local disk for the database',
      rowsWaiting,
    ),
    ...(sharing === null
      ? []
      : [gauge('modelgate_shared_limits_up', 'Whether limits are shared through Redis', Number(sharing()))]),
    gauge('modelgate_http_requests_in_flight', 'HTTP requests that are not answered yet', openRequests()),
    gauge(
      'modelgate_requests_in_flight',
      'Model requests that are on their way to an upstream or at one',
      open,
    ),
    gauge('modelgate_requests_waiting', 'Model requests that wait until a target is ready again', waiting),
    gauge('modelgate_ledger_rows_pending', 'Ledger rows that are not written yet', ledger.pending()),
    gauge(
      'modelgate_ledger_rows_pending_limit',
      'Pending ledger rows at which the gateway is not ready any more',
      ledger.backlog,
    ),
    counter('modelgate_ledger_rows_lost', 'Ledger rows that could not be written', ledger.lostRows()),
    gauge('modelgate_trace_rows_pending', 'Traces of requests that are not written yet', traces.pending()),
    counter('modelgate_trace_rows_lost', 'Traces of requests that could not be written', traces.lostRows()),
    counter(
      'modelgate_otlp_traces_dropped',
      'Traced requests that could not be sent by OTLP',
      tracesDropped(),
    ),
  ];
}
