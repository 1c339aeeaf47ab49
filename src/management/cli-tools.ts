import { isLoopbackAddress } from '../access/client-address.ts';
import { checkDepth, validated } from '../http/collection/input.ts';
import { checkParameters } from '../http/collection/query.ts';
import type { Caller } from '../http/resource.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { type ToolSettingsInput, toolSettingsInput } from '../tools/schema.ts';
import type { ToolService } from '../tools/service.ts';
import type { Tool } from '../tools/tool.ts';
import type { Answer } from './answer.ts';
import type { ApiPath } from './api-path.ts';
import { withAudit } from './collection/audit.ts';
import { endedLogin } from './collection/routes.ts';
import type { ManagementContext } from './context.ts';
import { checkAccept } from './guard/origin.ts';
import { jsonBody, notAllowed } from './request-body.ts';

/** What stands behind `/api/cli-tools/`. */
type Route = { kind: 'statuses' } | { kind: 'settings'; id: string };

/** How often one caller may have all programs asked anew: each time that starts dozens of them. */
const REFRESHES_PER_MINUTE = 6;
const methods: Readonly<Record<Route['kind'], readonly string[]>> = {
  statuses: ['GET'],
  settings: ['GET', 'POST', 'DELETE'],
};
const parameters: Readonly<Record<string, ReadonlySet<string>>> = {
  statuses: new Set(['refresh']),
  GET: new Set(),
  POST: new Set(['dry_run']),
  DELETE: new Set(['dry_run', 'backup_id']),
};

/**
 * Serves `/api/cli-tools/all-statuses` and `/api/cli-tools/TOOL-settings`. Every request passes the same check: reads
 * need `tools:read`, writes `tools:update`.
 * @throws GatewayError what is refused, in the order of the collections
 */
export async function serveCliTools(
  context: ManagementContext,
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
): Promise<Answer> {
  const { request } = exchange;
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const route = routeOf(path);
  const params = new URLSearchParams(exchange.query);
  if (method !== 'OPTIONS' && !methods[route.kind].includes(method)) throw notAllowed(method);
  const body = await jsonBody(exchange, caller);
  await demandPermission(context, caller, route, method);
  if (method === 'OPTIONS') return { status: 204, body: null, headers: { allow: allowed(route) } };
  checkAccept(request);
  checkParameters(params, parameters[route.kind] ?? parameters[method] ?? new Set());
  if (route.kind === 'statuses') return ok(await statuses(context, caller, params));
  const { service } = context.cliTools;
  const tool = await reachedTool(service, route.id, caller);
  switch (method) {
    case 'GET':
      return ok(await service.settings(tool));
    case 'POST':
      return ok(await configured(context, caller, tool, withDryRun(body, params)));
    default:
      return ok(await restored(context, caller, tool, params));
  }
}

/** The verbs that are served at a path, for `Allow`. */
export function cliToolsVerbs(path: ApiPath): string[] {
  return [...methods[routeOf(path).kind]];
}

function allowed({ kind }: Route): string {
  return [...methods[kind], 'HEAD', 'OPTIONS'].join(', ');
}

/** @throws GatewayError `not_found` */
function routeOf({ rest }: ApiPath): Route {
  const [name = '', ...deeper] = rest;
  if (deeper.length === 0 && name === 'all-statuses') return { kind: 'statuses' };
  const id = /^(.+)-settings$/s.exec(name)?.[1];
  if (deeper.length === 0 && id !== undefined) return { kind: 'settings', id };
  throw new GatewayError(
    'not_found',
    'Below /api/cli-tools there are all-statuses, and TOOL-settings for each tool of /api/tools',
  );
}

function ok(body: object): Answer {
  return { status: 200, body, headers: {} };
}

async function demandPermission(
  context: ManagementContext,
  caller: Caller,
  route: Route,
  method: string,
): Promise<void> {
  const writes = method === 'POST' || method === 'DELETE';
  const permission = writes ? 'tools:update' : 'tools:read';
  if (!caller.can(permission))
    throw await denied(context, caller, route, writes ? method : 'read', {
      code: 'forbidden',
      message: `This needs the permission ${permission}`,
    });
  if (caller.ended) throw endedLogin();
  // What runs programs is for this machine, unless its owner says otherwise.
  const local = isLoopbackAddress(caller.address) || context.cliTools.remoteDetection;
  if (route.kind === 'statuses' && !local)
    throw await denied(context, caller, route, 'read', {
      code: 'loopback_only',
      message: `This runs programs on the gateway's machine, so it is answered there only: use /api/tools, or set "tools.remote_detection" in config.json`,
    });
}

