import { codecOf, codecs } from '../../codecs/index.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Provider, ProviderAuth } from '../../providers/provider.ts';
import { upstreamUrl } from '../../providers/url.ts';
import type { OpenConnection } from '../schema.ts';

/** What an upstream is asked to see whether a connection works: for its models, or for one token. */
export interface ProbeRequest {
  url: string;
  headers: Record<string, string>;
  /** Of a plain key. */
  auth: ProviderAuth;
  /** Null for a list of models. */
  body: string | null;
}

/**
 * Null when the provider lists no models and no model to try is known.
 * @param list whether a list of models is asked for, where the provider has one
 * @throws GatewayError for a base URL that is none
 */
export function probeRequest(
  connection: OpenConnection,
  provider: Provider,
  { list = true }: { list?: boolean } = {},
): ProbeRequest | null {
  const baseUrl = connection.baseUrl ?? provider.baseUrl;
  const paths = Object.values(provider.formats);
  if (baseUrl === null) return null;
  const headers: Record<string, string> = { accept: 'application/json', ...provider.headers };
  const { auth, modelsPath } = provider;
  if (modelsPath !== null && list)
    return { url: upstreamUrl(baseUrl, modelsPath, paths), headers, auth, body: null };
  const model = connection.defaultModel ?? provider.suggestedModel;
  const codec = codecs.find(
    (one) => one.smallestRequest !== undefined && provider.formats[one.format] !== undefined,
  );
  if (model === null || codec === undefined) return null;
  const { format, smallestRequest } = codec;
  const { end, members } = naming(provider, format, model);
  const url = new URL(upstreamUrl(baseUrl, provider.formats[format] ?? '', paths));
  url.pathname += end;
  if (url.search === '' && provider.query !== undefined) url.search = provider.query;
  return {
    url: url.href,
    headers: { ...headers, 'content-type': 'application/json' },
    auth: provider.formatAuth?.[format] ?? auth,
    body: JSON.stringify({ ...members, ...smallestRequest }),
  };
}

/** Where the model is named: in the path or in the body. */
function naming(provider: Provider, format: WireFormat, model: string): { end: string; members: object } {
  const rule = provider.modelInPath?.[format];
  const name = encodeURIComponent(model);
  if (rule !== undefined)
    return { end: rule.whole.replace('{model}', () => name), members: rule.members ?? {} };
  const end = codecOf(format).pathOf?.(name, false);
  return end === undefined ? { end: '', members: { model } } : { end, members: {} };
}
