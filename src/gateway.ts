import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { type AuditLog, openAudit } from './access/audit.ts';
import { auditResource } from './access/audit-resource.ts';
import { openGatekeeper } from './access/gatekeeper.ts';
import { keyStore } from './access/store.ts';
import { userStore } from './access/users.ts';
import { backupsResource } from './backup/resource.ts';
import { type Config, isLoopback } from './config.ts';
import { connectionStore } from './connections/store.ts';
import { sendJson } from './http/send.ts';
import { type AnyExchange, createHttpServer, type Exchange } from './http/server.ts';
import { createWebSockets } from './http/websocket.ts';
import { rowOfEntry } from './ledger/entry-row.ts';
import { GatewayError } from './lib/error.ts';
import { randomText } from './lib/id.ts';
import type { Log } from './lib/log.ts';
import { createSchedule } from './lib/schedule.ts';
import { isManagementPath } from './management/app.ts';
import { auditEvents } from './management/audit-events.ts';
import { ownHosts } from './management/guards.ts';
import { createLive } from './management/live.ts';
import { type Management, openManagement } from './management/open.ts';
import { gatewayResources } from './management/resources.ts';
import { renderError } from './proxy/answer-error.ts';
import type { OpenCall } from './proxy/context.ts';
import { createPools } from './proxy/pools.ts';
import { createRefusedMembers } from './proxy/refused-members.ts';
import { safePath } from './proxy/routes.ts';
import { createSessions } from './proxy/socket-session.ts';
import { type SurfaceContext, serveModels } from './proxy/surface.ts';
import { serveUpgrade } from './proxy/upgrade.ts';
import { createWatch } from './proxy/watch.ts';
import { openResponses } from './responses/open.ts';
import { readRunFile, writeRunFile } from './run-file.ts';
import { openServices, type Services } from './services/open.ts';
import type { Snapshot } from './snapshot.ts';
import { describe, openLedger, openSnapshots, sealingKey } from './state.ts';
import { openStore } from './store/database.ts';
import { acquireDataDir } from './store/lock.ts';

const LAST_BYTES_MS = 250;

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
  /** Stops accepting, lets open requests finish for `drainMs`, ends the rest in their dialect, and flushes. */
  stop(): Promise<void>;
  /** Shows a line of the log, as JSON, to those who watch. */
  logged(line: string): void;
}

export interface GatewayInput {
  config: Config;
  log: Log;
  version: string;
}

/** Puts the parts together. The only file that knows them all. */
export function createGateway({ config, log, version }: GatewayInput): Gateway {
  const closers: (() => Promise<void> | void)[] = [];
  let logged = (_line: string): void => {};
  const onClose = (close: () => Promise<void> | void) => closers.unshift(close);

  return {
    async start() {
      try {
        return await open({ config, log, version, onClose, onLive: (listener) => (logged = listener) });
      } catch (error) {
        await closeAll(closers.splice(0)).catch(() => {});
        throw error;
      }
    },
    async stop() {
      await closeAll(closers.splice(0));
    },
    logged: (line) => logged(line),
  };
}

