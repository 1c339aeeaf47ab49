import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type A2a, openA2a } from '../a2a/open.ts';
import { ownEntry } from '../access/audit/append.ts';
import { openToAll } from '../access/bootstrap.ts';
import { userStore } from '../access/users/users.ts';
import { openGatewayAgents } from '../agents/open-gateway.ts';
import { openAgentRegistry } from '../agents/registry/open.ts';
import { type Config, isLoopback, readVariable } from '../config.ts';
import { openBalances } from '../connections/accounts/balances.ts';
import { openTokens } from '../connections/open.ts';
import { openSiteFiles, siteFolder } from '../dashboard/files.ts';
import { createDashboard, type Dashboard } from '../dashboard/serve.ts';
import { createGatewayEvents } from '../events/emitters/gateway.ts';
import type { StoreOutage } from '../events/emitters/outages.ts';
import type { Events } from '../events/open.ts';
import { instanceName } from '../events/types/own-event.ts';
import { hintOf } from '../health/hints.ts';
import type { Listening as ListeningAt } from '../http/outbound/outbound.ts';
import { statusOf } from '../http/outbound/status.ts';
import { allowedHosts, checkHost } from '../http/server/allowed-hosts.ts';
import { openRetention } from '../ledger/retention/open.ts';
import { logFailure } from '../lib/failure-log.ts';
import { describe } from '../lib/log.ts';
import { createSchedule } from '../lib/time/schedule.ts';
import { createEventStreams } from '../management/live/event-streams.ts';
import { openLive } from '../management/live/live.ts';
import type { Management } from '../management/open.ts';
import { type Mcp, openMcp } from '../mcp/open.ts';
import type { OpenCall } from '../proxy/request/open-call.ts';
import { createWatch } from '../proxy/request/watch.ts';
import type { SurfaceContext } from '../proxy/surface.ts';
import { openPools } from '../proxy/upstream/pools.ts';
import { openRecords } from '../records.ts';
import { openServices, type Services } from '../services/open.ts';
import type { PeerGateways } from '../services/peer-gateways.ts';
import { openSnapshots, sealingKey, sharedLimits, storedSettings } from '../state.ts';
import { refuseUnfinishedMove } from '../store/move/move.ts';
import { type AccessLog, createAccessLog } from '../telemetry/access-log.ts';
import type { GatewayMetrics } from '../telemetry/metrics/gateway-metrics.ts';
import { rootAt } from '../tools/configuring/base-url.ts';
import { machineOf, machineVariables } from '../tools/machine.ts';
import { openGatewayTunnels } from '../tunnels/open.ts';
import type { Tunnels } from '../tunnels/tunnels.ts';
import { socketPathIn } from '../workers/listen.ts';
import type { Workers } from '../workers/open.ts';
import { createDataPlaneContext } from './data-plane.ts';
import { enterAmongGateways, openDatabase, rowsWaiting } from './database.ts';
import { openEventDelivery } from './event-delivery.ts';
import { openManagementParts } from './management.ts';
import { openMeasurements } from './measurements.ts';
import type { OpenInput } from './open-input.ts';
import { openPeers } from './peers.ts';
import { createRequestRecorder } from './request-recorder.ts';
import { connectionCount, connectionIn, keyIn } from './snapshot-lookups.ts';
import { startWorkers, type WorkerPool } from './worker-pool.ts';

/** How long the way through a tunnel and back may take. */
const TUNNEL_PROBE_MS = 15_000;

/** The parts of a gateway that does not listen yet. */
export interface Parts {
  context: SurfaceContext;
  /** Null where requests are not logged. */
  access: AccessLog | null;
  metrics: GatewayMetrics;
  management: Management;
  mcp: Mcp;
  a2a: A2a;
  dashboard: Dashboard;
  services: Services;
  tunnels: Tunnels;
  /** Makes the first admin; null once there is one. */
  setupCode: string | null;
  pool: WorkerPool;
  /** Starts the processes that serve the data plane beside this one. They listen when they are told to. */
  startWorkers(): Promise<Workers>;
}

/** The HTTP server, which is created after the parts. */
export interface ServerView {
  listening: ListeningAt;
  /** HTTP requests that are not answered yet. */
  openRequests(): number;
}

/** What is opened after the parts that call it. Until then the calls do nothing. */
interface LateParts {
  events: Events | null;
  peers: PeerGateways | null;
  storeChanged(outage: StoreOutage | null): void;
  settingsChanged(): void;
  restartAgent(id: string): void;
}

