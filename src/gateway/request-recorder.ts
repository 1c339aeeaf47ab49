import type { GatewayEvents } from '../events/emitters/gateway.ts';
import { rowOfEntry } from '../ledger/entry-row.ts';
import { entryOfValues } from '../ledger/report.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { Traces } from '../ledger/traces.ts';
import type { Live } from '../management/live/live.ts';
import { traceText } from '../proxy/dispatch/attempt-failures.ts';
import { loggedPath } from '../proxy/inbound/routes.ts';
import { traceparentOf } from '../proxy/metering/entry.ts';
import type { SurfaceContext } from '../proxy/surface.ts';
import type { openRecords } from '../records.ts';
import type { PeerGateways } from '../services/peer-gateways.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Store } from '../store/database.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import type { GatewayMetrics } from '../telemetry/metrics/gateway-metrics.ts';
import type { OpenTelemetry } from '../telemetry/otlp/open.ts';
import type { WorkersInput } from '../workers/open.ts';
import { nameOfKey } from './snapshot-lookups.ts';

export interface RequestRecorderInput {
  ledger: Pick<Awaited<ReturnType<typeof openRecords>>['ledger'], 'record' | 'recordJournaled'>;
  traces: Pick<Traces, 'record'>;
  metrics: Pick<GatewayMetrics, 'count'>;
  /** Null where nothing is sent by OTLP. */
  otel: Pick<OpenTelemetry, 'record'> | null;
  /** Null where requests are not logged. */
  access: Pick<AccessLog, 'note'> | null;
  live: Pick<Live, 'publish'>;
  /** Null where there are no other gateways to tell. */
  peers: Pick<PeerGateways, 'requestEnded'> | null;
  /** The store, which names this gateway among the others. */
  store: Pick<Store, 'node'>;
  gatewayEvents: Pick<GatewayEvents, 'requestFinished'>;
  snapshot(): Snapshot;
}

/** What a finished request sets off. */
export interface RequestRecorder {
  /** Records a request of this process. */
  record: SurfaceContext['record'];
  /** Records a request of a worker, which has counted and logged it. */
  recordOfWorker: WorkersInput['onFinished'];
}

export function createRequestRecorder(input: RequestRecorderInput): RequestRecorder {
  const { access, gatewayEvents, ledger, live, metrics, otel, peers, snapshot, store, traces } = input;

  /** Shows a finished request to those who watch, and publishes its event. */
  const announce = (entryOf: () => LedgerEntry, traceparent: string | null): void => {
    const row = () => {
      const entry = entryOf();
      return rowOfEntry(entry, nameOfKey(snapshot(), entry.keyId));
    };
    live.publish('requests', () => (peers === null ? row() : { ...row(), node: store.node }));
    peers?.requestEnded(row);
    gatewayEvents.requestFinished(entryOf, traceparent);
  };

  return {
    record(entry, trace, origin) {
      const traceparent = traceparentOf(origin);
      ledger.record(entry);
      const text = trace === null ? null : traceText(trace);
      if (text !== null) traces.record(entry.id, text);
      announce(() => entry, traceparent);
      metrics.count(entry, trace);
      otel?.record({
        entry,
        trace,
        method: origin.exchange.request.method ?? 'POST',
        path: loggedPath(origin.exchange.path),
        keyName: origin.principal.name,
        traceparent,
      });
      access?.note(origin.exchange.request, entry, origin.principal.name);
    },
    recordOfWorker(row, details) {
      ledger.recordJournaled(row);
      let entry: LedgerEntry | null = null;
      const entryOf = (): LedgerEntry => {
        entry ??= entryOfValues(row);
        return entry;
      };
      announce(entryOf, details?.traceparent ?? null);
      if (details === null) return;
      const { id, span, traceparent, traceText: text } = details;
      if (text !== null) traces.record(id, text);
      if (span !== null) otel?.record({ entry: entryOf(), traceparent, ...span });
    },
  };
}
