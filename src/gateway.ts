import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type A2a, isA2aPath, openA2a } from './a2a/open.ts';
import { openAccessControl } from './access/access-control.ts';
import { ownEntry } from './access/audit/append.ts';
import { type AuditLog, openAudit } from './access/audit/audit.ts';
import { authenticate, presentedKeys } from './access/authenticate.ts';
import { openToAll } from './access/bootstrap.ts';
import { userStore } from './access/users/users.ts';
import { openGatewayAgents } from './agents/open-gateway.ts';
import { openAgentRegistry } from './agents/registry/open.ts';
import { alertEngine } from './alerts/engine.ts';
import { openAlerts } from './alerts/open.ts';
import { scheduleBackups } from './backup/scheduled.ts';
import { usedKeyLimits } from './budgets/used-key-limits.ts';
import { cacheShare, createAnswerCache } from './cache/answers.ts';
import type { Route } from './combos/routing/resolve.ts';
import { createRouting } from './combos/routing/routing.ts';
import { type Config, isLoopback, readVariable } from './config.ts';
import { openBalances } from './connections/accounts/balances.ts';
import { labelledKey } from './connections/credentials/seal.ts';
import { openLogins, openTokens } from './connections/open.ts';
import { openSiteFiles, siteFolder } from './dashboard/files.ts';
import { isDashboardPath } from './dashboard/paths.ts';
import { createDashboard, type Dashboard, leadToDashboard, wantsPage } from './dashboard/serve.ts';
import { createGatewayEvents, type GatewayEvents } from './events/emitters/gateway.ts';
import type { StoreOutage } from './events/emitters/outages.ts';
import { type Events, openEvents } from './events/open.ts';
import { builtInProcessor } from './events/processors/built-in.ts';
import { instanceName } from './events/types/own-event.ts';
import { hintOf } from './health/hints.ts';
import type { AnyExchange } from './http/exchange.ts';
import type { Listening as ListeningAt } from './http/outbound/outbound.ts';
import { statusOf } from './http/outbound/status.ts';
import { sendJson } from './http/send.ts';
import { allowedHosts, checkHost } from './http/server/allowed-hosts.ts';
import { configuredLimit } from './http/server/connection-limit.ts';
import { listenError } from './http/server/listen-error.ts';
import { createHttpServer, type Exchange } from './http/server/server.ts';
import { createWebSockets } from './http/server/websocket.ts';
import { rowOfEntry } from './ledger/entry-row.ts';
import { keyUsageBy, usageOfKey } from './ledger/key-usage.ts';
import { keyless } from './ledger/names.ts';
import { entryOfValues } from './ledger/report.ts';
import { openRetention } from './ledger/retention/open.ts';
import type { LedgerEntry } from './ledger/schema.ts';
import { type CloseFault, createClosers, type OnClose } from './lib/closers.ts';
import { GatewayError } from './lib/error.ts';
import { logFailure } from './lib/failure-log.ts';
import { makeFolder } from './lib/files/folder.ts';
import { randomText } from './lib/id.ts';
import { describe, type LineLog, type Log } from './lib/log.ts';
import { createSteadyClock } from './lib/time/clock.ts';
import { createSchedule, type Schedule } from './lib/time/schedule.ts';
import { isEventServicePath } from './management/events/connect/paths.ts';
import { statusOf as eventStatus } from './management/events/status.ts';
import { createIdempotencyStore } from './management/guard/idempotency.ts';
import { lateManagement } from './management/late.ts';
import { createEventStreams } from './management/live/event-streams.ts';
import { openLive } from './management/live/live.ts';
import { eventMetrics } from './management/metrics/event-metrics.ts';
import type { Management } from './management/open.ts';
import { openCliTools } from './management/open-cli-tools.ts';
import { isManagementPath, refusalWithHeaders } from './management/refusal.ts';
import type { ManagementApiInput } from './management-api.ts';
import { isMcpPath, type Mcp, openMcp } from './mcp/open.ts';
import { isBuiltIn } from './providers/provider.ts';
import { renderError } from './proxy/answer/error.ts';
import { traceText } from './proxy/dispatch/attempt-failures.ts';
import { isModelPath, loggedPath, methodsOf, safePath } from './proxy/inbound/routes.ts';
import { traceparentOf } from './proxy/metering/entry.ts';
import { createUpstreamQuirks } from './proxy/quirks/upstream-quirks.ts';
import type { OpenCall } from './proxy/request/open-call.ts';
import { createWatch } from './proxy/request/watch.ts';
import { type SurfaceContext, serveModels } from './proxy/surface.ts';
import { openPools } from './proxy/upstream/pools.ts';
import { createSessions } from './proxy/websocket/session.ts';
import { serveUpgrade } from './proxy/websocket/upgrade.ts';
import { openRecords } from './records.ts';
import { readRunFile, writeRunFile } from './run-file.ts';
import { announceNode } from './services/nodes.ts';
import { openServices, type Services } from './services/open.ts';
import { openPeerGateways, type PeerGateways } from './services/peer-gateways.ts';
import type { ProcessControl } from './services/process-resource.ts';
import type { Snapshot } from './snapshot.ts';
import { openSnapshots, sealingKey, sharedLimits, storedSettings } from './state.ts';
import { acquireDataDir } from './store/lock.ts';
import { refuseUnfinishedMove } from './store/move/move.ts';
import { openStoreAt } from './store/open.ts';
import {
  type AccessLog,
  createAccessLog,
  type ServedRequest,
  servedRequest,
} from './telemetry/access-log.ts';
import type { MeasuredConnection } from './telemetry/metrics/account-metrics.ts';
import { createGatewayMetrics, type GatewayMetrics } from './telemetry/metrics/gateway-metrics.ts';
import type { HttpSurface } from './telemetry/metrics/http-metrics.ts';
import type { OpenTelemetry, OpenTelemetryInput } from './telemetry/otlp/open.ts';
import { rootAt } from './tools/configuring/base-url.ts';
import { machineOf, machineVariables } from './tools/machine.ts';
import { openGatewayTunnels } from './tunnels/open.ts';
import type { Tunnels } from './tunnels/tunnels.ts';
import { latePlaces, lateResponses } from './workers/late-responses.ts';
import { listenWithWorkers, socketPathIn } from './workers/listen.ts';
import type { Workers } from './workers/open.ts';

