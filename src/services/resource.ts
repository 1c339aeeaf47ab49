import type { z } from 'zod';
import type { Action, Caller, Outcome, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { HealthBoard } from './health.ts';
import { actionRefused, type LifeCycles, type ServiceCommand } from './life-cycle.ts';
import type { Part } from './part.ts';
import { serviceChange, serviceRow, stopInput } from './schema.ts';
import { dependentsOf, rowOfService } from './service-row.ts';
import type { ServiceRecords } from './store.ts';

export interface ServicesResourceInput {
  /** All parts, as they are now. */
  parts(): Promise<Part[]>;
  records: ServiceRecords;
  health: HealthBoard;
  cycles: LifeCycles;
  /** Milliseconds since the epoch. */
  now(): number;
}

type Deps = ServicesResourceInput;
type Input = Record<string, unknown>;

/** An upstream is asked no more often than this, for it costs the account something. */
const PROBE_EVERY_MS = 5000;

/** The parts of the running gateway: how they are, and what can be done with them. */
export function servicesResource(deps: ServicesResourceInput): Resource {
  return {
    name: 'services',
    title: 'Services',
    summary:
      'The parts of the running gateway and its connections: their state, their health, starting and stopping.',
    record: serviceRow,
    read: 'services:read',
    guarded: { version: 'services:operate', options: 'services:update' },
    async list(caller) {
      const parts = await visibleParts(deps, caller);
      return Promise.all(parts.map((part) => rowOf(deps, part, parts, caller)));
    },
    find: (id, caller) => findRow(deps, id, caller),
    update: {
      permission: 'services:update',
      input: serviceChange,
      run: (row, input, caller) => change(deps, row, serviceChange.parse(input), caller),
    },
    remove: {
      permission: 'services:update',
      possible: ({ kind }) => kind === 'provider_connection',
      run: (row, caller) => remove(deps, row, caller),
    },
    actions: {
      start: order(deps, {
        summary: 'Starts the service; one that already runs keeps running',
        possible: ({ desired_state, kind, state }) =>
          movableKinds.has(String(kind)) && desired_state === 'stopped' && state === 'stopped',
        orderOf: () => ({ action: 'start' }),
      }),
      stop: order(deps, {
        summary: 'Waits for open requests, refuses new ones, and stays stopped until it is started',
        input: stopInput,
        possible: ({ desired_state, kind }) => movableKinds.has(String(kind)) && desired_state === 'running',
        orderOf: (input) => ({ action: 'stop', input: stopInput.parse(input) }),
      }),
      restart: order(deps, {
        summary: 'Stops it and starts it again, as one task',
        input: stopInput,
        possible: ({ kind, state }) => restartableKinds.has(String(kind)) && state === 'running',
        orderOf: (input) => ({ action: 'restart', input: stopInput.parse(input) }),
      }),
      reload: reload(deps),
      test: test(deps),
    },
    // How it is doing is no change of it.
    revisionOf: ({ config_revision, desired_state }) => `${config_revision}.${desired_state}`,
  };
}

const restartableKinds: ReadonlySet<string> = new Set([
  'data_plane',
  'dashboard',
  'mcp_server',
  'a2a_server',
  'tunnel',
  'acp_agent',
]);
const movableKinds: ReadonlySet<string> = new Set([...restartableKinds, 'provider_connection']);

async function visibleParts({ parts }: Deps, caller: Pick<Caller, 'can'>): Promise<Part[]> {
  return (await parts()).filter(({ domain }) => domain === undefined || caller.can(`${domain}:read`));
}

async function rowOf(deps: Deps, part: Part, parts: readonly Part[], caller: Caller): Promise<Row> {
  const record = await deps.records.of(part.key);
  return rowOfService({
    part,
    record,
    parts,
    caller,
    now: deps.now(),
    health: deps.health.of(part),
    restarts: deps.cycles.restarts(part.key),
  });
}

async function findRow(deps: Deps, id: string, caller: Caller): Promise<Row | null> {
  const parts = await visibleParts(deps, caller);
  const part = parts.find((one) => one.id === id || deps.records.cached(one.key)?.guid === id);
  return part === undefined ? null : rowOf(deps, part, parts, caller);
}

async function change(
  deps: Deps,
  row: Row,
  { labels, options }: z.infer<typeof serviceChange>,
  caller: Caller,
): Promise<Row> {
  const { part } = await partOf(deps, row, caller);
  const [foreign] = Object.keys(options ?? {}).filter((name) => !Object.hasOwn(part.options ?? {}, name));
  if (foreign !== undefined)
    throw new GatewayError('invalid_request', `${part.name} has no option "${foreign}"`, {
      param: `options.${foreign}`,
    });
  if (labels !== undefined || options !== undefined) {
    const before = await deps.records.of(part.key);
    await deps.records.update(part.key, {
      ...(labels === undefined ? {} : { labels }),
      ...(options === undefined ? {} : { options: { ...before.options, ...options } }),
    });
  }
  const changed = await findRow(deps, row.id, caller);
  if (changed === null) throw removedMeanwhile(row);
  return changed;
}

/** @throws GatewayError `conflict` for a part of every gateway */
async function remove(deps: Deps, row: Row, caller: Caller): Promise<void> {
  const { part } = await partOf(deps, row, caller);
  if (part.remove === undefined)
    throw new GatewayError('conflict', `${part.name} is a part of every gateway: it cannot be deleted`);
  if (part.domain !== undefined) checkDomain(caller, `${part.domain}:delete`);
  if (!(await part.remove())) throw removedMeanwhile(row);
}

function checkDomain(caller: Caller, permission: string): void {
  if (!caller.can(permission))
    throw new GatewayError('forbidden', `This needs the permission ${permission} as well`);
}

async function partOf(deps: Deps, row: Row, caller: Caller): Promise<{ part: Part; parts: Part[] }> {
  const parts = await visibleParts(deps, caller);
  const part = parts.find(({ key }) => deps.records.cached(key)?.guid === row['guid']);
  if (part === undefined) throw removedMeanwhile(row);
  return { part, parts };
}

/** The part of a row, where the caller may act on it. @throws GatewayError */
async function operated(deps: Deps, row: Row, caller: Caller): Promise<{ part: Part; parts: Part[] }> {
  const part = await partOf(deps, row, caller);
  const { domain } = part.part;
  if (domain !== undefined) checkDomain(caller, `${domain}:operate`);
  return part;
}

interface OrderAction extends Pick<Action, 'summary' | 'input' | 'possible'> {
  orderOf(input: Input): ServiceCommand;
}

function order(deps: Deps, { orderOf, ...action }: OrderAction): Action {
  return {
    ...action,
    permission: 'services:operate',
    async preview(row, input, caller) {
      const { part, parts } = await operated(deps, row, caller);
      return foreseen(part, parts, orderOf(input));
    },
    async run(row, input, caller) {
      const { part } = await operated(deps, row, caller);
      return deps.cycles.run(part, orderOf(input), caller);
    },
  };
}

/** What an order would come to: who else is affected, and how many requests are open. @throws GatewayError */
function foreseen(part: Part, parts: readonly Part[], command: ServiceCommand): Outcome {
  const { lifeCycle, name } = part;
  if (lifeCycle === undefined || (command.action === 'restart' && !lifeCycle.restarts))
    throw actionRefused(part, command);
  const { desired } = part.status();
  const changed =
    command.action === 'restart' || desired !== (command.action === 'stop' ? 'stopped' : 'running');
  const open = lifeCycle.openRequests();
  const affected = command.action === 'start' ? [] : dependentsOf(part, parts).map(({ id }) => id);
  const requests = open === null || command.action === 'start' ? '' : `; open requests: ${open}`;
  return {
    success: true,
    message: changed
      ? `${name}: ${command.action} would be carried out${requests}`
      : `${name} would stay ${desired}`,
    result: {
      changed,
      open_requests: open,
      dependents: affected,
      confirm: lifeCycle.confirm ? part.id : null,
    },
  };
}

function reload(deps: Deps): Action {
  return {
    summary: 'Reloads its settings; open requests continue',
    permission: 'services:operate',
    possible: ({ kind, state }) => kind === 'data_plane' && state === 'running',
    preview: async ({ id }) => ({ success: true, message: `"${id}" would read its settings anew` }),
    async run(row, _input, caller) {
      const { part } = await operated(deps, row, caller);
      if (part.reload === undefined)
        throw new GatewayError('conflict', `${part.name} has no configuration to reload`);
      return { success: true, message: await part.reload() };
    },
  };
}

function test(deps: Deps): Action {
  const probed = new Map<string, number>();
  const mayProbe = (key: string): void => {
    const wait = (probed.get(key) ?? 0) + PROBE_EVERY_MS - deps.now();
    if (wait > 0 && wait <= PROBE_EVERY_MS)
      throw new GatewayError(
        'rate_limit_exceeded',
        'It was tested a moment ago: its state shows the result',
        {
          retryAfter: Math.ceil(wait / 1000),
        },
      );
    for (const [old, at] of probed) if (at + PROBE_EVERY_MS <= deps.now()) probed.delete(old);
    probed.set(key, deps.now());
  };
  return {
    summary: 'Runs its health checks now; a connection asks its upstream once',
    permission: 'services:operate',
    beside: true,
    possible: ({ state }) => state !== 'disabled',
    preview: async ({ id }) => ({ success: true, message: `"${id}" would be looked at` }),
    async run(row, _input, caller) {
      const { part } = await operated(deps, row, caller);
      if (part.status().state === 'disabled')
        throw new GatewayError('conflict', `${part.name} cannot be tested: it is not there`);
      if (part.probe !== undefined) {
        mayProbe(part.key);
        const { message, result, valid } = await part.probe();
        return { success: valid, message, result };
      }
      const health = deps.health.of(part, true);
      const failed = health.checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
      const message =
        failed.length === 0 ? `${part.name}: ${health.status}` : `${part.name} fails: ${failed.join(', ')}`;
      return { success: failed.length === 0, message, result: { health } };
    },
  };
}

function removedMeanwhile({ id }: Row): GatewayError {
  return new GatewayError('not_found', `The service "${id}" no longer exists`);
}
