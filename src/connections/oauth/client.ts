import { GatewayError } from '../../lib/error.ts';
import type { Provider } from '../../providers/provider.ts';
import type { OAuthClient } from '../accounts/schema.ts';
import type { ConnectionRecord, OAuthInput } from '../schema.ts';
import { checkedUrl } from './endpoint.ts';

/**
 * The client that an owner describes, with what the provider says of logins there, and with what is known of the
 * connection from earlier. Its secret is never taken from earlier: the endpoints to which it goes may be others now.
 * @throws GatewayError that names the field
 */
export function oauthClientOf(
  provider: Provider,
  input: OAuthInput,
  record: ConnectionRecord | null,
): OAuthClient {
  const before = record?.login;
  const { login } = provider;
  const clientId = input.client_id ?? before?.client_id;
  if (clientId === undefined)
    throw invalid('client_id', 'give the id of the client that is registered at the provider');
  const client: OAuthClient = {
    issuer: chosenValue(input.issuer, before?.issuer, login?.issuer),
    authorizationUrl: chosenValue(input.authorization_url, before?.authorization_url),
    tokenUrl: chosenValue(input.token_url, before?.token_url),
    deviceUrl: chosenValue(input.device_url, before?.device_url),
    clientId,
    clientSecret: input.client_secret ?? null,
    scopes: input.scopes ?? before?.scopes ?? [...(login?.scopes ?? [])],
    audience: chosenValue(input.audience, before?.audience),
    redirectUri: chosenValue(input.redirect_uri, before?.redirect_uri),
  };
  if (before?.has_client_secret === true && input.client_secret === undefined)
    throw invalid('client_secret', 'give it again, or null for none');
  checkUrls(client);
  return client;
}

function chosenValue(
  now: string | null | undefined,
  before: string | null | undefined,
  usual?: string,
): string | null {
  return now !== undefined ? now : (before ?? usual ?? null);
}

function checkUrls({ authorizationUrl, deviceUrl, issuer, redirectUri, tokenUrl }: OAuthClient): void {
  const urls = {
    issuer,
    authorization_url: authorizationUrl,
    token_url: tokenUrl,
    device_url: deviceUrl,
    redirect_uri: redirectUri,
  };
  for (const [name, url] of Object.entries(urls)) if (url !== null) checkedUrl(url, name);
  if (issuer === null && tokenUrl === null)
    throw invalid('issuer', 'name the issuer, or token_url with authorization_url or device_url');
  if (issuer === null && authorizationUrl === null && deviceUrl === null)
    throw invalid('authorization_url', 'give it or device_url, or name the issuer that publishes them');
}

function invalid(member: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"oauth.${member}": ${problem}`, { param: `oauth.${member}` });
}
