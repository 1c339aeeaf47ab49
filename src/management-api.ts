import type { AccessControl } from './access/access-control.ts';
import type { AuditLog } from './access/audit/audit.ts';
import { auditResource } from './access/audit/resource.ts';
import { isLoopbackAddress, networks } from './access/client-address.ts';
import type { Agents } from './agents/open.ts';
import type { AgentRegistry } from './agents/registry/open.ts';
import { agentsResource } from './agents/registry/resource.ts';
import { agentStore } from './agents/registry/store.ts';
import type { Alerts } from './alerts/open.ts';
import { alertsResource } from './alerts/resource.ts';
import { openBackups } from './backup/resource.ts';
import { type AnswerCache, cacheSum } from './cache/answers.ts';
import type { CacheInput } from './cache/resource.ts';
import type { Config } from './config.ts';
import type { Balances } from './connections/accounts/balances.ts';
import type { StorageKey } from './connections/credentials/seal.ts';
import type { openLogins } from './connections/open.ts';
import type { GatewayEvents } from './events/emitters/gateway.ts';
import type { Events } from './events/open.ts';
import type { Listening } from './http/outbound/outbound.ts';
import type { RunningRequest } from './ledger/schema.ts';
import type { Log } from './lib/log.ts';
import { auditEvents } from './management/audit-events.ts';
import type { CliTools } from './management/context.ts';
import type { IdempotencyStore } from './management/guard/idempotency.ts';
import type { ClosableManagement } from './management/late.ts';
import type { EventStreams } from './management/live/event-streams.ts';
import type { Live } from './management/live/live.ts';
import { openManagement } from './management/open.ts';
import { gatewayResources } from './management/resources.ts';
import type { RunningCall } from './proxy/request/open-call.ts';
import type { SurfaceContext } from './proxy/surface.ts';
import type { Services } from './services/open.ts';
import { type ProcessControl, processResource } from './services/process-resource.ts';
import { servicesResource } from './services/resource.ts';
import { tasksResource } from './services/tasks/tasks-resource.ts';
import type { Snapshot } from './snapshot.ts';
import type { openSnapshots, storedSettings } from './state.ts';
import type { Store } from './store/database.ts';
import type { GatewayMetrics } from './telemetry/metrics/gateway-metrics.ts';
import { toolsResource } from './tools/resource.ts';
import { tunnelsResource } from './tunnels/resource.ts';
import type { Tunnels } from './tunnels/tunnels.ts';
import type { Workers } from './workers/open.ts';

/** The parts of the gateway that its management API shows and changes. */
export interface ManagementApiInput {
  config: Config;
  version: string;
  log: Pick<Log, 'warn'>;
  processControl: ProcessControl | null;
  accessControl: AccessControl;
  agentRegistry: AgentRegistry;
  agents: Agents;
  alerts: Alerts;
  audit: AuditLog;
  balances: Balances;
  cliTools: CliTools;
  context: SurfaceContext;
  events: Events;
  gatewayEvents: Pick<GatewayEvents, 'backupEnded'>;
  idempotency: IdempotencyStore;
  listening: Listening;
  live: Live;
  logins: Pick<ReturnType<typeof openLogins>, 'beginLoginTask' | 'grants' | 'logins'>;
  metrics: GatewayMetrics;
  nameOfKey(snapshot: Snapshot, id: string | null): string | null;
  pool: { readonly workers: Workers | null };
  sealing: StorageKey;
  services: Services;
  snapshots: Awaited<ReturnType<typeof openSnapshots>>;
  store: Store;
  stored: ReturnType<typeof storedSettings>;
  streams: EventStreams;
  tunnels: Tunnels;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
}

/** Puts the management API together from the parts of the gateway. Its code is loaded with its first request (`management/late.ts`). */
export function openManagementApi(input: ManagementApiInput): ClosableManagement {
  const { alerts, audit, config, context, pool, services, snapshots, store, stored, tunnels, version } =
    input;
  const recordChange = auditEvents(audit);
  const backups = openBackups({
    database: config.database,
    dataDir: config.dataDir,
    storageKey: input.sealing,
    version,
    onFailure: (work) =>
      recordChange({
        kind: 'change',
        change: {
          ...work,
          collection: 'backups',
          outcome: 'failure',
          before: null,
          after: null,
          input: null,
        },
      }),
    onEnd: input.gatewayEvents.backupEnded,
    tasks: services.tasks,
    report: input.report,
    now: context.now,
  });
  const { grants, beginLoginTask, logins } = input.logins;
  const proxies = networks(config.trustedProxies);
  const mayRun = ({ address }: { address: string }) => isLoopbackAddress(address) || config.remoteDetection;
  const management = openManagement({
    cliTools: input.cliTools,
    events: input.events,
    finishLogin: logins.finish,
    accessControl: input.accessControl,
    live: input.live,
    metrics: input.metrics,
    streams: input.streams,
    once: input.idempotency,
    version,
    report: input.report,
    warn: (sentence) => input.log.warn(sentence),
    now: context.now,
    trusted: (address) => proxies(address) || (tunnels.open() && isLoopbackAddress(address)),
    hosts: context.hosts,
    resources: [
      ...gatewayResources({
        ...stored,
        store,
        config,
        limits: snapshots.limits,
        answers: cacheOfAll(context.answers, pool),
        now: context.now,
        login: { tokens: context.tokens, logins, grants, beginLoginTask, listening: input.listening },
        accounts: context.accounts,
        balances: input.balances,
        snapshot: snapshots.current,
        reload: snapshots.reload,
        async running() {
          const calls = context.watch.members().flatMap((call) => call.describe?.() ?? []);
          const ofWorkers = (await pool.workers?.running()) ?? [];
          const nameOf = (id: string) => input.nameOfKey(snapshots.current(), id);
          return runningRequests([...calls, ...ofWorkers], nameOf, context.now());
        },
      }),
      servicesResource(services.resourceParts),
      tasksResource({ tasks: services.tasks }),
      processResource({ control: input.processControl, version, now: context.now, mayRun }),
      auditResource(audit),
      toolsResource({ service: input.cliTools.service, mayRun }),
      backups.resource,
      tunnelsResource(tunnels),
      alertsResource(alerts.resourceParts),
      agentsResource({
        registry: input.agentRegistry,
        reload: snapshots.reload,
        agents: agentStore(store),
        allowedCommands: config.agentCommands,
        now: context.now,
        running: input.agents,
        mayRun,
      }),
    ],
    audit: recordChange,
  });
  return { ...management, close: backups.close };
}

/** The cache of this process and those of the workers, as one. */
function cacheOfAll(own: AnswerCache, pool: { readonly workers: Workers | null }): CacheInput['answers'] {
  return {
    async stats() {
      return cacheSum([own.stats(), ...((await pool.workers?.cacheStats()) ?? [])]);
    },
    clear: async () => own.clear() + ((await pool.workers?.clearCaches()) ?? 0),
  };
}

/** The requests on their way, the oldest first, as they are shown. */
function runningRequests(
  calls: readonly RunningCall[],
  nameOf: (keyId: string) => string | null,
  now: number,
): RunningRequest[] {
  return [...calls]
    .sort((one, other) => one.startedAt - other.startedAt)
    .map((call) => ({
      id: call.id,
      started_at: new Date(call.startedAt).toISOString(),
      elapsed_ms: Math.max(0, now - call.startedAt),
      key_id: call.keyId,
      key_name: nameOf(call.keyId),
      format: call.format,
      requested_model: call.requestedModel,
      connection: call.connection,
      model: call.model,
      attempts: call.attempts,
      state: call.state,
      user_agent: call.userAgent,
    }));
}
