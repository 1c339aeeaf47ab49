import { sign } from 'node:crypto';
import { GatewayError } from '../../lib/error.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Account, ClientCredentials, ServiceAccount } from '../accounts/schema.ts';
import { type IssuedToken, requestToken, type TokenRequest } from '../oauth/token.ts';

/** Accounts whose access tokens are made from the credential alone: nothing of them has to be kept. */
export type MintingAccount = Extract<Account, { kind: 'service-account' | 'client-credentials' }>;

/**
 * An access token for an account.
 * @throws TokenError, or GatewayError `connection_unusable` for an account that the provider does not take
 */
export function mintToken(
  account: MintingAccount,
  provider: Provider,
  now: () => number,
): Promise<IssuedToken> {
  return requestToken(requestFor(account, provider, now()), now);
}

function requestFor(account: MintingAccount, provider: Provider, time: number): TokenRequest {
  const accepted = provider.accounts?.[account.kind];
  if (accepted === undefined)
    throw new GatewayError('connection_unusable', `${provider.name} takes no credential of this kind`);
  switch (account.kind) {
    case 'service-account':
      return statement(account.fields, accepted.scope ?? '', time);
    case 'client-credentials':
      return application(account.fields, { tokenUrl: '', ...accepted });
  }
}

/** Google takes statements that are good for an hour at most. */
const STATEMENT_SECONDS = 3600;

/** A statement signed with the account's key (RFC 7523; developers.google.com/identity/protocols/oauth2/service-account). */
function statement(account: ServiceAccount, scope: string, time: number): TokenRequest {
  const iat = Math.floor(time / 1000);
  const header = { alg: 'RS256', typ: 'JWT', ...(account.private_key_id && { kid: account.private_key_id }) };
  const claims = {
    iss: account.client_email,
    scope,
    aud: account.token_uri,
    iat,
    exp: iat + STATEMENT_SECONDS,
  };
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(text), account.private_key).toString('base64url');
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${text}.${signature}`,
  };
  return { url: account.token_uri, form, client: null };
}

/** RFC 6749, 4.4; Entra takes the secret in the form. */
function application(
  credentials: ClientCredentials,
  accepted: { tokenUrl: string; scope?: string },
): TokenRequest {
  const url = (credentials.token_url ?? accepted.tokenUrl).replace('{tenant_id}', credentials.tenant_id);
  const scope = credentials.scope ?? accepted.scope;
  const form = { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) };
  return {
    url,
    form,
    client: { id: credentials.client_id, secret: credentials.client_secret, auth: 'post' },
  };
}