const LAST_BYTES_MS = 250;
/** Longer than writers try to write what is left. */
const CLOSE_MS = 20_000;
/** How long all parts together may take to close, beside open requests. */
const CLOSE_ALL_MS = 30_000;
/** How much longer than another part the events may take: a trigger waits 29 seconds for what its receiver has. */
const EVENTS_EXTRA_MS = 15_000;
const MAX_SERVED_PATH = 2_000;
/** How long the way through a tunnel and back may take. */
const TUNNEL_PROBE_MS = 15_000;

export interface Listening {
  url: string;
  host: string;
  port: number;
  /** Makes the first admin; null once there is one. For the terminal, never for a log. */
  setupCode: string | null;
}

export interface Gateway {
  /** Opens everything and listens. @throws GatewayError with what to do about it */
  start(): Promise<Listening>;
  /**
   * Stops accepting, lets open requests finish for `drainMs`, ends the rest in their dialect, and flushes. Ends in bounded time.
   * @throws the first failure of a part to close, or an error that names the parts that did not close in time
   */
  stop(): Promise<void>;
  /** Shows a line of the log, as JSON, to those who watch. */
  publishLogLine(line: string): void;
}

export interface GatewayInput {
  config: Config;
  log: Log;
  /** Gets a line for each request; null for none. */
  accessLog?: LineLog | null;
  version: string;
  /** What may be done to this process through the management API; nothing when absent. */
  processControl?: ProcessControl | null;
  /** Ends a start that waits for a server that is away. */
  signal?: AbortSignal;
  /** How long one part may take to close, in milliseconds. Default 20,000. */
  closeMs?: number;
}

/** Puts the parts together. The only file that knows them all. */
export function createGateway(input: GatewayInput): Gateway {
  const { config, log, accessLog = null, closeMs = CLOSE_MS, processControl = null, signal, version } = input;
  const closers = createClosers();
  let logged = (_line: string): void => {};
  const closeAll = async (): Promise<void> => {
    const limits = { partMs: closeMs, totalMs: openRequestsMs(config) + CLOSE_ALL_MS };
    const faults = collectCloseFaults(log);
    await closers.closeAll(limits, faults.add);
    faults.throwFirst();
  };

  return {
    async start() {
      try {
        return await open({
          config,
          log,
          accessLog,
          version,
          processControl,
          ...(signal === undefined ? {} : { signal }),
          onClose: closers.add,
          onLive: (listener) => (logged = listener),
        });
      } catch (error) {
        await closeAll().catch(() => {});
        throw error;
      }
    },
    stop: closeAll,
    publishLogLine: (line) => logged(line),
  };
}

