import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import type { Provider } from '../providers/provider.ts';
import { upstreamUrl } from '../providers/url.ts';
import type { ConnectionChange, ConnectionRecord, NewConnectionInput } from './schema.ts';
import type { ConnectionPatch, NewConnection } from './store.ts';

/** A new connection of what was sent. @throws GatewayError that names the member */
export function newConnectionOf(input: NewConnectionInput): NewConnection {
  const provider = connectable(input.provider);
  const baseUrl = input.base_url ?? null;
  const apiKey = input.api_key ?? null;
  if (baseUrl !== null) checkBaseUrl(baseUrl);
  else if (provider.baseUrl === null)
    throw invalid('base_url', `${provider.name} has no address of its own: name it with base_url`);
  checkApiKey(provider, apiKey);
  return {
    provider: provider.id,
    name: input.name ?? provider.id,
    baseUrl,
    apiKey,
    defaultModel: input.default_model ?? null,
    ...(input.priority === undefined ? {} : { priority: input.priority }),
    ...(input.active === undefined ? {} : { active: input.active }),
  };
}

/** What is to change of a connection. @throws GatewayError that names the member */
export function patchOf(record: ConnectionRecord, change: ConnectionChange): ConnectionPatch {
  const provider = findProvider(record.provider);
  const patch: ConnectionPatch = {};
  if (change.name !== undefined) patch.name = change.name;
  if (change.default_model !== undefined) patch.defaultModel = change.default_model;
  if (change.active !== undefined) patch.active = change.active;
  if (change.priority !== undefined) patch.priority = change.priority;
  if (change.api_key !== undefined) {
    if (provider !== undefined) checkApiKey(provider, change.api_key);
    patch.apiKey = change.api_key;
  }
  if (change.base_url !== undefined && change.base_url !== record.baseUrl) {
    if (change.base_url !== null) checkBaseUrl(change.base_url);
    else if (provider === undefined || provider.baseUrl === null)
      throw invalid('base_url', 'this provider has no address of its own: base_url cannot be null');
    checkOwner(record, provider, change);
    patch.baseUrl = change.base_url;
  }
  return patch;
}

/**
 * The stored credential is never sent to another server than it was entered for: otherwise whoever may change a
 * connection could have it sent to a server of their own.
 */
function checkOwner(
  record: ConnectionRecord,
  provider: Provider | undefined,
  change: ConnectionChange,
): void {
  if (record.authType === 'none' || change.api_key !== undefined) return;
  const before = originOf(record.baseUrl ?? provider?.baseUrl ?? null);
  const after = originOf(change.base_url ?? provider?.baseUrl ?? null);
  if (before !== null && before === after) return;
  throw invalid(
    'api_key',
    'base_url names another server: give the API key for it as well, the stored one is not sent there',
  );
}

/** The demo answers without a connection, so that there is nothing to add. @throws GatewayError */
function connectable(id: string): Provider {
  const provider = findProvider(id) ?? findProvider(id.toLowerCase());
  if (provider === undefined)
    throw invalid('provider', 'There is no provider of this id: /api/providers lists them');
  if (provider.category === 'demo')
    throw invalid('provider', 'The demo is built in and needs no connection: ask for demo/echo');
  return provider;
}

function checkApiKey(provider: Provider, apiKey: string | null): void {
  const { auth } = provider;
  if (apiKey === null && auth.kind !== 'none' && auth.optional !== true)
    throw invalid('api_key', `${provider.name} needs an API key: give it as api_key`);
}

/**
 * Joining a path shows whether a base URL can be used. Link-local addresses are refused: no model server has one,
 * and clouds hand out credentials of the machine there (169.254.169.254).
 * @throws GatewayError that does not repeat the URL, which may hold a secret
 */
export function checkBaseUrl(text: string): void {
  const { hostname } = new URL(upstreamUrl(text, '/'));
  if (/^169\.254\./.test(hostname) || /^\[(fe[89ab]|::ffff:a9fe:)/i.test(hostname))
    throw invalid('base_url', 'base_url must not name a link-local address');
}

function originOf(url: string | null): string | null {
  return url === null ? null : (URL.parse(url.trim())?.origin ?? null);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
