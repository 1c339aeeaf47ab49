import { codecOf } from '../codecs/index.ts';
import { GatewayError } from '../lib/error.ts';
import type { UpstreamRequest } from './attempt.ts';
import { builtinUpstream } from './builtin.ts';
import type { Call } from './call.ts';
import type { ProxyContext } from './context.ts';
import { upstreamHeaders, viaHeader } from './headers.ts';
import { withQuery } from './query.ts';
import { spliceModel } from './splice.ts';

/**
 * The request to the call's current target: its bytes with only the model's name exchanged, its headers with
 * the connection's credential.
 * @param again true for the second try at the same target, which gets a socket of its own
 * @throws GatewayError `connection_unusable`
 */
export function upstreamRequest(context: ProxyContext, call: Call, again: boolean): UpstreamRequest {
  const { connection, model, provider } = call.target;
  const { format } = call.target;
  if (call.translated === null && call.named === null) nameModel(call, model);
  const body = call.translated === null ? call.body : [call.translated.body];
  if (provider.category === 'demo') {
    const upstream = builtinUpstream(format, context.now);
    return {
      upstream,
      origin: 'http://demo.invalid',
      host: 'demo',
      path: '/',
      headers: [],
      body,
    };
  }
  const formatPath = provider.formats[format];
  const baseUrl = connection.baseUrl ?? provider.baseUrl;
  if (formatPath === undefined || baseUrl === null) {
    throw new GatewayError(
      'connection_unusable',
      `The connection "${connection.name}" has no base URL: add it again with --base-url`,
    );
  }
  if (connection.authType === 'api-key' && connection.credential === null) {
    throw new GatewayError(
      'connection_unusable',
      `The connection "${connection.name}" needs re-entry: its stored credential cannot be decrypted with the current STORAGE_ENCRYPTION_KEY`,
    );
  }
  const endpoint = context.pools.endpoint(baseUrl, formatPath, provider.formats);
  const path = withModel(endpoint.path, call);
  const earlier = call.exchange.request.headers[viaHeader];
  const via = earlier === undefined ? context.instance : `${String(earlier)}, ${context.instance}`;
  // Like its headers, a caller's query goes only to the vendor whose format it belongs to.
  const isVendor = provider.forwardHeaders === 'all';
  return {
    upstream: again ? endpoint.fresh() : endpoint.upstream,
    origin: endpoint.origin,
    host: endpoint.host,
    path: isVendor ? withQuery(path, call.exchange.query, format) : path,
    headers: upstreamHeaders({
      raw: call.exchange.request.rawHeaders,
      target: call.target,
      format,
      translated: call.translated !== null,
      via,
      requestId: call.exchange.id,
    }),
    body,
  };
}

/** The path with the model and the wish for a stream, where the target's format has them there. */
function withModel(path: string, { named, target, translated }: Call): string {
  const { pathOf } = codecOf(target.format);
  if (pathOf === null) return path;
  const stream = translated?.stream ?? named?.stream ?? false;
  const model = target.model.replace(/^models\//, '').split('/');
  // Dots would lead to another of the provider's paths, with the connection's credential.
  if (model.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new GatewayError('invalid_request', 'The model is no name of one', { param: 'model' });
  const [before = '', query] = path.split('?', 2);
  const [behind = '', asked] = pathOf(model.map(encodeURIComponent).join('/'), stream).split('?', 2);
  const queries = [query, asked].filter((one) => one !== undefined);
  return `${before}${behind}${queries.length === 0 ? '' : `?${queries.join('&')}`}`;
}

/** Writes the target's model into the call's body, unless it stands there already. */
function nameModel(call: Call, model: string): void {
  if (model === call.bodyModel) return;
  const { pieces, span } = spliceModel({ pieces: call.body, span: call.span }, model);
  call.body = pieces;
  call.span = span;
  call.bodyModel = model;
}