/** How long requests that are open when the gateway is to stop may take, in milliseconds. */
function openRequestsMs({ drainDelayMs, drainMs }: Config): number {
  return drainDelayMs + drainMs;
}

/** Logs each part that did not close. One that could not reach the database has not failed: what must not be lost waits on the disk. */
function collectCloseFaults(log: Log) {
  const failures: unknown[] = [];
  const late: string[] = [];
  return {
    add(fault: CloseFault): void {
      const { name: part } = fault;
      if (fault.kind === 'late') {
        late.push(part);
        log.error({ part, waited_ms: fault.waitedMs }, 'a part of the gateway did not close in time');
        return;
      }
      const { error } = fault;
      if (error instanceof GatewayError && error.code === 'database_unreachable') {
        log.warn({ part, reason: error.message }, 'a part of the gateway closed without the database');
        return;
      }
      failures.push(error);
      log.error({ part, error: describe(error) }, 'a part of the gateway could not be closed');
    },
    /** @throws the first failure; without one, an error that names the parts that did not close in time */
    throwFirst(): void {
      if (failures.length > 0) throw failures[0];
      if (late.length > 0) throw new Error(`These parts did not close in time: ${late.join(', ')}`);
    },
  };
}

interface OpenInput extends GatewayInput {
  /** Is given who shows lines of the log. */
  onLive(listener: (line: string) => void): void;
  onClose: OnClose;
}

async function open(input: OpenInput): Promise<Listening> {
  const { config, version, onClose } = input;
  makeFolder(config.dataDir);
  const lock = await acquireDataDir(config.dataDir, () => readRunFile(config.dataDir));
  onClose('data directory', () => lock.release());
  let address: Address | null = null;
  const { setupCode, tunnels, access, metrics, openWorkerPool, ...opened } = await openContext(
    input,
    () => address,
    () => server.inFlight(),
  );
  const { context } = opened;
  let draining = false;
  const onError = (error: unknown, exchange: AnyExchange | null) => {
    const path = exchange === null ? null : safePath(exchange.path);
    input.log.error({ path, error: describe(error) }, 'a request failed inside the gateway');
  };
  const webSockets = createWebSockets({ maxBytes: config.limits.bodyBytes });
  const sessions = createSessions(
    {
      ...context,
      record(entry, trace, origin) {
        context.record(entry, trace, origin);
        access?.write(messageOf(origin.exchange, entry));
      },
    },
    onError,
  );
  /** So that who asks finds what the workers have answered before. */
  const afterFlush = (answer: () => Promise<void> | true) =>
    opened.pool.workers === null
      ? answer()
      : opened.pool.workers.flush().then(async () => void (await answer()));
  const server = createHttpServer({
    limits: config.limits,
    renderError: (error, path, id, received) =>
      isManagementPath(path) && methodsOf(path) === null
        ? refusalWithHeaders(error, id)
        : renderError(error, path, id, received),
    connections: { ...configuredLimit(config, input.log), isProbe: (path) => probes.has(path) },
    fastPath: { takes: isModelPath, onRequest: (exchange) => serveModels(context, exchange) },
    onRequest: (exchange) => serve({ ...opened, afterFlush }, exchange, draining),
    onHttp2Request: (exchange) => opened.management.eventService.serve(exchange),
    onUpgrade: (request, socket, head, id) =>
      serveUpgrade({ context, sessions, webSockets }, { request, socket, head, id }),
    onClosed(exchange) {
      const surface = surfaceOf(exchange.path);
      const status = exchange.response.headersSent ? exchange.response.statusCode : null;
      metrics.countHttp(surface, exchange.request.method, status);
      access?.write(
        servedRequest(exchange, { path: loggedPath(exchange.path), status, isProbe: surface === 'probes' }),
      );
    },
    onError,
  });
  onClose('HTTP server', () => server.close());
  const workers = config.workers > 1 ? await openWorkerPool() : null;
  const { host, port } = await (workers === null
    ? server.listen(config.host, config.port)
    : listenWithWorkers(config, server, workers, (at) => {
        address = at;
      })
  ).catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, config.host, config.port);
  });
  address = { host, port };
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const started = new Date(context.now()).toISOString();
  const runFile = writeRunFile(config.dataDir, {
    pid: process.pid,
    host,
    port,
    url,
    version,
    key: context.owner.key,
    started_at: started,
  });
  onClose('run file', () => rmSync(runFile, { force: true }));
  onClose(
    'open requests',
    async () => {
      draining = true;
      if (config.drainDelayMs > 0) await delay(config.drainDelayMs);
      opened.management.endStreams();
      await Promise.all([
        workers?.drain(config.drainMs),
        server.drain(config.drainMs),
        webSockets.drain(config.drainMs),
      ]);
      await interruptAll(context);
      await webSockets.close();
      await server.close();
      await workers?.close();
    },
    openRequestsMs(config),
  );
  await tunnels.resume();
  return { url, host, port, setupCode };
}

