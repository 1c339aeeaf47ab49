import { relayedHistory } from '../../codecs/history/relayed.ts';
import { codecOf } from '../../codecs/index.ts';
import { dialectOf } from '../../codecs/model/dialect.ts';
import type { Target } from '../../combos/resolve.ts';
import { notLoggedIn } from '../../connections/oauth/refresh.ts';
import type { OpenConnection } from '../../connections/schema.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ProxyContext } from '../context.ts';
import type { Call } from '../dispatch/call.ts';
import { authorised } from './authorised.ts';
import { modelInPath } from './model-in-path.ts';
import { withQuery } from '../inbound/query.ts';
import { spliceModel } from '../json/splice.ts';
import type { Upload } from '../upload/upload.ts';
import { agentRequest } from './agent.ts';
import type { UpstreamRequest } from './attempt.ts';
import { builtinUpstream } from './builtin.ts';
import { upstreamHeaders, viaHeader } from './headers.ts';

/**
 * The request to the call's current target: its bytes with only the model's name exchanged, its headers with
 * the connection's credential.
 * @param again true for the second try at the same target, which gets a socket of its own
 * @throws GatewayError `connection_unusable`
 */
export function upstreamRequest(context: ProxyContext, call: Call, again: boolean): UpstreamRequest {
  const translated = call.translated !== null;
  const compacts = call.turn?.compaction === 'endpoint' && !translated;
  const { exchange, target, upload } = call;
  const rule = upload === null ? target.provider.modelInPath?.[target.format] : undefined;
  if (!translated && call.named === null && upload === null && rule === undefined)
    nameModel(call, target.model);
  const sent = bodyFor(context, call);
  if (target.provider.category === 'agent') return agentRequest(context, call, sent);
  if (rule !== undefined) {
    const { body, dropped, end } = modelInPath(call, rule, sent);
    call.dropped = [...new Set([...call.dropped, ...dropped])];
    const pathOf = (path: string) => extendPath(path, end);
    return requestTo(context, { exchange, target, body, pathOf, translated, again, attempt: call.attempts });
  }
  const request = requestTo(context, {
    exchange,
    target,
    body: sent,
    pathOf: (path) => (compacts ? extendPath(path, '/compact') : withModel(path, call)),
    translated,
    again,
    attempt: call.attempts,
    ...(upload === null ? {} : { contentType: String(exchange.request.headers['content-type']) }),
  });
  return upload === null ? request : withUpload(request, upload, target.model);
}

/** The bytes for the call's target: those of its translation, or the caller's own with a history that the target takes. */
function bodyFor({ refused }: ProxyContext, call: Call): readonly Buffer[] {
  const { target, translated, upload } = call;
  if (translated !== null) return [translated.body];
  if (upload !== null) return call.body;
  const { body, left } = relayedHistory(call.body, {
    format: target.format,
    model: target.model,
    dialect: dialectOf(target.provider.dialect),
    refused: refused.of(target),
  });
  if (left.length > 0) call.dropped = [...new Set([...call.dropped, ...left])];
  return body;
}

/** The request with the caller's form as its body; of known length where the caller's is. */
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
  /** The body is no longer the caller's own. */
  translated: boolean;
  again: boolean;
  /** Default JSON. */
  contentType?: string;
  /** Which attempt of the request it is, counted from 1. Absent for what is no attempt, and has no span of its own. */
  attempt?: number;
}

/** A request to a target on behalf of a caller. @throws GatewayError `connection_unusable` */
export function requestTo(context: ProxyContext, input: RequestInput): UpstreamRequest {
  const { again, body, exchange, target, translated } = input;
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
  const earlier = exchange.request.headers[viaHeader];
  const via = earlier === undefined ? context.instance : `${String(earlier)}, ${context.instance}`;
  // Like its headers, a caller's query goes only to the vendor whose format it belongs to.
  const isVendor = provider.forwardHeaders === 'all';
  const upstream = again ? endpoint.fresh() : endpoint.upstream;
  return {
    upstream:
      connection.account === undefined
        ? upstream
        : authorised(upstream, { ...context, connection, provider }),
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

/** The path with the model and the wish for a stream, where the target's format has them there. */
function withModel(path: string, { named, target, translated }: Call): string {
  const { pathOf } = codecOf(target.format);
  if (pathOf === null) return path;
  const stream = translated?.stream ?? named?.stream ?? false;
  return extendPath(path, pathOf(modelSegments(target.model), stream));
}

/** `end` behind a path that may have a query, as `end` may have one. */
export function extendPath(path: string, end: string): string {
  const [before = '', query] = path.split('?', 2);
  const [behind = '', asked] = end.split('?', 2);
  const queries = [query, asked].filter((one) => one !== undefined);
  return `${before}${behind}${queries.length === 0 ? '' : `?${queries.join('&')}`}`;
}

/** A model's name as the part of a path. @throws GatewayError `invalid_request` for one that would lead elsewhere */
export function modelSegments(model: string): string {
  const segments = model.replace(/^models\//, '').split('/');
  // Dots would lead to another of the provider's paths, with the connection's credential.
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new GatewayError('invalid_request', 'The model is no name of one', { param: 'model' });
  return segments.map(encodeURIComponent).join('/');
}

/** Writes the target's model into the call's body, unless it stands there already. */
function nameModel(call: Call, model: string): void {
  if (model === call.bodyModel) return;
  const { pieces, span } = spliceModel({ pieces: call.body, span: call.span }, model);
  call.body = pieces;
  call.span = span;
  call.bodyModel = model;
}
