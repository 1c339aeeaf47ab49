import type { AuthRefusal } from '../access/manage-auth.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { Caller, Resource } from '../http/resource.ts';
import { sendWhole } from '../http/send.ts';
import { checkHost } from '../http/server/allowed-hosts.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { acpAgentsCollection, acpAgentsVerbs, serveAcpAgents } from './acp-agents.ts';
import type { Answer } from './answer.ts';
import { type ApiPath, apiPath, apiVersion } from './api-path.ts';
import { cliToolsVerbs, serveCliTools } from './cli-tools.ts';
import type { CollectionContext } from './collection/collection.ts';
import { endedLogin, serveResource } from './collection/routes.ts';
import type { ManagementContext } from './context.ts';
import { isConsentCallback, serveConsent } from './events/consent.ts';
import { eventHandshake } from './events/ingest.ts';
import { eventsVerbs, serveEvents } from './events/serve.ts';
import { checkAccept, checkFormOfBasic, checkOrigin } from './guard/origin.ts';
import { securityHeaders } from './guard/security-headers.ts';
import { withinTokenScope } from './guard/token-scope.ts';
import { watchLive } from './live/watch.ts';
import { docsPage } from './openapi/docs-page.ts';
import { refusal } from './refusal.ts';
import { jsonBody, notAllowed, requestFacts } from './request-body.ts';
import { entryPoint } from './root.ts';
import { isLoginCallback, serveLoginCallback } from './session/callback.ts';
import { serveLogin, serveSetup } from './session/login.ts';

const served: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Serves one request below `/api`. Never throws: every failure is answered in the API's own shape. */
export async function serveManagement(context: ManagementContext, exchange: Exchange): Promise<void> {
  try {
    if (!(await itsTurn(exchange.response))) return;
    const answer = await respond(context, exchange);
    if (answer !== null) sendAnswer(exchange, answer);
  } catch (error) {
    refuse(context, exchange, error);
  }
}

/** Answers with an error in the API's own shape, where nothing was answered yet. */
export function refuse(context: ManagementContext, exchange: AnyExchange, thrown: unknown): void {
  const error = errorOf(context, thrown);
  if (!exchange.response.headersSent) sendAnswer(exchange, refusal(error, exchange.id));
}

/** The error answer for what was thrown. Faults of the gateway itself are reported. */
export function errorOf({ report }: Pick<ManagementContext, 'report'>, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  report(thrown);
  return ownFault(thrown);
}

/**
 * Who makes a request to another surface of the gateway that the users of this API may use: the same hosts, origins and
 * logins, and the same records of refusals.
 * @throws GatewayError
 */
export async function admit(context: ManagementContext, exchange: AnyExchange): Promise<Caller> {
  await guard(context, exchange);
  const caller = await authenticated(context, exchange);
  if (caller.ended) throw await recordedEnd(context, exchange, caller);
  if (caller.via === 'basic') checkFormOfBasic(exchange.request);
  return caller;
}

/** Refuses a request to such a surface that names another host, or comes from a page of another origin. @throws GatewayError */
export function guard(context: ManagementContext, exchange: AnyExchange): Promise<void> {
  const { request } = exchange;
  return guarded(context, exchange, () => {
    checkHost(request, context.hosts);
    checkOrigin(request, context.hosts, true);
  });
}

/**
 * Resolves when the answers to earlier requests of the same connection have left: for one who sends many ahead and
 * does not read, all answers would wait in memory. False where the client is gone.
 */
async function itsTurn(response: Exchange['response']): Promise<boolean> {
  if (response.socket !== null) return true;
  return new Promise((resolve) => {
    response.once('socket', () => resolve(true));
    response.once('close', () => resolve(false));
  });
}

/** A fault of the gateway's own, of which only the log has the cause. */
function ownFault(error: unknown): GatewayError {
  const ofStore = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
  return ofStore
    ? new GatewayError('store_unavailable', 'The database cannot be used right now; the log has the cause')
    : new GatewayError('internal_error', 'The gateway failed to answer this; its log has the cause');
}

