import type { Config } from '../config.ts';
import type { Events } from '../events/open.ts';
import type { Accounts } from '../health/accounts.ts';
import { statusOf as eventStatus } from '../management/events/status.ts';
import { eventMetrics } from '../management/metrics/event-metrics.ts';
import type { OpenCall } from '../proxy/request/open-call.ts';
import type { Services } from '../services/open.ts';
import type { openSnapshots } from '../state.ts';
import type { Store } from '../store/database.ts';
import {
  createGatewayMetrics,
  type GatewayMetrics,
  type GatewayMetricsInput,
} from '../telemetry/metrics/gateway-metrics.ts';
import type { OpenTelemetry, OpenTelemetryInput } from '../telemetry/otlp/open.ts';
import { rowsWaiting } from './database.ts';
import type { OpenInput } from './open-input.ts';
import { measuredConnections, upstreamAddress } from './snapshot-lookups.ts';
import { openCalls, type WorkerPool } from './worker-pool.ts';

export interface MeasurementsInput
  extends Pick<OpenInput, 'config' | 'log' | 'onClose' | 'version'>,
    Pick<GatewayMetricsInput, 'ledger' | 'sharing' | 'traces'> {
  store: Store;
  snapshots: Pick<Awaited<ReturnType<typeof openSnapshots>>, 'current' | 'limits'>;
  accounts: Accounts;
  services: Pick<Services, 'readiness'>;
  events: Pick<Events, 'opened'>;
  /** Model requests under way in this process. */
  calls(): readonly OpenCall[];
  /** HTTP requests that this process has not answered yet. */
  openRequests(): number;
  pool: WorkerPool;
  /** Names this process among the gateways of one service. */
  instance: string;
}

/** The figures of a running gateway, with those of its workers, and what sends them. */
export interface Measurements {
  metrics: GatewayMetrics;
  /** Null where nothing is sent by OTLP. */
  otel: OpenTelemetry | null;
}

export async function openMeasurements(input: MeasurementsInput): Promise<Measurements> {
  const { accounts, config, events, log, onClose, pool, services, snapshots, store, version } = input;
  const workerLoad = () => pool.workers?.load() ?? null;
  const metrics = createGatewayMetrics({
    version,
    connections: () => measuredConnections(snapshots.current()),
    accounts: {
      ...accounts,
      inFlight: (id) =>
        accounts.inFlight(id) + (workerLoad()?.inFlight.find(([one]) => one === id)?.[1] ?? 0),
    },
    budgets: snapshots.limits.inForce,
    ledger: input.ledger,
    traces: input.traces,
    calls: () => openCalls(pool, input.calls()),
    workers: () => pool.workers,
    tracesDropped: () => otel?.dropped() ?? 0,
    openRequests: () => input.openRequests() + (workerLoad()?.http ?? 0),
    isReady: () => services.readiness().failing.length === 0,
    store: () => ({
      up: store.kind === 'sqlite' || store.server.outage() === null,
      rowsWaiting: rowsWaiting(store),
    }),
    sharing: input.sharing,
    now: Date.now,
  });
  onClose('metrics', metrics.close);
  const otel = await openTelemetryOf(config, {
    version,
    instance: input.instance,
    families: async () => [...metrics.families(), ...eventMetrics(await eventStatus(events.opened()))],
    addressOf: (id) => upstreamAddress(snapshots.current(), id),
    log,
    now: Date.now,
  });
  onClose('OpenTelemetry', () => otel?.close());
  return { metrics, otel };
}

/** Sending telemetry by OTLP, whose code is loaded only where it is wanted; null where it is not. */
async function openTelemetryOf(
  { otel }: Config,
  input: Omit<OpenTelemetryInput, 'settings'>,
): Promise<OpenTelemetry | null> {
  if (otel === null) return null;
  const { openTelemetry } = await import('../telemetry/otlp/open.ts');
  return openTelemetry({ ...input, settings: otel });
}
