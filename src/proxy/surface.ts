import { authenticate, type Principal, presentedKeys } from '../access/authenticate.ts';
import { codecOf } from '../codecs/index.ts';
import { isLoopback } from '../config.ts';
import { readBody } from '../http/body/body.ts';
import type { AnyExchange } from '../http/exchange.ts';
import { sendJson } from '../http/send.ts';
import { type AllowedHosts, checkHost } from '../http/server/allowed-hosts.ts';
import type { HttpExchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { ProxyContext } from './context.ts';
import { countTokens } from './count.ts';
import { refuseDryRun } from './dry-run.ts';
import { listsForGoogle, type Match, matchPath, methodsServed } from './inbound/routes.ts';
import { geminiModel, geminiModels } from './model-list/gemini.ts';
import { modelList, oneModel } from './model-list/models.ts';
import { ollamaShow, ollamaTags, ollamaVersion } from './model-list/ollama.ts';
import { serveOwnUsage } from './own-usage.ts';
import { proxyRequest } from './proxy.ts';
import { serveStored } from './stored-responses.ts';

/** The key of this process's own run file, and the principal it stands for. */
export interface OwnerKey {
  key: string;
  principal: Principal;
}

export interface SurfaceContext extends ProxyContext {
  /** Called with the sender of a request that gets no row in the ledger, e.g. a list of models. */
  onIdentified(exchange: HttpExchange, principal: Principal): void;
  hosts: AllowedHosts;
  owner: OwnerKey;
}

/** The principal of a request without a key, where no key is required. */
const anonymous: Principal = { keyId: 'anonymous', name: 'anonymous', models: null };

/**
 * Serves the model endpoints, from the fast path of the HTTP server or from Node's. Checks the key (`principalOf`). Returns null
 * for a path that is none of them.
 * @throws GatewayError to be rendered in the dialect of the path
 */
export function serveModels(context: SurfaceContext, exchange: HttpExchange): Promise<void> | true | null {
  const match = matchPath(exchange.path);
  if (match === null) return null;
  const { method } = exchange.request;
  const { surface } = match;
  if (!methodsServed(surface).includes(method ?? ''))
    throw new GatewayError('method_not_allowed', `${method} is not served here: use ${surface.method}`);
  context.gate(exchange);
  const principal = principalOf(context, exchange, match);
  const snapshot = context.snapshot();
  if (surface.kind !== 'relay' && surface.kind !== 'compact') context.onIdentified(exchange, principal);
  if (surface.kind !== 'relay' || codecOf(surface.format).media !== undefined) refuseDryRun(exchange.request);
  switch (surface.kind) {
    case 'relay':
    case 'compact':
      return proxyRequest(context, exchange, surface, principal);
    case 'stored-response':
      return serveStored(context, exchange, surface, principal);
    case 'count':
      return countTokens(context, exchange, surface, principal);
    case 'model-list': {
      if (listsForGoogle(surface, exchange.request.headers)) {
        sendJson(exchange, 200, geminiModels(snapshot, principal, exchange.query));
        return true;
      }
      const anthropic = exchange.request.headers['anthropic-version'] !== undefined;
      sendJson(exchange, 200, modelList(snapshot, principal, { anthropic, query: exchange.query }));
      return true;
    }
    case 'own-usage':
      return serveOwnUsage(context, exchange, principal);
    case 'model': {
      const shape = listsForGoogle(surface, exchange.request.headers) ? geminiModel : oneModel;
      sendJson(exchange, 200, shape(snapshot, principal, surface.id));
      return true;
    }
    case 'gemini-models':
      sendJson(exchange, 200, geminiModels(snapshot, principal, exchange.query));
      return true;
    case 'gemini-model':
      sendJson(exchange, 200, geminiModel(snapshot, principal, surface.id));
      return true;
    case 'ollama-version':
      sendJson(exchange, 200, ollamaVersion);
      return true;
    case 'ollama-tags':
      sendJson(exchange, 200, ollamaTags(snapshot, principal));
      return true;
    case 'ollama-show':
      return showOllamaModel(context, exchange, principal);
  }
}

async function showOllamaModel(
  { config, snapshot }: SurfaceContext,
  exchange: HttpExchange,
  principal: Principal,
): Promise<void> {
  const body = await readBody(exchange.request, { limitBytes: config.limits.bodyBytes });
  sendJson(exchange, 200, ollamaShow(snapshot(), principal, Buffer.concat(body)));
}

/** Who sends the request, by its key. @throws GatewayError `invalid_api_key`, `host_not_allowed` */
export function principalOf(
  context: SurfaceContext,
  exchange: Pick<AnyExchange, 'query' | 'request'>,
  { pathKey, surface }: Match,
): Principal {
  const { request } = exchange;
  const keys = pathKey === null ? presentedKeys(request.headers) : [pathKey];
  // Google's clients may send it as `?key=`, and only where their format is served.
  const inQuery = servesGoogle(surface) ? new URLSearchParams(exchange.query).get('key') : null;
  if (inQuery !== null) keys.push(inQuery);
  const principal = authenticate(context.snapshot().keys.byHash, keys, context.now());
  if (principal !== null) return principal;
  if (keys.includes(context.owner.key) && isLoopback(address(exchange))) return context.owner.principal;
  if (!context.config.authRequired) {
    // Any page may post to this machine, or open a WebSocket to it, without being able to read what comes of it.
    if (request.headers.origin !== undefined)
      throw new GatewayError(
        'invalid_api_key',
        'A browser must send a gateway key, even where other clients need none',
      );
    // A page that has its own name resolved to this machine is of the same origin, and could read it too.
    checkHost(request, context.hosts);
    return anonymous;
  }
  const message =
    keys.length === 0
      ? 'No API key was sent: send a gateway key as "Authorization: Bearer sk-…" or "x-api-key: sk-…" (create one with `gateway keys add NAME`)'
      : 'The API key is not valid here: it is unknown, expired or removed (`gateway keys list` shows the keys of this gateway)';
  throw new GatewayError('invalid_api_key', message);
}

function servesGoogle(surface: Match['surface']): boolean {
  return 'format' in surface ? surface.format === 'gemini' : surface.kind.startsWith('gemini-');
}

/** The peer's address, IPv4-mapped IPv6 reduced to IPv4. */
function address({ request }: Pick<AnyExchange, 'request'>): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}