async function respond(context: ManagementContext, exchange: Exchange): Promise<Answer | null> {
  const { request } = exchange;
  const method = request.method ?? 'GET';
  const path = apiPath(exchange.path);
  const fixed = fixedPath(path);
  const mints = path.collection === 'auth';
  await guarded(context, exchange, () => checkHost(request, context.hosts));
  if (!served.has(method)) throw notAllowed(method);
  if (fixed === 'ping' && method === 'GET') return ping(exchange);
  await guarded(context, exchange, () => checkOrigin(request, context.hosts, mints));
  if (fixed === 'setup') return serveSetup(context, exchange, method);
  if (isLoginCallback(path)) return serveLoginCallback(context, exchange);
  if (isConsentCallback(path) && method !== 'OPTIONS') return serveConsent(context, exchange);
  // What may be asked for is no secret; what is there is.
  if (method === 'OPTIONS' && request.headers['x-auth-token'] === undefined)
    return preflight(context, path, request);
  const caller = await authenticated(context, exchange);
  if (caller.ended) throw await refusalOfEnded(context, exchange, path, caller);
  if (caller.via === 'basic') checkFormOfBasic(request);
  if (path.version !== null && path.version !== apiVersion)
    throw new GatewayError(
      'invalid_request',
      `This is version ${apiVersion} of the API, and no other is served`,
    );
  return dispatch(context, exchange, path, caller);
}

/** The name of a path that may be no collection: with nothing below it. */
function fixedPath({ collection, rest }: ApiPath): string | null {
  return rest.length === 0 ? collection : null;
}

/** Runs a check of where the request comes from; what it refuses is noted. */
async function guarded(context: ManagementContext, exchange: AnyExchange, check: () => void): Promise<void> {
  try {
    check();
  } catch (error) {
    const reason = error instanceof GatewayError ? error.code : null;
    await context.audit({
      kind: 'guard',
      ...requestFacts(context, exchange),
      userId: null,
      target: null,
      outcome: 'denied',
      reason,
    });
    throw error;
  }
}

async function authenticated(context: ManagementContext, exchange: AnyExchange): Promise<Caller> {
  const rawHeaders = credentialsOf(exchange);
  const result = await context.auth.authenticate({ rawHeaders, ...requestFacts(context, exchange) });
  if (!isRefusal(result)) return result;
  const { error, reason, userId } = result;
  await context.audit({
    kind: 'refused',
    ...requestFacts(context, exchange),
    target: null,
    outcome: 'denied',
    reason,
    userId,
  });
  throw error;
}

/**
 * The headers that say who asks. Senders of webhooks may give their token as the parameter `access_token` (RFC 6750, 2.3), which
 * the specification of CloudEvents webhooks has receivers take.
 */
function credentialsOf({ path, query, request }: AnyExchange): readonly string[] {
  const { headers, method, rawHeaders } = request;
  if (method !== 'POST' || fixedPath(apiPath(path)) !== 'events') return rawHeaders;
  const token = new URLSearchParams(query).get('access_token');
  const others = headers.authorization !== undefined || headers['x-auth-token'] !== undefined;
  return token === null || others ? rawHeaders : [...rawHeaders, 'authorization', `Bearer ${token}`];
}

/**
 * The error for a login that ended when its user got another role: 403 for what that role may not do, as with a new
 * login, and 401 for all else.
 */
