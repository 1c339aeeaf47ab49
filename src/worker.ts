import { budgetStore } from './budgets/store.ts';
import { cacheShare, createAnswerCache } from './cache/answers.ts';
import { createRouting } from './combos/routing/routing.ts';
import type { Target } from './combos/target.ts';
import type { Trace } from './combos/trace.ts';
import type { Config } from './config.ts';
import { createTokenCache } from './connections/credentials/access-tokens.ts';
import type { StoredHealthState } from './health/account.ts';
import { createAccounts } from './health/accounts.ts';
import type { AnyExchange } from './http/exchange.ts';
import { configuredLimit } from './http/server/connection-limit.ts';
import { createForwarder, type Forwarder } from './http/server/forward.ts';
import { createHttpServer, type Exchange } from './http/server/server.ts';
import { JOURNAL_MS, journalFault, journalFolder, openJournal } from './ledger/journal.ts';
import { ledgerColumns } from './ledger/record.ts';
import { GatewayError } from './lib/error.ts';
import { createLineLog, createLog, describe, type Log, type LogOptions } from './lib/log.ts';
import { createSteadyClock } from './lib/time/clock.ts';
import { createSchedule } from './lib/time/schedule.ts';
import { isManagementPath, refusalWithHeaders } from './management/refusal.ts';
import { renderError } from './proxy/answer/error.ts';
import { traceText } from './proxy/dispatch/attempt-failures.ts';
import { loggedPath, matchPath, methodsOf, safePath } from './proxy/inbound/routes.ts';
import { traceparentOf } from './proxy/metering/entry.ts';
import { createUpstreamQuirks } from './proxy/quirks/upstream-quirks.ts';
import type { LedgerFacts } from './proxy/request/facts.ts';
import type { OpenCall } from './proxy/request/open-call.ts';
import { createWatch } from './proxy/request/watch.ts';
import { type SurfaceContext, serveModels } from './proxy/surface.ts';
import { openPools } from './proxy/upstream/pools.ts';
import { createDataPlane } from './services/data-plane.ts';
import { followSettings, storedSettings } from './state.ts';
import { openSettingsView } from './store/settings-view.ts';
import { createAccessLog, servedRequest } from './telemetry/access-log.ts';
import { createProcessCounter } from './telemetry/metrics/process-counts.ts';
import { outgoingTraceparent, traceContext } from './telemetry/otlp/trace-context.ts';
import { boundedTell } from './workers/bounded-tell.ts';
import type { OwnerEvent, RequestSpan, WorkerLoad, WorkerStart } from './workers/message.ts';
import { type OwnerChannel, type OwnerChannelInput, receiveStart } from './workers/owner-channel.ts';
import { openRemoteLimits } from './workers/remote-limits.ts';
import { remotePlaces, remoteResponses } from './workers/remote-responses.ts';
import { createRequestRecords, type RequestRecords } from './workers/request-records.ts';

/**
 * The program of one worker of `gateway serve --workers N`: the data plane, on the port that it shares with the others. What it
 * would write it tells the owner, the process that has started it; what it does not serve it passes on there.
 */