/** For how long a start waits for a PostgreSQL server that is away. */
const DATABASE_WAIT_MS = 30_000;
/** What is answered even when there are too many clients. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

interface Address {
  host: string;
  port: number;
}

interface Opened {
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
  setupCode: string | null;
  pool: { readonly workers: Workers | null };
  /** Starts the processes that serve the data plane beside this one. They listen when they are told to. */
  openWorkerPool(): Promise<Workers>;
}

/** Opens the state that requests need. What it opens is closed in reverse order. */
async function openContext(
  { accessLog, config, log, onClose, onLive, processControl = null, signal, version }: OpenInput,
  listening: ListeningAt,
  openRequests: () => number,
): Promise<Opened> {
  let onStore = (_outage: StoreOutage | null): void => {};
  /** Null until there are some, and where this process serves all. */
  const pool: { workers: Workers | null } = { workers: null };
  const store = await openStoreAt(config, {
    check: true,
    patience: {
      forMs: DATABASE_WAIT_MS,
      onWait: (reason) =>
        log.warn(
          { reason, for_ms: DATABASE_WAIT_MS },
          'the database does not answer: the start waits for it',
        ),
      ...(signal === undefined ? {} : { signal }),
    },
    onOutage(outage) {
      if (outage === null) log.info('the database answers again');
      else
        log.error(
          { reason: outage.message },
          'the database does not answer: requests go on with the settings in memory, and their records wait',
        );
      onStore(outage);
    },
    onError: (error) =>
      log.error({ error: describe(error) }, 'the write-ahead log of the database cannot be checkpointed'),
    onWait: () => log.warn('another process has locked the database; writes wait until it is unlocked'),
  });
  onClose('store', async () => {
    await store.close();
    const rows = store.kind === 'postgres' ? store.server.waiting() : 0;
    if (rows > 0) log.warn({ rows_waiting: rows }, 'records wait in outbox.db for the next start');
  });
  const schedule = createSchedule();
  const instance = instanceName(hostname());
  if (store.kind === 'postgres') {
    const url = () => (listening() === null ? null : ownRoot(config, listening));
    const onError = (error: unknown) =>
      log.warn({ error: describe(error) }, 'this gateway could not renew its entry in the database');
    const leave = await announceNode({
      store,
      schedule,
      host: hostname(),
      version,
      url,
      now: Date.now,
      onError,
    });
    onClose('entry among the gateways', () => leave().catch(onError));
  }
  // After the entry: a command that needs all gateways stopped sees this one, or this one sees what it did.
  await refuseUnfinishedMove(store);
  const sealing = await sealingKey(store, config, log);
  const gatewayEvents = createGatewayEvents({
    log,
    instance,
    now: Date.now,
    connectionOf: (id) => connectionIn(snapshots.current(), id),
  });
  let peers: PeerGateways | null = null;
  const rowsWaiting = () => (store.kind === 'postgres' ? store.server.waiting() : 0);
  onStore = (outage) => gatewayEvents.storeChanged(outage, rowsWaiting());
  const { accounts, alone, ledger, responses, storedStates, traces } = await openRecords({
    store,
    config,
    log,
    schedule,
    onClose,
    key: sealing.responses,
    onHealth(changed) {
      gatewayEvents.healthChanged(changed);
      const hint = peers === null ? null : hintOf(changed, Date.now());
      if (hint !== null) peers?.accountChanged(hint);
      pool.workers?.tellHealthState(changed);
    },
  });
  gatewayEvents.rememberHealth(storedStates);
  const flushWorkers = async () => pool.workers?.flush();
  /** Writes what has ended, in the workers too. */
  const flushLedger = async () => {
    await flushWorkers();
    return ledger.flush();
  };
  if (!isLoopback(config.host) && !(await userStore(store).hasAdmin())) throw openToAll(config.host);
  const stored = storedSettings(store, sealing.key, log);
  let restartAgent = (_id: string): void => {};
  const agentRegistry = openAgentRegistry({
    store,
    keys: stored.keys,
    dataDir: config.dataDir,
    machine: machineOf(Object.fromEntries(machineVariables.map((name) => [name, readVariable(name)]))),
    allowedCommands: config.agentCommands,
    root: () => ownRoot(config, listening),
    onChange: (id) => restartAgent(id),
  });
  const onConnections = accounts.adopt;
  const shared = await sharedLimits(config, store, schedule, log, (reason, failureMode) =>
    gatewayEvents.sharingChanged({ reason, failureMode }),
  );
  onClose('shared limits', () => shared?.close());
  let onSettings = (): void => {};
  const snapshots = await openSnapshots({
    ...stored,
    store,
    ledger: { flush: flushLedger },
    config,
    shared,
    agentModels: agentRegistry.load,
    schedule,
    log,
    onConnections,
    onBudget: gatewayEvents.budgetReached,
    onChange(before, after) {
      gatewayEvents.settingsChanged(before, after);
      if (before.revision !== after.revision) peers?.settingsChanged(after.revision);
      onSettings();
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
  const report = (error: unknown) => logFailure(log, error, 'the management API failed');
  const streams = createEventStreams();
  const live = openLive(streams, onLive);
  if (store.kind === 'postgres' && config.redis !== null) {
    const refresh = () => void store.latestRevision().catch(() => {});
    peers = await openPeerGateways({
      url: config.redis.url,
      node: store.node,
      // All gateways of a database have this key, and no other has.
      group: labelledKey(sealing, 'modelgate/neighbours/v1').toString('base64url').slice(0, 22),
      schedule,
      steady: createSteadyClock(),
      watching: () => live.watching() > 0,
      onSettings: (revision) => (revision === null || revision > store.revision()) && refresh(),
      onRequest: (row) => live.publish('requests', () => row),
      onAccount(hint) {
        if (connectionIn(snapshots.current(), hint.connectionId) === null) return;
        accounts.applyHint(hint);
        pool.workers?.tell({ kind: 'hint', hint });
      },
    });
    onClose('messages between gateways', peers.close);
  }
  const workerLoad = () => pool.workers?.load() ?? null;
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
    root: () => ownRoot(config, listening),
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
  restartAgent = (id) => {
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
  const started: { events: Events | null } = { events: null };
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
    usable: () => connectionsIn(snapshots.current()),
    sharing: shared?.ready ?? null,
    publish: (event) => live.publish('services', () => event),
    conditionsOf: accounts.conditionsOf,
    events: () => started.events,
  });
  onClose('services', () => services.close());
  const audit = openAuditLog(config, log);
  onClose('audit log', audit.close);
  const alerts = await openAlerts({
    store,
    sealingKey: sealing.key,
    commandsByApi: config.alertCommandsByApi,
    privateNetworks: config.privateEventTargets,
    smtp: config.smtp,
    dataDir: config.dataDir,
    path: readVariable('PATH'),
    instance,
    listening,
    log,
    now: Date.now,
  });
  const events = await openEvents({
    additions: alerts,
    privateNetworks: config.privateEventTargets,
    emitter: gatewayEvents.emitter,
    builtIn: (name) => builtInProcessor(name, { audit, log }) ?? alerts.processor(name),
    store,
    schedule,
    dataDir: config.dataDir,
    listening,
    log,
    now: Date.now,
    random: Math.random,
    redis: config.redis,
    eventStorage: config.eventStorage,
    fallbacks: config.eventFallbacks,
    sharedDatabase: config.sharedEventDatabase,
    variable: readVariable,
  });
  onClose('events', () => events.close(), EVENTS_EXTRA_MS);
  started.events = events;
  alerts.attach(alertEngine(events));
  onSettings = () => void alerts.reload().catch(report);
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
  const access = accessLog == null ? null : createAccessLog(accessLog);
  const metrics = createGatewayMetrics({
    version,
    connections: () => snapshots.current().routes.ordered.map(measuredConnection),
    accounts: {
      ...accounts,
      inFlight: (id) =>
        accounts.inFlight(id) + (workerLoad()?.inFlight.find(([one]) => one === id)?.[1] ?? 0),
    },
    budgets: snapshots.limits.inForce,
    ledger,
    traces,
    calls() {
      const { open, waiting } = openCalls(watch.members());
      const workers = workerLoad();
      return { open: open + (workers?.open ?? 0), waiting: waiting + (workers?.waiting ?? 0) };
    },
    workers: () => pool.workers,
    tracesDropped: () => otel?.dropped() ?? 0,
    openRequests: () => openRequests() + (workerLoad()?.http ?? 0),
    isReady: () => services.readiness().failing.length === 0,
    store: () => ({
      up: store.kind === 'sqlite' || store.server.outage() === null,
      rowsWaiting: rowsWaiting(),
    }),
    sharing: shared?.ready ?? null,
    now: Date.now,
  });
  onClose('metrics', metrics.close);
  const processId = randomBytes(9).toString('base64url');
  const otel: OpenTelemetry | null = await openTelemetryOf(config, {
    version,
    instance: processId,
    families: async () => [...metrics.families(), ...eventMetrics(await eventStatus(events.opened()))],
    addressOf: (id) => upstreamAddress(snapshots.current(), id),
    log,
    now: Date.now,
  });
  onClose('OpenTelemetry', () => otel?.close());
  /** Shows a request that is over to those who watch, wherever it was served. */
  const announce = (entryOf: () => LedgerEntry, traceparent: string | null): void => {
    const row = () => {
      const entry = entryOf();
      return rowOfEntry(entry, nameOfKey(snapshots.current(), entry.keyId));
    };
    live.publish('requests', () => (peers === null ? row() : { ...row(), node: store.node }));
    peers?.requestEnded(row);
    gatewayEvents.requestFinished(entryOf, traceparent);
  };
  const context: SurfaceContext = {
    config,
    snapshot: snapshots.current,
    routing: createRouting({
      healthView: accounts,
      random: Math.random,
      now: Date.now,
      onAffinityEntry: (session, entry) => pool.workers?.tell({ kind: 'session', place: { session, entry } }),
    }),
    pools,
    watch,
    answers: createAnswerCache({ ...cacheShare(config), now: createSteadyClock() }),
    ...createUpstreamQuirks(),
    limits: snapshots.limits,
    tokens,
    accounts,
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
    onIdentified: ({ request }, { keyId, name }) => access?.identify(request, keyId, name),
    async usageOf(keyId, since) {
      await flushWorkers();
      return {
        ...(await usageOfKey(store, keyId, since)),
        limits: await usedKeyLimits(store, snapshots.limits, keyId, Date.now()),
      };
    },
    usageBy: (keyId, query) => keyUsageBy(store, keyId, query),
    async replaceEstimate(id, useOf) {
      await flushWorkers();
      return ledger.replaceEstimate(id, useOf);
    },
    handover: null,
    gate: services.gate,
    askAgent(request) {
      agentRegistry.check(request);
      return agents.ask(request);
    },
    responses: config.workers > 1 ? lateResponses(responses.memory, flushWorkers) : responses.memory,
    places: config.workers > 1 ? latePlaces(responses.places, flushWorkers) : responses.places,
    hosts,
    traceparent:
      otel === null || config.otel?.traces === null
        ? null
        : (exchange, attempt) => otel.traceparent(exchange.id, traceparentOf({ exchange }), attempt),
    instance: processId,
    now: Date.now,
    owner: { key: `sk-local-${randomText(32)}`, principal: { keyId: 'local', name: 'local', models: null } },
  };
  const { management, setupCode } = await openManagementParts(
    { config, log, version, onClose, processControl },
    {
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
    },
  );
  const openWorkerPool = async (): Promise<Workers> => {
    const { openWorkers } = await import('./workers/open.ts');
    pool.workers = openWorkers({
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
      accessLog: accessLog ?? null,
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
      onFinished(row, details) {
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
      whenStored: ledger.journals.stored,
      journals: ledger.journals,
      addCounts: metrics.add,
      onChange: () => live.publish('services', () => ({ id: 'workers' })),
    });
    onClose('workers', () => pool.workers?.close());
    return pool.workers;
  };
  return {
    context,
    management,
    mcp,
    a2a,
    access,
    dashboard,
    metrics,
    openWorkerPool,
    pool,
    services,
    setupCode,
    tunnels,
  };
}

type ManagementParts = Omit<
  ManagementApiInput,
  | 'accessControl'
  | 'cliTools'
  | 'config'
  | 'idempotency'
  | 'log'
  | 'logins'
  | 'nameOfKey'
  | 'processControl'
  | 'version'
> & { gatewayEvents: GatewayEvents; schedule: Schedule };

/** Who may use the management API and what runs beside it; the API itself is loaded with its first request. */
async function openManagementParts(
  { config, log, onClose, processControl = null, version }: Omit<OpenInput, 'onLive'>,
  parts: ManagementParts,
): Promise<Pick<Opened, 'management' | 'setupCode'>> {
  const { audit, context, gatewayEvents, report, schedule, sealing, services, snapshots } = parts;
  const { store, stored } = parts;
  const taskFailed = (error: unknown, task: string) =>
    logFailure(log, error, 'a periodic task failed', { task });
  schedule.every({ name: 'old audit records', everyMs: 3_600_000, run: audit.retain, onError: taskFailed });
  const accessControl = await openAccessControl({
    store,
    dataDir: config.dataDir,
    settings: config.api,
    ownerKey: context.owner.key,
    now: context.now,
    steady: createSteadyClock(),
    onError: report,
    schedule,
  });
  onClose('logins and tokens', () => accessControl.close());
  const endScheduled = scheduleBackups(schedule, config.backups, {
    dataDir: config.dataDir,
    server: store.kind === 'postgres' && config.database !== null ? { url: config.database, store } : null,
    storageKey: sealing,
    version,
    now: context.now,
    log,
  });
  onClose('scheduled backups', endScheduled);
  const { close, ...logins } = openLogins({
    store,
    sealingKey: sealing.key,
    schedule,
    tasks: services.tasks,
    now: context.now,
    listening: parts.listening,
    reload: snapshots.reload,
  });
  onClose('logins at providers', close);
  const idempotency = createIdempotencyStore({ store, storageKey: sealing, now: context.now });
  schedule.every({ name: 'kept answers', everyMs: 3_600_000, run: idempotency.sweep, onError: taskFailed });
  const cliTools = openCliTools({
    config,
    store,
    keys: stored.keys,
    hosts: context.hosts,
    listening: parts.listening,
    schedule,
    log,
    now: context.now,
    onStatuses: gatewayEvents.toolsFound,
  });
  const management = lateManagement(async () => {
    const { openManagementApi } = await import('./management-api.ts');
    return openManagementApi({
      ...parts,
      accessControl,
      cliTools,
      config,
      idempotency,
      log,
      logins,
      nameOfKey,
      processControl,
      version,
    });
  }, report);
  onClose('management API', management.close);
  return { management, setupCode: accessControl.offer()?.code ?? null };
}

/** A connection in use, as it is named to people. */
function connectionIn({ routes }: Snapshot, id: string): { name: string; provider: string } | null {
  const route = routes.byName.get(id);
  return route === undefined ? null : { name: route.connection.name, provider: route.provider.id };
}

/** The first valid gateway key that a request carries; null for none. */
function keyIn(
  headers: IncomingHttpHeaders,
  { keys }: Snapshot,
  now: number,
): { id: string; text: string } | null {
  for (const text of presentedKeys(headers)) {
    const principal = authenticate(keys.byHash, [text], now);
    if (principal !== null) return { id: principal.keyId, text };
  }
  return null;
}

/** What a key is called; who asks without one is named by the id. */
function nameOfKey({ keys }: Snapshot, id: string | null): string | null {
  const name = id === null ? null : keys.byId.get(id)?.name;
  return name ?? keyless.find((one) => one === id) ?? null;
}

/** The gateway's address on this machine. */
function ownRoot(config: Config, listening: ListeningAt): string {
  const { host, port } = listening() ?? config;
  return rootAt(host, port);
}

/** Connections in use, beside the demo. */
function connectionsIn({ routes }: Snapshot): number {
  return routes.ordered.filter(({ provider }) => !isBuiltIn(provider)).length;
}

/** What is recorded of requests that were removed by their age. */
function prunedEntry({ before, requests }: { before: number; requests: number }) {
  return ownEntry('ledger.prune', null, { before: new Date(before).toISOString(), requests }, null);
}

function openAuditLog({ auditMonths, dataDir }: Config, log: Log): AuditLog {
  return openAudit({
    dataDir,
    retentionMonths: auditMonths,
    now: Date.now,
    onError: (error) => log.error({ error: describe(error) }, 'the audit log failed'),
  });
}

/** Ends what the drain left over, each with the error of its dialect, and gives the last bytes a moment to leave. */
async function interruptAll({ watch }: SurfaceContext): Promise<void> {
  const error = new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
    retryAfter: 5,
  });
  const left = watch.members();
  for (const call of left) call.interrupt(error);
  if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, LAST_BYTES_MS));
}

