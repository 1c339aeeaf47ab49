import type { Provider, ProviderAuth } from '../../providers/provider.ts';
import type { OpenConnection } from '../schema.ts';
import type { AccessTokens } from './access-tokens.ts';
import { awsSignature, type SignableRequest } from './aws-signature.ts';

/** Headers that carry a plain key; none without one. */
export function keyHeaders(
  { account, credential }: OpenConnection,
  auth: ProviderAuth,
): Record<string, string> {
  if (credential === null || account !== undefined) return {};
  switch (auth.kind) {
    case 'bearer':
      return bearer(credential);
    case 'header':
      return { [auth.name]: credential };
    case 'none':
      return {};
  }
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Headers that sign a request, for a connection with keys for that; null for another. */
export function signatureHeaders(
  { account }: OpenConnection,
  provider: Provider,
  request: SignableRequest,
  now: number,
): Record<string, string> | null {
  if (account?.kind !== 'aws-keys') return null;
  return awsSignature(request, account.fields, provider.accounts?.['aws-keys']?.service ?? '', now);
}

/**
 * Headers that authenticate the connection, whatever kind of credential it has.
 * @throws GatewayError when no access token is to be had
 */
export async function authorise(
  connection: OpenConnection,
  { auth, provider, request, tokens, now }: AuthoriseInput,
): Promise<Record<string, string>> {
  if (connection.account === undefined) return keyHeaders(connection, auth);
  const signed = signatureHeaders(connection, provider, request, now());
  if (signed !== null) return signed;
  return bearer(tokens.current(connection) ?? (await tokens.fresh(connection)));
}

export interface AuthoriseInput {
  provider: Provider;
  /** Of a plain key. */
  auth: ProviderAuth;
  request: SignableRequest;
  tokens: Pick<AccessTokens, 'current' | 'fresh' | 'issued'>;
  /** Milliseconds since the epoch. */
  now(): number;
}