/** For the last bytes of interrupted answers to leave. */
const LAST_BYTES_MS = 250;
const LOAD_MS = 250;
/** What is answered even when there are too many clients. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

// Without its owner a worker would serve with settings that nobody can change any more.
const { connect, start } = await receiveStart(() => process.exit(1));
// The owner decides when a worker ends: a signal to the whole process group reaches both.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
await open(start, connect);

async function open(
  { config, count, number, ...given }: WorkerStart,
  connectOwner: (input: OwnerChannelInput) => OwnerChannel,
): Promise<void> {
  const now = Date.now;
  const schedule = createSchedule();
  /** It has taken over how everything was when it joined; what it is told before that is newer, and waits. */
  const begun = Promise.withResolvers<void>();
  let early: OwnerEvent[] | null = [];
  const owner = connectOwner({
    hear,
    onError: (error) => log.error({ error: describe(error) }, 'a message of the gateway was not understood'),
    answers: {
      async reload() {
        await snapshots.reload();
        return null;
      },
      async flush() {
        // Answers that came with the question are being taken.
        await new Promise(setImmediate);
        limits.giveBack();
        tellAll();
        return owner.ask('flushed', null);
      },
      running: async () => watch.members().flatMap((call) => call.describe?.() ?? []),
      cache: async () => answers.stats(),
      clearCache: async () => answers.clear(),
      async serve() {
        await begun.promise;
        plane.start();
        return null;
      },
      async stopServing({ again, ms }) {
        await begun.promise;
        return plane.stop(ms, again);
      },
      drain: async ({ ms }) => {
        await drain(ms);
        return null;
      },
      async end() {
        await end();
        return null;
      },
    },
  });
  const { isFull, tell, tellUnlessFull, untold } = boundedTell(owner);
  /** Finished requests that the owner was not told of, and that the journal has. */
  let inJournalAlone = false;
  const tellLine = (line: string): void => {
    // What was logged first stands first.
    records?.flush();
    tell({ kind: 'logged', line });
  };
  /** Null until it is open. */
  let records: RequestRecords | null = null;
  const log = createLog(linesOf(config, tellLine)).child({ worker: number });
  const view = await openSettingsView(config, (outage) => {
    if (outage !== null) log.error({ reason: outage.message }, 'the database does not answer this worker');
  });
  const accounts = createAccounts({
    now,
    onChange(changed) {
      if (!taking) owner.tell({ kind: 'health-state', changed });
    },
    onLimits: (connectionId, limits) => owner.tell({ kind: 'limits', connectionId, limits }),
  });
  let taking = false;
  const limits = await openRemoteLimits({ owner, budgets: budgetStore(view), now });
  const snapshots = await followSettings({
    ...storedSettings(view, Buffer.from(given.sealingKey), log),
    store: view,
    config,
    limits,
    agentModels: () => owner.ask('agentModels', null),
    schedule,
    log,
    onConnections: accounts.adopt,
    onChange() {},
  });
  const routing = createRouting({
    healthView: accounts,
    random: Math.random,
    now,
    onAffinityEntry: (session, entry) => void tell({ kind: 'session', place: { session, entry } }),
  });
  const hosts = new Set<string>();
  function hear(event: OwnerEvent): void {
    if (early !== null) {
      early.push(event);
      return;
    }
    switch (event.kind) {
      case 'health-state':
        takeHealthState(event.changed);
        return;
      case 'hint':
        accounts.applyHint(event.hint);
        return;
      case 'session':
        routing.takeSession(event.place.session, event.place.entry);
        return;
      case 'hosts':
        takeHosts(event.hosts);
    }
  }
  function takeHealthState(changed: StoredHealthState): void {
    taking = true;
    accounts.take(changed);
    taking = false;
  }
  function takeHosts(names: readonly string[]): void {
    hosts.clear();
    for (const name of names) hosts.add(name);
  }
  const watch = createWatch<OpenCall>();
  const journal = openJournal({
    folder: journalFolder(config.dataDir),
    name: given.journal,
    columns: ledgerColumns,
    async whenWritten() {
      requestRecords.flush();
      const question = inJournalAlone ? 'writtenWithJournal' : 'written';
      inJournalAlone = false;
      try {
        await owner.ask(question, null);
      } catch (error) {
        inJournalAlone ||= question === 'writtenWithJournal';
        throw error;
      }
    },
    onError: (error) => journalFault(log, error),
  });
  const requestRecords = createRequestRecords({
    tell,
    tellUnlessFull,
    journal,
    leftInJournal() {
      inJournalAlone = true;
    },
  });
  records = requestRecords;
  schedule.every({ name: 'journal of requests', everyMs: JOURNAL_MS, run: journal.rotate });
  const counter = createProcessCounter();
  const isTraced = config.otel !== null;
  const answers = createAnswerCache({ ...cacheShare(config), now: createSteadyClock() });
  const plane = createDataPlane({ running: false, calls: watch.members, now, onChange() {} });
  const access = config.accessLog
    ? createAccessLog(createLineLog(linesOf(config, requestRecords.accessLine)))
    : null;
  const listening = () => ({ host: config.host, port: given.port });
  const forwarder = createForwarder(given.socketPath);
  /** Their owner counts and logs them. */
  const forwarded = new WeakSet<AnyExchange>();
  const context: SurfaceContext = {
    config,
    snapshot: snapshots.current,
    routing,
    pools: await openPools({
      connectMs: config.timeouts.connectMs,
      listening,
      client: config.upstreamClient,
    }),
    watch,
    answers,
    ...createUpstreamQuirks(),
    limits: { ...limits, countMore: ownersTask },
    tokens: createTokenCache({
      now,
      steady: createSteadyClock(),
      fetch: ({ id: connectionId }, rejected) => owner.ask('token', { connectionId, rejected }),
      onError: ({ name: connection }, error) =>
        log.warn({ connection, error: describe(error) }, 'an access token was not renewed'),
    }),
    accounts,
    record(entry, trace, origin) {
      const { exchange, principal } = origin;
      requestRecords.add({
        entry,
        traceText: trace === null ? null : traceText(trace),
        traceparent: traceparentOf(origin),
        span: isTraced ? requestSpan(trace, origin) : null,
      });
      counter.count(entry, trace);
      access?.note(exchange.request, entry, principal.name);
    },
    onIdentified: ({ request }, { keyId, name }) => access?.identify(request, keyId, name),
    usageOf: ownersTask,
    usageBy: ownersTask,
    replaceEstimate: ownersTask,
    gate: plane.gate,
    askAgent: ownersTask,
    responses: { ...remoteResponses({ ask: owner.ask, tell }), remove: ownersTask },
    places: { ...remotePlaces({ ask: owner.ask, tell }), forget: ownersTask },
    handover: handoverTo(forwarder, forwarded),
    hosts,
    traceparent: tracing(config, given.instance),
    instance: given.instance,
    now,
    owner: { key: given.ownerKey, principal: { keyId: 'local', name: 'local', models: null } },
  };
  const server = createHttpServer({
    limits: config.limits,
    renderError: (error, path, id, received) =>
      isManagementPath(path) && methodsOf(path) === null
        ? refusalWithHeaders(error, id)
        : renderError(error, path, id, received),
    connections: { ...shareOfConnections(config, count, log), isProbe: (path) => probes.has(path) },
    fastPath: { takes: isServedHere, onRequest: (exchange) => serveModels(context, exchange) },
    onRequest(exchange) {
      if (isServedHere(exchange.path)) return serveModels(context, exchange);
      forwarded.add(exchange);
      return forwarder.forward(exchange, null);
    },
    onUpgrade: forwarder.upgrade,
    onHttp2Connection: forwarder.takeOver,
    onClosed(exchange) {
      if (forwarded.has(exchange)) return;
      const { request, response } = exchange;
      const status = response.headersSent ? response.statusCode : null;
      counter.countHttp('models', request.method, status);
      access?.write(servedRequest(exchange, { path: loggedPath(exchange.path), status, isProbe: false }));
    },
    onError(error, exchange) {
      const path = exchange === null ? null : safePath(exchange.path);
      log.error({ path, error: describe(error) }, 'a request failed inside the gateway');
    },
  });
  const loadNow = (): WorkerLoad => {
    const calls = watch.members();
    const { systemCPUTime, userCPUTime } = process.resourceUsage();
    const connections = snapshots.current().routes.ordered.map(({ connection }) => connection.id);
    return {
      http: Math.max(0, server.inFlight() - forwarder.open()),
      open: calls.length,
      waiting: calls.filter(({ waits }) => waits === true).length,
      inFlight: connections
        .map((id) => [id, accounts.inFlight(id)] as const)
        .filter(([, requests]) => requests > 0),
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      untold: untold(),
    };
  };
  const tellLoad = (): void => {
    // Counts that are not taken are not lost, and go on.
    const counts = isFull() ? null : counter.take();
    if (counts !== null) owner.tell({ kind: 'counted', counts });
    tell({ kind: 'load', load: loadNow() });
  };
  schedule.every({ name: 'load', everyMs: LOAD_MS, run: tellLoad });
  const tellAll = (): void => {
    requestRecords.flush();
    tellLoad();
  };

  async function drain(ms: number): Promise<void> {
    await server.drain(ms);
    const error = new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
      retryAfter: 5,
    });
    const left = watch.members();
    for (const call of left) call.interrupt(error);
    if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, LAST_BYTES_MS));
  }
  async function end(): Promise<void> {
    // The owner has ended what was passed on to it, and the last bytes of that are on their way.
    await forwarder.ended(LAST_BYTES_MS);
    forwarder.close();
    await server.close();
    snapshots.close();
    await context.pools.close();
    await view.close();
    limits.giveBack();
    tellAll();
    await owner.ask('flushed', null);
  }

  const joined = await owner.ask('join', null);
  for (const healthState of joined.healthStates) takeHealthState(healthState);
  for (const hint of joined.hints) accounts.applyHint(hint);
  takeHosts(joined.hosts);
  if (joined.serving) plane.start();
  const newer = early;
  early = null;
  for (const event of newer) hear(event);
  begun.resolve();
  // What was changed between the first reading and the joining.
  await snapshots.reload();
  try {
    await server.listen(config.host, given.port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    await owner.ask('cannotListen', { code, message });
    process.exit(1);
  }
  await owner.ask('listening', null);
}