async function refusalOfEnded(
  context: ManagementContext,
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
): Promise<GatewayError> {
  const ended = endedLogin();
  const error: unknown = await member(context, exchange, path, caller).then(
    () => ended,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw error;
  if (error.code === 'forbidden') return error;
  return recordedEnd(context, exchange, caller);
}

async function recordedEnd(
  context: ManagementContext,
  exchange: AnyExchange,
  { userId }: Caller,
): Promise<GatewayError> {
  await context.audit({
    kind: 'refused',
    ...requestFacts(context, exchange),
    target: null,
    outcome: 'denied',
    reason: 'role_changed',
    userId,
  });
  return endedLogin();
}

function isRefusal(result: Caller | AuthRefusal): result is AuthRefusal {
  return 'error' in result;
}

/** The fixed paths, then the collections. */
async function dispatch(
  context: ManagementContext,
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
): Promise<Answer | null> {
  const method = exchange.request.method ?? 'GET';
  switch (fixedPath(path)) {
    case '':
      return reading(method, exchange, () => entryPoint(context, caller, path.prefix));
    case 'auth':
      return serveLogin(context, exchange, method, caller);
    case 'openapi.json':
      return reading(method, exchange, () => context.openapi());
    case 'docs':
      readOnly(method);
      return docsPage(exchange, context.openapi());
    case 'live':
      readOnly(method);
      return watchLive(context, exchange, caller);
    default:
      return member(context, exchange, path, caller);
  }
}

/** The tools of this machine, events, and the collections. */
async function member(
  context: ManagementContext,
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
): Promise<Answer | null> {
  if (path.collection === 'events') return serveEvents(context, exchange, path, caller);
  if (path.collection === 'cli-tools') return serveCliTools(context, exchange, path, caller);
  if (path.collection === 'acp')
    return serveAcpAgents(exchange, path, caller, (request) =>
      answered(context, exchange, caller, {
        path: { ...path, collection: acpAgentsCollection, rest: [...request.rest] },
        ...request,
      }),
    );
  return collection(context, exchange, path, caller);
}

async function collection(
  context: ManagementContext,
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
): Promise<Answer> {
  const { request } = exchange;
  // What is not there is said before the body is read.
  resourceOf(context, path);
  return answered(context, exchange, caller, {
    path,
    method: request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET'),
    params: new URLSearchParams(exchange.query),
    body: await jsonBody(exchange, caller),
  });
}

interface ApiRequest {
  path: ApiPath;
  method: string;
  params: URLSearchParams;
  body: unknown;
}

/** Carries out a request that came over HTTP to a collection. @throws GatewayError */
function answered(
  context: ManagementContext,
  { request }: Exchange,
  caller: Caller,
  { body, method, params, path }: ApiRequest,
): Promise<Answer> {
  return serveResource(collectionContext(context), {
    resource: withinTokenScope(resourceOf(context, path), caller),
    params,
    caller,
    rest: path.rest,
    prefix: path.prefix,
    method,
    headers: request.headers,
    body,
    dryRun: params.get('dry_run') === 'true',
    checkAccept: () => checkAccept(request),
  });
}

/** A request to a collection that comes from within the process, for a caller that was authenticated. */
export interface ApiCall {
  method: 'GET' | 'POST';
  /** Below `/api`, escaped: `/keys`, `/combos/smart`. */
  path: string;
  params: URLSearchParams;
  /** What would be sent as JSON. */
  body?: object;
}

/**
 * Carries out a request to a collection as if it had come over HTTP: the same permissions, limits and records.
 * @throws GatewayError
 */
export async function callApi(
  context: ManagementContext,
  caller: Caller,
  { body, method, params, path: below }: ApiCall,
): Promise<Answer> {
  const path = apiPath(`/api${below}`);
  return serveResource(collectionContext(context), {
    resource: withinTokenScope(resourceOf(context, path), caller),
    params,
    caller,
    rest: path.rest,
    prefix: path.prefix,
    method,
    headers: {},
    body,
    dryRun: params.get('dry_run') === 'true',
  });
}

function resourceOf({ resources }: ManagementContext, { collection: name }: ApiPath): Resource {
  const resource = resources.find((one) => one.name === name);
  if (resource === undefined) throw new GatewayError('not_found', `There is no collection "${name}"`);
  return resource;
}

function collectionContext(context: ManagementContext): CollectionContext {
  return {
    record: (change) => context.audit({ kind: 'change', change }),
    report: context.report,
    mutex: context.mutex,
    once: context.once,
    pace: context.pace,
    now: context.now,
  };
}

function preflight(
  { resources }: ManagementContext,
  path: ApiPath,
  { headers }: Exchange['request'],
): Answer {
  if (headers['webhook-request-origin'] !== undefined && fixedPath(path) === 'events')
    return eventHandshake(headers);
  const verbs =
    path.collection === 'events'
      ? eventsVerbs(path)
      : path.collection === 'cli-tools'
        ? cliToolsVerbs(path)
        : path.collection === 'acp'
          ? acpAgentsVerbs(path)
          : verbsOf(resources, path);
  return { status: 204, body: null, headers: { allow: [...verbs, 'HEAD', 'OPTIONS'].join(', ') } };
}

function verbsOf(resources: ManagementContext['resources'], { collection: name, rest }: ApiPath): string[] {
  const resource = resources.find((one) => one.name === name);
  const member = rest.length > 0;
  if (resource === undefined) return ['GET'];
  return [
    'GET',
    ...(member || resource.create !== undefined || resource.actions !== undefined ? ['POST'] : []),
    ...(member && resource.update !== undefined ? ['PUT', 'PATCH'] : []),
    ...(member && resource.remove !== undefined ? ['DELETE'] : []),
  ];
}

function reading(method: string, exchange: Exchange, body: () => object): Answer {
  readOnly(method);
  checkAccept(exchange.request);
  return { status: 200, body: body(), headers: {} };
}

function readOnly(method: string): void {
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(method);
}

function ping(exchange: Exchange): null {
  sendWhole(exchange, 200, 'pong', { ...securityHeaders, 'content-type': 'text/plain; charset=utf-8' });
  return null;
}

/** Sends an answer, with the headers that every answer of this API has. */
export function sendAnswer(exchange: AnyExchange, { body, content, headers, status }: Answer): void {
  const form = content?.type ?? (body === null ? null : 'application/json');
  const type = form === null ? {} : { 'content-type': form };
  const bytes = content?.bytes ?? (body === null ? null : JSON.stringify(body));
  sendWhole(exchange, status, bytes, { ...securityHeaders, ...type, ...headers });
}
