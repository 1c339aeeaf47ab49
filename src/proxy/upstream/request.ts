import type { Target } from '../../combos/routing/resolve.ts';
import type { AccessTokens } from '../../connections/credentials/access-tokens.ts';
import { notLoggedIn } from '../../connections/oauth/refresh.ts';
import type { OpenConnection } from '../../connections/schema.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Provider } from '../../providers/provider.ts';
import { viaHeader } from '../inbound/loop.ts';
import { withQuery } from '../inbound/query.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import type { Upload } from '../request/upload.ts';
import { type AskAgent, agentRequest } from './agent.ts';
import type { UpstreamRequest } from './attempt.ts';
import { authorized } from './authorized.ts';
import { builtinUpstream } from './builtin.ts';
import { upstreamHeaders } from './headers.ts';
import type { Pools } from './pools.ts';

/** What sending a request needs of the gateway. */
export interface UpstreamContext {
  pools: Pools;
  tokens: Pick<AccessTokens, 'current' | 'fresh' | 'issued'>;
  askAgent: AskAgent;
  /** The `traceparent` that an attempt of a request sends upstream, counted from 1; null where the client's is passed on. */
  traceparent: ((exchange: AnyExchange, attempt: number) => string) | null;
  /** Names this process in `x-gateway-via`. */
  instance: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A request that is ready to be sent, as undici takes it and as the gateway describes it. */
export interface ReadyRequest {
  readonly upstream: UpstreamRequest;
  /** Now also with the fields that an agent reported as not supported. */
  readonly request: OutgoingRequest;
}

/**
 * The request of an attempt with its headers, which have the connection's credential.
 * @param freshSocket true for the second try at the same target, which gets a new socket
 * @throws GatewayError `connection_unusable`
 */
export function readyRequest(
  context: UpstreamContext,
  facts: RequestFacts,
  request: OutgoingRequest,
  freshSocket: boolean,
): ReadyRequest {
  const { attempt, body, pathEnd, target, translation } = request;
  const { exchange, upload } = facts;
  if (target.provider.category === 'agent') {
    const { dropped, upstream } = agentRequest(context.askAgent, facts, request);
    return {
      upstream,
      request: { ...request, dropped: [...new Set([...request.dropped, ...dropped])].sort() },
    };
  }
  const upstream = requestTo(context, {
    exchange,
    target,
    body,
    pathOf: (path) => (pathEnd === '' ? path : extendPath(path, pathEnd)),
    translated: translation !== null,
    freshSocket,
    attempt,
    ...(upload === null ? {} : { contentType: String(exchange.request.headers['content-type']) }),
  });
  return { upstream: upload === null ? upstream : withUpload(upstream, upload, target.model), request };
}

/** The request with the client's form as its body; of known length where the client's is. */
function withUpload(request: UpstreamRequest, upload: Upload, model: string): UpstreamRequest {
  const length = upload.length(model);
  const headers = length === null ? [] : ['content-length', String(length)];
  return { ...request, headers: [...request.headers, ...headers], stream: upload.body(model) };
}

export interface RequestInput {
  exchange: AnyExchange;
  target: Target;
  body: readonly Buffer[];
  /** The path to ask, from the one that the provider's format has. */
  pathOf(path: string): string;
  /** The body is no longer the client's own. */
  translated: boolean;
  freshSocket: boolean;
  /** Default JSON. */
  contentType?: string;
  /** Which attempt of the request it is, counted from 1. Absent for what is no attempt, and has no span of its own. */
  attempt?: number;
}

/** A request to a target on behalf of a client. @throws GatewayError `connection_unusable` */
export function requestTo(context: UpstreamContext, input: RequestInput): UpstreamRequest {
  const { freshSocket, body, exchange, target, translated } = input;
  const { connection, format, provider } = target;
  if (provider.category === 'demo') {
    const upstream = builtinUpstream(format, context.now);
    return { upstream, origin: 'http://demo.invalid', host: 'demo', path: '/', headers: [], body };
  }
  const formatPath = provider.formats[format];
  const baseUrl = connection.baseUrl ?? provider.baseUrl;
  if (formatPath === undefined || baseUrl === null) {
    throw new GatewayError(
      'connection_unusable',
      `The connection "${connection.name}" has no base URL: add it again with --base-url`,
    );
  }
  checkCredential(connection);
  const endpoint = context.pools.endpoint(baseUrl, formatPath, provider.formats);
  const path = input.pathOf(withOwnQuery(endpoint.path, provider));
  const earlierVia = exchange.request.headers[viaHeader];
  const via = earlierVia === undefined ? context.instance : `${String(earlierVia)}, ${context.instance}`;
  // Like its headers, a client's query goes only to the vendor whose format it belongs to.
  const isVendor = provider.forwardHeaders === 'all';
  const upstream = freshSocket ? endpoint.fresh() : endpoint.upstream;
  return {
    upstream:
      connection.account === undefined
        ? upstream
        : authorized(upstream, { ...context, connection, provider }),
    origin: endpoint.origin,
    host: endpoint.host,
    path: isVendor ? withQuery(path, exchange.query, format) : path,
    headers: upstreamHeaders({
      raw: exchange.request.rawHeaders,
      target,
      format,
      translated,
      contentType: input.contentType ?? 'application/json',
      via,
      requestId: exchange.id,
      traceparent:
        input.attempt === undefined ? null : (context.traceparent?.(exchange, input.attempt) ?? null),
    }),
    body,
  };
}

/** @throws GatewayError `connection_unusable`, `login_required` */
function checkCredential({ account, authType, credential, name }: OpenConnection): void {
  if (authType === 'none') return;
  if (credential === null)
    throw new GatewayError(
      'connection_unusable',
      `The connection "${name}" needs re-entry: its stored credential cannot be decrypted with the current STORAGE_ENCRYPTION_KEY`,
    );
  if (account?.kind === 'oauth' && account.grant === null)
    throw new GatewayError('login_required', notLoggedIn(name));
}

function withOwnQuery(path: string, { query }: Provider): string {
  return query === undefined || path.includes('?') ? path : `${path}?${query}`;
}

/** `end` behind a path that may have a query, as `end` may have one. */
export function extendPath(path: string, end: string): string {
  const [before = '', query] = path.split('?', 2);
  const [suffix = '', endQuery] = end.split('?', 2);
  const queries = [query, endQuery].filter((one) => one !== undefined);
  return `${before}${suffix}${queries.length === 0 ? '' : `?${queries.join('&')}`}`;
}

/** A model's name as the part of a path. @throws GatewayError `invalid_request` for one that would lead elsewhere */
export function modelSegments(model: string): string {
  const segments = model.replace(/^models\//, '').split('/');
  // Dots would lead to another of the provider's paths, with the connection's credential.
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new GatewayError('invalid_request', '"model" must not have an empty, "." or ".." segment', {
      param: 'model',
    });
  return segments.map(encodeURIComponent).join('/');
}