/** Whether a worker serves a path itself: the model endpoints, but for those that read what the owner keeps. */
function isServedHere(path: string): boolean {
  const kind = matchPath(path)?.surface.kind;
  return kind !== undefined && kind !== 'stored-response' && kind !== 'own-usage';
}

/** For what only requests do that are passed on. */
function ownersTask(): never {
  throw new Error('the owner of the data directory does this');
}

/** What OpenTelemetry says of a request. */
function requestSpan(
  trace: Trace | null,
  { exchange, principal }: Pick<LedgerFacts, 'exchange' | 'principal'>,
): RequestSpan {
  return {
    trace,
    method: exchange.request.method ?? 'POST',
    path: loggedPath(exchange.path),
    keyName: principal.name,
  };
}

/** Agents are processes of the owner, which knows their sessions. */
function handoverTo(
  forwarder: Forwarder,
  forwarded: WeakSet<AnyExchange>,
): NonNullable<SurfaceContext['handover']> {
  return {
    takes: (targets: readonly Target[]) => targets.some(({ provider }) => provider.category === 'agent'),
    pass(exchange: AnyExchange, body) {
      forwarded.add(exchange);
      // WebSockets are passed on whole, so that what is served here came by HTTP.
      return forwarder.forward(exchange as Exchange, body);
    },
  };
}

/** Lines of this process, which the owner writes. */
function linesOf({ logLevel }: Config, write: (line: string) => void): LogOptions {
  return { level: logLevel, pretty: false, write };
}

function tracing({ otel }: Config, instance: string): SurfaceContext['traceparent'] {
  if (otel === null || otel.traces === null) return null;
  return (exchange, attempt) =>
    outgoingTraceparent(
      traceContext(exchange.id, traceparentOf({ exchange }), instance, otel.sampler),
      attempt,
    );
}

/** A limit that the owner has set is shared evenly; that of open files counts for each process. */
function shareOfConnections({ limits }: Config, count: number, log: Log) {
  const connections = limits.connections === null ? null : Math.ceil(limits.connections / count);
  return configuredLimit({ limits: { ...limits, connections } }, log);
}
