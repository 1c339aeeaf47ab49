import { hostRefusal, type Listening } from '../http/outbound/outbound.ts';
import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import type { Provider } from '../providers/provider.ts';
import { upstreamUrl } from '../providers/url.ts';
import { accountOf, accountText } from './accounts/account.ts';
import type { Account, OAuthAccount } from './accounts/schema.ts';
import { baseUrlFromParameters, baseUrlWith, parametersOf } from './base-url.ts';
import { oauthClientOf } from './oauth/client.ts';
import type { ConnectionChange, ConnectionRecord, NewConnectionInput } from './schema.ts';
import type { ConnectionPatch, NewConnection } from './store.ts';

/** A new connection of what was sent. @throws GatewayError that names the field */
export function newConnectionOf(input: NewConnectionInput, listening: Listening): NewConnection {
  const provider = connectable(input.provider);
  const credential = credentialOf(provider, input);
  const baseUrl = baseUrlOf(provider, input, credential.account);
  if (baseUrl !== null) checkBaseUrl(baseUrl, listening);
  else if (provider.baseUrl === null) throw invalid('base_url', missingAddress(provider));
  return {
    provider: provider.id,
    name: input.name ?? provider.id,
    baseUrl,
    apiKey: credential.text,
    ...(credential.account === null ? {} : { authType: credential.account.kind }),
    defaultModel: input.default_model ?? null,
    ...(input.priority === undefined ? {} : { priority: input.priority }),
    ...(input.active === undefined ? {} : { active: input.active }),
    ...(input.prompt_cache_marks === undefined ? {} : { cacheMarks: input.prompt_cache_marks }),
    ...(input.billing === undefined ? {} : { billing: input.billing }),
  };
}

/** What is to change of a connection. @throws GatewayError that names the field */
export function patchOf(
  record: ConnectionRecord,
  change: ConnectionChange,
  listening: Listening,
): ConnectionPatch {
  const provider = findProvider(record.provider);
  const patch: ConnectionPatch = {};
  if (change.name !== undefined) patch.name = change.name;
  if (change.default_model !== undefined) patch.defaultModel = change.default_model;
  if (change.active !== undefined) patch.active = change.active;
  if (change.priority !== undefined) patch.priority = change.priority;
  if (change.prompt_cache_marks !== undefined) patch.cacheMarks = change.prompt_cache_marks;
  if (change.billing !== undefined) patch.billing = change.billing;
  if (change.api_key !== undefined || change.oauth !== undefined) {
    if (provider === undefined)
      throw new GatewayError('conflict', `This version does not support the provider "${record.provider}"`);
    const { account, text } = credentialOf(provider, change, record);
    patch.apiKey = text;
    if (account !== null) patch.authType = account.kind;
  }
  if (change.base_url !== undefined && change.base_url !== record.baseUrl) {
    if (change.base_url !== null) checkBaseUrl(change.base_url, listening);
    else if (provider === undefined || provider.baseUrl === null)
      throw invalid('base_url', 'this provider has no address of its own: base_url cannot be null');
    checkOwner(record, provider, change);
    patch.baseUrl = change.base_url;
  }
  return patch;
}

/**
 * The stored credential is never sent to another server than it was entered for: otherwise a user who may change a
 * connection could have it sent to a server of their own.
 */
function checkOwner(
  record: ConnectionRecord,
  provider: Provider | undefined,
  change: ConnectionChange,
): void {
  if (record.authType === 'none' || change.api_key !== undefined || change.oauth !== undefined) return;
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
  if (provider.category === 'agent')
    throw invalid(
      'provider',
      'Agents need no connection: enable one at /api/acp/agents and ask for acp/<agent>',
    );
  return provider;
}

interface ParsedCredential {
  /** To be encrypted; null for none. */
  text: string | null;
  /** What it is, where it is more than a key. */
  account: Account | null;
}

/** The credential that was given. @throws GatewayError that names the field */
function credentialOf(
  provider: Provider,
  { api_key = null, oauth = null }: Pick<ConnectionChange, 'api_key' | 'oauth'>,
  record: ConnectionRecord | null = null,
): ParsedCredential {
  if (api_key !== null && oauth !== null) throw invalid('oauth', 'Give api_key or oauth, not both');
  if (oauth !== null) {
    const account: OAuthAccount = {
      kind: 'oauth',
      client: oauthClientOf(provider, oauth, record),
      grant: null,
    };
    return { account, text: accountText(account) };
  }
  const { auth } = provider;
  if (api_key !== null) return { text: api_key, account: accountOf(provider, api_key) };
  if (auth.kind !== 'none' && auth.optional !== true)
    throw invalid(
      'api_key',
      `${provider.name} needs a credential: give it as api_key, or describe a login as oauth`,
    );
  return { text: null, account: null };
}

/** The address that was given, whole or by its parameters, or that a credential names by itself; null for none. */
function baseUrlOf(
  provider: Provider,
  { base_url: whole, base_url_parameters: parameters }: NewConnectionInput,
  account: Account | null,
): string | null {
  if (parameters !== undefined) {
    if (whole !== undefined && whole !== null)
      throw invalid('base_url_parameters', 'Give base_url or base_url_parameters, not both');
    return baseUrlFromParameters(provider, parameters);
  }
  if (whole !== undefined && whole !== null) return whole;
  return account === null || account.kind === 'oauth' ? null : baseUrlWith(provider, account.fields);
}

function missingAddress(provider: Provider): string {
  const parameters = parametersOf(provider);
  const either = parameters.length === 0 ? '' : `, or ${parameters.join(' and ')} with base_url_parameters`;
  return `${provider.name} has no address of its own: name it with base_url${either}`;
}

/**
 * Joining a path shows whether a base URL can be used. It must not lead where nothing is sent (`http/outbound/outbound.ts`);
 * what a name is resolved to is looked at when it is used.
 * @throws GatewayError that does not repeat the URL, which may hold a secret
 */
export function checkBaseUrl(text: string, listening: Listening): void {
  const { hostname, port, protocol } = new URL(upstreamUrl(text, '/'));
  const refusal = hostRefusal(hostname, Number(port) || (protocol === 'https:' ? 443 : 80), listening);
  if (refusal !== null) throw invalid('base_url', `base_url is refused: ${refusal}`);
}

function originOf(url: string | null): string | null {
  return url === null ? null : (URL.parse(url.trim())?.origin ?? null);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
