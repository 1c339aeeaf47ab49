import { isIP } from 'node:net';
import { type Config, isLoopback } from '../config.ts';
import type { connectionStore } from '../connections/store.ts';
import { probeConnection } from '../connections/testing/probe.ts';
import type { TestOptions } from '../connections/testing/test-connection.ts';
import type { Events } from '../events/open.ts';
import type { Accounts } from '../health/accounts.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { OpenCall } from '../proxy/request/open-call.ts';
import type { Store } from '../store/database.ts';
import type { Tunnels } from '../tunnels/tunnels.ts';
import { createDataPlane, type DataPlane, withWorkers } from './data-plane.ts';
import type { Gate } from './gate.ts';
import { createHealthBoard } from './health.ts';
import { createLifeCycles } from './life-cycle.ts';
import type { Part } from './part.ts';
import { type AgentPartInput, agentPart, type EnabledAgent } from './parts/agent-part.ts';
import { connectionPart } from './parts/connection-part.ts';
import { dashboardPart } from './parts/dashboard-part.ts';
import { dataPlanePart } from './parts/data-plane-part.ts';
import { eventsPart } from './parts/events-part.ts';
import { managementPart } from './parts/management-part.ts';
import { createProtocolGate, type ProtocolServer, protocolPart } from './parts/protocol-part.ts';
import { schedulerPart } from './parts/scheduler-part.ts';
import { type StoreBackend, storePart, type WriteFault } from './parts/store-part.ts';
import { tunnelPart } from './parts/tunnel-part.ts';
import { type WorkersStatus, workersPart } from './parts/workers-part.ts';
import type { ServicesResourceInput } from './resource.ts';
import type { Endpoint } from './schema.ts';
import { openServiceRecords } from './store.ts';
import { openTasks, type Tasks } from './tasks/tasks.ts';