/** Closes everything, also when something fails. @throws the first failure */
async function closeAll(closers: readonly (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

interface OpenInput extends GatewayInput {
  /** Is given who shows lines of the log. */
  onLive(listener: (line: string) => void): void;
  onClose(close: () => Promise<void> | void): void;
}

async function open(input: OpenInput): Promise<Listening> {
  const { config, version, onClose } = input;
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const lock = await acquireDataDir(config.dataDir, () => readRunFile(config.dataDir));
  onClose(() => lock.release());
  let address: Address | null = null;
  const { context, management, services, setupCode } = await openContext(input, () => address);
  let draining = false;
  const onError = (error: unknown, exchange: AnyExchange | null) => {
    const path = exchange === null ? null : safePath(exchange.path);
    input.log.error({ path, error: describe(error) }, 'a request failed inside the gateway');
  };
  const webSockets = createWebSockets({ maxBytes: config.limits.bodyBytes });
  const sessions = createSessions(context, onError);
  const server = createHttpServer({
    limits: config.limits,
    renderError,
    onRequest: (exchange) => serve({ context, management, services }, exchange, draining),
    onUpgrade: (request, socket, head, id) =>
      serveUpgrade({ context, sessions, webSockets }, { request, socket, head, id }),
    onError,
  });
  const { host, port } = await server
    .listen(config.host, config.port)
    .catch((error: NodeJS.ErrnoException) => {
      throw listenError(error, config);
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
  onClose(() => rmSync(runFile, { force: true }));
  onClose(async () => {
    draining = true;
    await Promise.all([server.drain(config.drainMs), webSockets.drain(config.drainMs)]);
    await interruptAll(context);
    await webSockets.close();
    await server.close();
  });
  return { url, host, port, setupCode };
}

interface Address {
  host: string;
  port: number;
}

interface Opened {
  context: SurfaceContext;
  management: Management;
  services: Services;
  setupCode: string | null;
}

/** Opens the state that requests need. What it opens is closed in reverse order. */
async function openContext(
  { config, log, onClose, onLive, version }: OpenInput,
  listening: () => Address | null,
): Promise<Opened> {
  const store = await openStore(config.dataDir, { create: true });
  onClose(() => store.close());
  const ledger = openLedger(store, log);
  onClose(() => ledger.close());
  const schedule = createSchedule();
  const responses = openResponses(store, schedule, (error, lost) =>
    log.error({ error: describe(error), lost }, 'responses cannot be stored'),
  );
  onClose(() => responses.close());
  const sealing = await sealingKey(config, log);
  if (!isLoopback(config.host) && !(await userStore(store).hasAdmin())) throw openToAll(config.host);
  const [keys, connections] = [keyStore(store), connectionStore(store, sealing.key)];
  const snapshots = await openSnapshots({ store, keys, connections, config, schedule, log });
  onClose(snapshots.close);
  const pools = createPools(config.timeouts.connectMs);
  onClose(() => pools.close());
  const watch = createWatch<OpenCall>();
  const report = (error: unknown) => log.error({ error: describe(error) }, 'the management API has a fault');
  const live = createLive();
  onClose(() => live.close());
  onLive((line) => live.publish('logs', () => Object(JSON.parse(line))));
  const services = await openServices({
    ...{ store, config, version, connections, schedule, ledger, listening, report, now: Date.now },
    ...{ calls: watch.members, reload: snapshots.reload },
    usable: () => connectionsIn(snapshots.current()),
    publish: (event) => live.publish('services', () => event),
  });
  onClose(() => services.close());
  const context: SurfaceContext = {
    config,
    snapshot: snapshots.current,
    pools,
    watch,
    refused: createRefusedMembers(),
    record(entry) {
      ledger.record(entry);
      live.publish('requests', () => rowOfEntry(entry));
    },
    gate: services.gate,
    responses: responses.memory,
    instance: randomBytes(9).toString('base64url'),
    now: Date.now,
    owner: { key: `sk-local-${randomText(32)}`, principal: { keyId: 'local', name: 'local', models: null } },
  };
  const audit = openAuditLog(config, log);
  onClose(audit.close);
  const gatekeeper = await openGatekeeper({
    ...{ store, dataDir: config.dataDir, settings: config.api, ownerKey: context.owner.key },
    ...{ now: context.now, onError: report, schedule },
  });
  onClose(() => gatekeeper.close());
  const management = openManagement({
    ...{ gatekeeper, live, version, report, now: context.now },
    hosts: () => ownHosts(config.host, config.allowedHosts),
    resources: [
      ...gatewayResources({
        ...{ store, config, keys, connections, now: context.now },
        ...{ snapshot: snapshots.current, reload: snapshots.reload },
      }),
      ...services.resources,
      auditResource(audit),
      backupsResource({ dataDir: config.dataDir, storageKey: sealing, version, now: context.now }),
    ],
    audit: auditEvents(audit),
  });
  return { context, management, services, setupCode: gatekeeper.offer()?.code ?? null };
}

/** Connections in use, beside the demo. */
function connectionsIn({ routes }: Snapshot): number {
  return routes.ordered.filter(({ provider }) => provider.category !== 'demo').length;
}

function openAuditLog({ auditMonths, dataDir }: Config, log: Log): AuditLog {
  return openAudit({
    ...{ dataDir, retentionMonths: auditMonths, now: Date.now },
    onError: (error) => log.error({ error: describe(error) }, 'the audit log has a fault'),
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

function openToAll(host: string): GatewayError {
  const message = `host ${host} is reachable from other machines, which needs an admin password first: run \`gateway setup\`, or listen on 127.0.0.1`;
  return new GatewayError('invalid_request', message, { param: 'host' });
}

/** Every path of the gateway. */
function serve(
  { context, management, services }: Pick<Opened, 'context' | 'management' | 'services'>,
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
      const failing = services.failing();
      const ready = !draining && failing.length === 0;
      const status = draining ? 'draining' : ready ? 'ok' : 'not ready';
      const { revision } = context.snapshot();
      sendJson(exchange, ready ? 200 : 503, { status, revision, ...(failing.length > 0 ? { failing } : {}) });
      return true;
    }
    default:
      if (isManagementPath(exchange.path)) return management.serve(exchange);
      throw new GatewayError(
        'not_found',
        `Nothing is served at ${safePath(exchange.path).slice(0, 200)}: model endpoints are below /v1`,
      );
  }
}

function listenError(error: NodeJS.ErrnoException, { host, port }: Config): GatewayError {
  const hint =
    error.code === 'EADDRINUSE'
      ? `port ${port} is already in use: stop the other program, or choose another port with --port`
      : error.code === 'EACCES'
        ? `this user may not listen on port ${port}: choose one above 1023 with --port`
        : error.message;
  return new GatewayError('invalid_request', `Cannot listen on ${host}:${port}: ${hint}`, {
    param: 'port',
    cause: error,
  });
}