/** Opens the parts in the order in which they need each other. What they open is closed in reverse order. */
export async function openParts(input: OpenInput, { listening, openRequests }: ServerView): Promise<Parts> {
  const { accessLog, config, log, onClose, onLive, version } = input;
  const late: LateParts = {
    events: null,
    peers: null,
    storeChanged() {},
    settingsChanged() {},
    restartAgent() {},
  };
  const pool: WorkerPool = { workers: null };
  const root = () => ownRoot(config, listening);
  const report = (error: unknown) => logFailure(log, error, 'the management API failed');

  const store = await openDatabase(input, (outage) => late.storeChanged(outage));
  const schedule = createSchedule();
  const instance = instanceName(hostname());
  await enterAmongGateways(input, store, schedule, () => (listening() === null ? null : root()));
  // After the entry: a command that needs all gateways stopped sees this one, or this one sees what it did.
  await refuseUnfinishedMove(store);
  const sealing = await sealingKey(store, config, log);
  const gatewayEvents = createGatewayEvents({
    log,
    instance,
    now: Date.now,
    connectionOf: (id) => connectionIn(snapshots.current(), id),
  });
  late.storeChanged = (outage) => gatewayEvents.storeChanged(outage, rowsWaiting(store));
  const { accounts, alone, ledger, responses, storedStates, traces } = await openRecords({
    store,
    config,
    log,
    schedule,
    onClose,
    key: sealing.responses,
    onHealth(changed) {
      gatewayEvents.healthChanged(changed);
      const hint = late.peers === null ? null : hintOf(changed, Date.now());
      if (hint !== null) late.peers?.accountChanged(hint);
      pool.workers?.tellHealthState(changed);
    },
  });
  gatewayEvents.rememberHealth(storedStates);
  if (!isLoopback(config.host) && !(await userStore(store).hasAdmin())) throw openToAll(config.host);
  const stored = storedSettings(store, sealing.key, log);
  const agentRegistry = openAgentRegistry({
    store,
    keys: stored.keys,
    dataDir: config.dataDir,
    machine: machineOf(Object.fromEntries(machineVariables.map((name) => [name, readVariable(name)]))),
    allowedCommands: config.agentCommands,
    root,
    onChange: (id) => late.restartAgent(id),
  });
  const shared = await sharedLimits(config, store, schedule, log, (reason, failureMode) =>
    gatewayEvents.sharingChanged({ reason, failureMode }),
  );
  onClose('shared limits', () => shared?.close());
  const snapshots = await openSnapshots({
    ...stored,
    store,
    ledger: {
      /** Writes what has ended, in the workers too. */
      async flush() {
        await pool.workers?.flush();
        return ledger.flush();
      },
    },
    config,
    shared,
    agentModels: agentRegistry.load,
    schedule,
    log,
    onConnections: accounts.adopt,
    onBudget: gatewayEvents.budgetReached,
    onChange(before, after) {
      gatewayEvents.settingsChanged(before, after);
      if (before.revision !== after.revision) late.peers?.settingsChanged(after.revision);
      late.settingsChanged();
      return pool.workers?.reload();
    },
  });
  onClose('settings', snapshots.close);
  const pools = await openPools({
    connectMs: config.timeouts.connectMs,
    listening,
    client: config.upstreamClient,
  });
  onClose('upstream connections', () => pools.close());
  const watch = createWatch<OpenCall>();
  const streams = createEventStreams();
  const live = openLive(streams, onLive);
  const peers = await openPeers({
    config,
    onClose,
    store,
    sealing,
    schedule,
    live,
    accounts,
    snapshot: snapshots.current,
    pool,
  });
  late.peers = peers;
  const inUse = () => snapshots.current().routes.ordered.map(({ connection }) => connection);
  const tokens = openTokens({
    store,
    sealingKey: sealing.key,
    schedule,
    inUse,
    connections: stored.connections,
    modelsMaxAgeMs: config.modelsMaxAgeMs,
    listening,
    log,
    onClose,
  });
  const balances = openBalances({ schedule, inUse, tokens, listening, onClose, now: Date.now });
  const mcp = openMcp({
    version,
    now: Date.now,
    gate: (exchange) => services.admitMcp(exchange),
    report: (error) => log.error({ error: describe(error) }, 'the MCP server failed'),
  });
  const a2a = openA2a({
    now: Date.now,
    gate: (exchange) => services.admitA2a(exchange),
    keyOf: ({ request }) => keyIn(request.headers, snapshots.current(), Date.now()),
    root,
    report: (error) => log.error({ error: describe(error) }, 'the A2A server failed'),
  });
  onClose('A2A server', a2a.close);
  const hosts = allowedHosts(config.host, config.allowedHosts);
  const tunnels = await openGatewayTunnels({
    config,
    store,
    listening,
    hosts,
    log,
    now: Date.now,
    onChange({ id, state }) {
      live.publish('services', () => ({ id: `tunnel-${id}`, state }));
      pool.workers?.tell({ kind: 'hosts', hosts: [...hosts] });
    },
  });
  onClose('tunnels', tunnels.close);
  const agents = openGatewayAgents({
    config,
    version,
    setups: agentRegistry.setups,
    locate: agentRegistry.locate,
    onChange: (id) => live.publish('services', () => ({ id: `agent-${id}` })),
  });
  onClose('agents', agents.close);
  late.restartAgent = (id) => {
    if (!agents.status(id).stopped) void agents.restart(id).catch(report);
  };
  const pages = openSiteFiles(siteFolder());
  const dashboard = createDashboard({
    files: pages,
    needsSetup: async () => !(await userStore(store).hasAdmin()),
    admit(exchange) {
      checkHost(exchange.request, hosts);
      services.admitDashboard(exchange);
    },
  });
  const services = await openServices({
    store,
    mcp,
    a2a,
    dashboardBuilt: pages.isBuilt,
    tunnels,
    agents: { ...agents, enabled: agentRegistry.enabled },
    probe: (url) => statusOf(url, TUNNEL_PROBE_MS),
    config,
    version,
    tokens,
    schedule,
    ledger,
    listening,
    report,
    now: Date.now,
    connections: stored.connections,
    calls: watch.members,
    workers: config.workers > 1 ? () => pool.workers : null,
    reload: snapshots.reload,
    usable: () => connectionCount(snapshots.current()),
    sharing: shared?.ready ?? null,
    publish: (event) => live.publish('services', () => event),
    conditionsOf: accounts.conditionsOf,
    events: () => late.events,
  });
  onClose('services', () => services.close());
  const { audit, alerts, events } = await openEventDelivery({
    config,
    log,
    onClose,
    store,
    sealing,
    schedule,
    listening,
    emitter: gatewayEvents.emitter,
    instance,
  });
  late.events = events;
  late.settingsChanged = () => void alerts.reload().catch(report);
  gatewayEvents.attach(events);
  await gatewayEvents.followAudit(config.dataDir, schedule);
  onClose(
    'removal of old requests',
    openRetention({
      store,
      days: config.ledgerDays,
      alone,
      schedule,
      now: Date.now,
      onPruned: (pruned) => audit.write(prunedEntry(pruned)),
      onError: (error) => log.error({ error: describe(error) }, 'old requests cannot be removed'),
    }),
  );
  const access = accessLog === null ? null : createAccessLog(accessLog);
  const processId = randomBytes(9).toString('base64url');
  const { metrics, otel } = await openMeasurements({
    config,
    log,
    onClose,
    version,
    store,
    snapshots,
    accounts,
    ledger,
    traces,
    services,
    events,
    sharing: shared?.ready ?? null,
    calls: watch.members,
    openRequests,
    pool,
    instance: processId,
  });
  const recorder = createRequestRecorder({
    ledger,
    traces,
    metrics,
    otel,
    access,
    live,
    peers,
    store,
    gatewayEvents,
    snapshot: snapshots.current,
  });
  const context = createDataPlaneContext({
    config,
    store,
    snapshots,
    ledger,
    responses,
    agents,
    agentRegistry,
    otel,
    access,
    pool,
    accounts,
    gate: services.gate,
    hosts,
    instance: processId,
    pools,
    record: recorder.record,
    tokens,
    watch,
  });
  const { management, setupCode } = await openManagementParts(input, {
    store,
    schedule,
    stored,
    sealing,
    snapshots,
    live,
    metrics,
    streams,
    services,
    context,
    balances,
    report,
    listening,
    events,
    gatewayEvents,
    tunnels,
    audit,
    alerts,
    agents,
    agentRegistry,
    pool,
  });
  return {
    context,
    management,
    mcp,
    a2a,
    access,
    dashboard,
    metrics,
    pool,
    services,
    setupCode,
    tunnels,
    startWorkers: () =>
      startWorkers(pool, input, {
        count: config.workers,
        start: {
          config,
          version,
          socketPath: socketPathIn(config.dataDir),
          sealingKey: sealing.key,
          instance: processId,
          ownerKey: context.owner.key,
        },
        log,
        accessLog,
        now: Date.now,
        limits: snapshots.limits,
        accounts,
        routing: context.routing,
        responses: context.responses,
        places: context.places,
        tokens,
        connection: (id) => inUse().find((connection) => connection.id === id) ?? null,
        agentModels: agentRegistry.load,
        hosts,
        serving: services.serving,
        onFinished: recorder.recordOfWorker,
        whenStored: ledger.journals.stored,
        journals: ledger.journals,
        addCounts: metrics.add,
        onChange: () => live.publish('services', () => ({ id: 'workers' })),
      }),
  };
}

/** The gateway's address on this machine. */
function ownRoot(config: Config, listening: ListeningAt): string {
  const { host, port } = listening() ?? config;
  return rootAt(host, port);
}

/** What is recorded of requests that were removed by their age. */
function prunedEntry({ before, requests }: { before: number; requests: number }) {
  return ownEntry('ledger.prune', null, { before: new Date(before).toISOString(), requests }, null);
}