/** Which part serves a path, as `serve` decides it. */
function surfaceOf(whole: string): HttpSurface {
  // What is served has short paths, and strangers send thousands of segments.
  const path = whole.slice(0, MAX_SERVED_PATH);
  if (isModelPath(path)) return 'models';
  if (probes.has(path) || path === '/api/hello' || path === '/metrics') return 'probes';
  if (isManagementPath(path) || isEventServicePath(path)) return 'management';
  if (isMcpPath(path)) return 'mcp';
  return isA2aPath(path) ? 'a2a' : 'other';
}

/** Sending telemetry by OTLP, whose code is loaded only where it is wanted; null where it is not. */
async function openTelemetryOf(
  { otel }: Config,
  input: Omit<OpenTelemetryInput, 'settings'>,
): Promise<OpenTelemetry | null> {
  if (otel === null) return null;
  const { openTelemetry } = await import('./telemetry/otlp/open.ts');
  return openTelemetry({ ...input, settings: otel });
}

/** Where the upstream of a connection is; null for none, and for the demo. */
function upstreamAddress({ routes }: Snapshot, id: string): { address: string; port: number } | null {
  const route = routes.byName.get(id);
  const base = route?.connection.baseUrl ?? route?.provider.baseUrl ?? null;
  if (base === null || !URL.canParse(base)) return null;
  const { hostname: address, port, protocol } = new URL(base);
  return { address, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}

/** What is logged of a request that came as a message of a WebSocket, whose bytes are not its own. */
function messageOf({ clock, id, path, request }: AnyExchange, { status }: LedgerEntry): ServedRequest {
  return {
    id,
    request,
    path: loggedPath(path),
    status,
    durationMs: performance.now() - clock,
    bytesOut: null,
    isProbe: false,
  };
}

/** A connection as figures name it. */
function measuredConnection({ connection, provider }: Route): MeasuredConnection {
  return { id: connection.id, name: connection.name, provider: provider.id };
}

function openCalls(calls: readonly OpenCall[]): { open: number; waiting: number } {
  return { open: calls.length, waiting: calls.filter(({ waits }) => waits === true).length };
}

/** Every path of the gateway. */
function serve(
  {
    a2a,
    context,
    dashboard,
    afterFlush,
    management,
    mcp,
    services,
  }: Pick<Opened, 'a2a' | 'context' | 'dashboard' | 'management' | 'mcp' | 'services'> & {
    afterFlush(answer: () => Promise<void> | true): Promise<void> | true;
  },
  exchange: Exchange,
  draining: boolean,
): Promise<void> | true {
  const served = serveModels(context, exchange);
  if (served !== null) return served;
  switch (exchange.path) {
    case '/healthz':
    case '/api/hello':
      sendJson(exchange, 200, { status: 'ok' });
      return true;
    case '/readyz': {
      const { checks, failing } = services.readiness();
      const ready = !draining && failing.length === 0;
      const status = draining ? 'draining' : ready ? 'ok' : 'not ready';
      const { revision } = context.snapshot();
      sendJson(exchange, ready ? 200 : 503, {
        status,
        revision,
        ...(failing.length > 0 ? { failing, checks } : {}),
      });
      return true;
    }
    case '/metrics':
      return afterFlush(() => management.serveMetrics(exchange));
    default:
      if (isManagementPath(exchange.path)) return afterFlush(() => management.serve(exchange));
      if (isEventServicePath(exchange.path)) return management.eventService.serve(exchange);
      if (isMcpPath(exchange.path)) return mcp.serve(exchange, management);
      if (isDashboardPath(exchange.path)) return dashboard.serve(exchange);
      if (exchange.path === '/' && wantsPage(exchange.request.headers)) {
        leadToDashboard(exchange);
        return true;
      }
      if (isA2aPath(exchange.path)) return a2a.serve(exchange, management);
      throw new GatewayError(
        'not_found',
        `Nothing is served at ${safePath(exchange.path).slice(0, 200)}: model endpoints are below /v1`,
      );
  }
}
