import { createHash, randomBytes } from 'node:crypto';
import { GatewayError } from '../../lib/error.ts';
import type { Grant, OAuthClient } from '../accounts/schema.ts';
import type { Endpoints } from './endpoint.ts';
import { audienceOf, clientIdentity, grantOf, requestToken } from './token.ts';

/** A login that a person finishes in a browser (RFC 6749, 4.1 with RFC 7636). Kept in memory only. */
export interface BrowserLogin {
  /** What to open. */
  url: string;
  /** Comes back with the answer, and names this login. */
  state: string;
  verifier: string;
  redirectUri: string;
  endpoints: Endpoints;
}

/** Begins a login in a browser. @throws GatewayError when the server has no page for it */
export function beginBrowserLogin(
  client: OAuthClient,
  endpoints: Endpoints,
  redirectUri: string,
  extra: Readonly<Record<string, string>> = {},
): BrowserLogin {
  if (endpoints.authorization === null)
    throw new GatewayError(
      'invalid_request',
      'This provider has no page to log in at: log in with a device code, or give oauth.authorization_url',
      { param: 'oauth.authorization_url' },
    );
  // 256 random bits each; a verifier has 43 to 128 characters (RFC 7636, 4.1).
  const state = randomBytes(32).toString('base64url');
  const verifier = randomBytes(48).toString('base64url');
  const url = new URL(endpoints.authorization);
  const parameters = {
    ...extra,
    ...audienceOf(client),
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    ...(client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') }),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, state, verifier, redirectUri, endpoints };
}

/** The errors that may come back to a browser (RFC 6749, 4.1.2.1); others are not repeated. */
const answers: Readonly<Record<string, string>> = {
  access_denied: 'the login was refused at the provider',
  invalid_scope: 'the provider does not know one of the scopes',
  unauthorized_client: 'the provider does not let this client log in like this',
  invalid_request: 'the provider did not understand the request',
  unsupported_response_type: 'the provider gives no codes to this client',
  server_error: 'the provider failed',
  temporarily_unavailable: 'the provider is not available just now',
};

/**
 * Finishes a login with what came back to the redirect address.
 * @throws GatewayError that says why not
 */
export async function finishBrowserLogin(
  login: BrowserLogin,
  client: OAuthClient,
  returned: URLSearchParams,
  now: () => number,
): Promise<Grant> {
  const { endpoints, redirectUri, verifier } = login;
  const issuer = returned.get('iss');
  // RFC 9207: an answer of another server than the one that was asked is an attack.
  if (issuer !== null && endpoints.issuer !== null && issuer !== endpoints.issuer)
    throw refused('the answer came from another issuer than was asked');
  const error = returned.get('error');
  if (error !== null) throw refused(answers[error] ?? 'the provider refused it');
  const code = returned.get('code');
  if (code === null || code === '') throw refused('no code came back');
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
  const client_ = clientIdentity(client, endpoints.clientAuth);
  return grantOf(await requestToken({ url: endpoints.token, form, client: client_ }, now), endpoints);
}

function refused(why: string): GatewayError {
  return new GatewayError('login_failed', `The login failed: ${why}`);
}