export interface ServicesInput {
  store: Pick<Store, 'db' | 'node'> & StoreBackend;
  config: Pick<Config, 'dataDir' | 'drainMs'>;
  version: string;
  connections: ReturnType<typeof connectionStore>;
  tokens: TestOptions['tokens'];
  schedule: Schedule;
  /** Model requests on their way to an upstream. */
  calls(): readonly OpenCall[];
  /** The processes that serve the model endpoints beside this one, null while they start; null where there are none. */
  workers: (() => WorkersStatus | null) | null;
  /** Reads keys and connections anew, and returns the revision that is in force then. */
  reload(): Promise<number>;
  /** Connections in use, beside the demo. */
  usable(): number;
  /** Whether limits are shared with other gateways at this moment; null where they are not meant to be. */
  sharing: (() => boolean) | null;
  ledger: { pending(): number; backlog: number; fault(): WriteFault | null };
  /** Where the gateway listens; null as long as it does not. */
  listening(): { host: string; port: number } | null;
  /** What requests met at a connection, and at its models. */
  conditionsOf: Accounts['conditionsOf'];
  /** The event engine; null as long as the gateway starts. */
  events(): Events | null;
  /** Tells who watches what happened. */
  publish(event: object): void;
  mcp: ProtocolServer;
  a2a: ProtocolServer;
  /** Whether the pages of the dashboard were built; null until it is first needed. */
  dashboardBuilt(): boolean | null;
  tunnels: Pick<Tunnels, 'created' | 'start' | 'stop'>;
  agents: AgentPartInput['agents'] & {
    /** Those that their owner has enabled. */
    enabled(): Promise<readonly EnabledAgent[]>;
  };
  /** The status of a GET through the internet. @throws when nothing answers */
  probe(url: string): Promise<number>;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Services {
  gate: DataPlane['gate'];
  /** Whether the model endpoints are served. */
  serving(): boolean;
  /** Lets a request to the MCP server in. @throws GatewayError `service_stopped` */
  admitMcp: Gate['admit'];
  /** The same for the A2A server. */
  admitA2a: Gate['admit'];
  /** The same for the pages of the dashboard. */
  admitDashboard: Gate['admit'];
  /** What the collection of services is made of. */
  resourceParts: ServicesResourceInput;
  tasks: Tasks;
  /** The parts without which the gateway is not ready and that fail, by id, with the checks that say so; none when it is ready. */
  readiness(): { failing: string[]; checks: string[] };
  /** Resolves when nothing is under way any more. */
  close(): Promise<void>;
}

const TASK_SWEEP_MS = 3_600_000;
const TEST_TIMEOUT_MS = 15_000;

/** The parts of a gateway, as services. One that was stopped before the gateway ended stays stopped. */
export async function openServices(input: ServicesInput): Promise<Services> {
  const { now, publish, report, schedule, store } = input;
  const records = await openServiceRecords(store, now);
  const tasks = await openTasks(store, now);
  const own: DataPlane = createDataPlane({
    running: (await records.of('data-plane')).desired === 'running',
    calls: input.calls,
    now,
    onChange: () => publish({ id: 'data-plane', state: own.status().state }),
  });
  const plane = input.workers === null ? own : withWorkers(own, input.workers);
  const drainMs = (): number => {
    const seconds = records.cached('data-plane')?.options.drain_seconds ?? null;
    return seconds === null ? input.config.drainMs : seconds * 1000;
  };
  const protocolGate = async (id: 'mcp' | 'a2a' | 'dashboard', name: string): Promise<Gate> => {
    const running = (await records.of(id)).desired === 'running';
    const onChange = () => publish({ id, state: gate.status().state });
    const gate = createProtocolGate({ name, running, now, onChange });
    return gate;
  };
  const mcpGate = await protocolGate('mcp', 'MCP server');
  const a2aGate = await protocolGate('a2a', 'A2A server');
  const dashboardGate = await protocolGate('dashboard', 'dashboard');
  const fixed = fixedParts(input, { plane, mcpGate, a2aGate, dashboardGate }, drainMs);
  for (const { id } of await input.agents.enabled())
    if ((await records.of(`agent-${id}`)).desired === 'stopped') await input.agents.stop(id);
  const parts = async () => [
    ...fixed(),
    ...tunnelParts(input),
    ...(await agentParts(input)),
    ...(await connectionParts(input)),
  ];
  const health = createHealthBoard(now);
  const cycles = createLifeCycles({ records, tasks, announce: publish, report, now });
  const sweep = { name: 'old tasks', everyMs: TASK_SWEEP_MS, run: tasks.sweep, onError: report };
  const stopSweeping = schedule.every(sweep);
  await tasks.sweep();
  return {
    gate: plane.gate,
    serving: () => plane.status().state === 'running',
    admitMcp: mcpGate.admit,
    admitA2a: a2aGate.admit,
    admitDashboard: dashboardGate.admit,
    tasks,
    resourceParts: { parts, records, health, cycles, now },
    readiness() {
      const failing = fixed()
        .filter(({ critical }) => critical)
        .map((part) => ({ id: part.id, ...health.of(part) }))
        .filter(({ status }) => status === 'fail');
      return {
        failing: failing.map(({ id }) => id),
        checks: failing.flatMap(({ checks, id }) =>
          checks.filter(({ status }) => status === 'fail').map(({ name }) => `${id}/${name}`),
        ),
      };
    },
    async close() {
      stopSweeping();
      await cycles.settled();
    },
  };
}

/** The parts of every gateway. Made anew each time, for they carry the options of the moment. */
function fixedParts(
  input: ServicesInput,
  {
    a2aGate,
    dashboardGate,
    mcpGate,
    plane,
  }: { plane: DataPlane; mcpGate: Gate; a2aGate: Gate; dashboardGate: Gate },
  drainMs: () => number,
): () => Part[] {
  const { ledger, now, schedule, store, version } = input;
  const since = now();
  const at = (path: string) => () => endpointsAt(input.listening(), path);
  const steady = [
    managementPart({ version, since, now, endpoints: at('/api') }),
    storePart({
      version,
      since,
      now,
      dataDir: input.config.dataDir,
      store,
      pending: ledger.pending,
      backlog: ledger.backlog,
      fault: ledger.fault,
    }),
    schedulerPart({ schedule, version, since, now }),
    ...(input.workers === null ? [] : [workersPart({ workers: input.workers, version, since, now })]),
    protocolPart({
      id: 'mcp',
      kind: 'mcp_server',
      name: 'MCP server',
      description: 'The MCP server, over Streamable HTTP.',
      version,
      gate: mcpGate,
      endpoints: at('/mcp'),
      ...input.mcp,
      now,
    }),
    protocolPart({
      id: 'a2a',
      kind: 'a2a_server',
      name: 'A2A server',
      description: 'The gateway as an A2A agent for other agents.',
      version,
      gate: a2aGate,
      endpoints: at('/a2a'),
      ...input.a2a,
      now,
    }),
    eventsPart({ version, since, now, events: input.events, endpoints: at('/api/events') }),
    dashboardPart({
      version,
      gate: dashboardGate,
      endpoints: at('/dashboard'),
      isBuilt: input.dashboardBuilt,
      now,
    }),
  ];
  return () => [
    dataPlanePart({
      plane,
      version,
      drainMs,
      now,
      reload: input.reload,
      endpoints: at('/v1'),
      connections: input.usable,
      sharing: input.sharing,
    }),
    ...steady,
  ];
}

function tunnelParts({ now, probe, tunnels }: ServicesInput): Part[] {
  return tunnels.created().map((tunnel) => tunnelPart({ tunnel, tunnels, probe, now }));
}

async function agentParts({ agents, now }: ServicesInput): Promise<Part[]> {
  return (await agents.enabled()).map((agent) => agentPart({ agent, agents, now }));
}

async function connectionParts(input: ServicesInput): Promise<Part[]> {
  const { connections, listening, reload, conditionsOf, tokens } = input;
  return (await connections.list()).map((connection) =>
    connectionPart({
      connection,
      conditions: conditionsOf(connection.id),
      async setActive(id, active) {
        await connections.update(id, { active });
        await reload();
      },
      async remove(id) {
        const removed = await connections.remove(id);
        await reload();
        return removed;
      },
      test: (id) => probeConnection(connections, id, { timeoutMs: TEST_TIMEOUT_MS, tokens, listening }),
    }),
  );
}

function endpointsAt(listening: { host: string; port: number } | null, path: string): Endpoint[] {
  if (listening === null) return [];
  const { host, port } = listening;
  return [{ protocol: 'http', host, port, path, visibility: visibilityOf(host), tls: false }];
}

/** From where an address can be reached, as far as it says so itself. */
function visibilityOf(host: string): Endpoint['visibility'] {
  if (isLoopback(host)) return 'loopback';
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const near = /^(0\.0\.0\.0$|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|::$|f[cd]|fe[89ab])/i.test(
    address,
  );
  return near || isIP(address) === 0 ? 'lan' : 'public';
}