/** Records a refusal. @returns the error to throw */
async function denied(
  { audit }: ManagementContext,
  caller: Caller,
  route: Route,
  action: string,
  { code, message }: { code: 'forbidden' | 'loopback_only'; message: string },
): Promise<GatewayError> {
  const target = route.kind === 'settings' ? route.id.slice(0, 100) : 'all-statuses';
  await audit({
    kind: 'change',
    change: {
      caller,
      target,
      collection: 'cli-tools',
      action: nameOf(action),
      before: null,
      after: null,
      input: null,
      outcome: 'denied',
      reason: code,
    },
  });
  return new GatewayError(code, message);
}

function nameOf(action: string): string {
  if (action === 'POST') return 'configure';
  return action === 'DELETE' ? 'restore' : action;
}

/** The tool, where the caller's token reaches it. @throws GatewayError `not_found` */
async function reachedTool(
  service: Pick<ToolService, 'withSettings'>,
  id: string,
  caller: Caller,
): Promise<Tool> {
  const tool = await service.withSettings(id);
  if (caller.reaches('tools', { id: tool.id, name: tool.name })) return tool;
  throw new GatewayError('not_found', `There is no tool "${id.slice(0, 60)}"`);
}

async function statuses(
  { cliTools, pace }: ManagementContext,
  caller: Caller,
  params: URLSearchParams,
): Promise<object> {
  const refresh = switchIn(params, 'refresh');
  if (refresh) pace.take(`${caller.userId} cli-tools refresh`, REFRESHES_PER_MINUTE);
  const all = await cliTools.service.statuses(refresh);
  const reached = all.filter(({ id, name }) => caller.reaches('tools', { id, name }));
  return Object.fromEntries(
    reached.map(({ config, detection, error, id }) => [
      id,
      { detection, config, ...(error === undefined ? {} : { error }) },
    ]),
  );
}

function withDryRun(body: unknown, params: URLSearchParams): ToolSettingsInput {
  checkDepth(body);
  const input = toolSettingsInput.parse(validated(toolSettingsInput, body ?? {}));
  return switchIn(params, 'dry_run') ? { ...input, dry_run: true } : input;
}

async function configured(
  context: ManagementContext,
  caller: Caller,
  tool: Tool,
  input: ToolSettingsInput,
): Promise<object> {
  const run = () => context.cliTools.service.configure(tool, input);
  if (input.dry_run === true) return run();
  const { dry_run: _, ...settings } = input;
  return withToolLock(context, caller, { tool, action: 'configure', input: settings }, run);
}

async function restored(
  context: ManagementContext,
  caller: Caller,
  tool: Tool,
  params: URLSearchParams,
): Promise<object> {
  const backupId = params.get('backup_id');
  const dryRun = switchIn(params, 'dry_run');
  const run = () => context.cliTools.service.restore(tool, { backupId, dryRun });
  if (dryRun) return run();
  return withToolLock(context, caller, { tool, action: 'restore', input: { backup_id: backupId } }, run);
}

interface Change {
  tool: Tool;
  action: string;
  input: Record<string, unknown>;
}

/** Changes a tool's files while no other request does, and records it. */
function withToolLock<T extends { changed: boolean; path: string | null }>(
  context: ManagementContext,
  caller: Caller,
  { action, input, tool }: Change,
  run: () => Promise<T>,
): Promise<T> {
  return context.mutex.runExclusive(`cli-tools ${tool.id}`, () =>
    withAudit(
      { record: (change) => context.audit({ kind: 'change', change }) },
      { caller, resource: { name: 'cli-tools' } },
      { action, target: tool.id, input },
      async () => {
        const value = await run();
        return { value, facts: { after: { path: value.path, changed: value.changed } } };
      },
    ),
  );
}

/** @throws GatewayError for anything but `true` and `false` */
function switchIn(params: URLSearchParams, name: string): boolean {
  const value = params.get(name) ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw new GatewayError('invalid_request', `"${name}" must be true or false`, { param: name });
}
