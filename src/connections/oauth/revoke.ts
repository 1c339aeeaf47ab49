import { transportFault } from '../../http/outbound/transport-fault.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Grant, OAuthClient } from '../accounts/schema.ts';
import { hostOf, postForm, revocationEndpoint } from './endpoint.ts';
import { clientIdentity } from './token.ts';

/** Nobody is kept waiting longer for each answer: the login has ended here whatever the server says. */
const TIMEOUT_MS = 5000;

/**
 * Ends a login at the server that gave it (RFC 7009): first the refresh token, with which most servers end all that came
 * of it, then the access token.
 * @returns null when the server has ended it, else why it has not; without anything secret in it
 */
export async function revokeLogin(client: OAuthClient, grant: Grant): Promise<string | null> {
  const { accessToken, clientAuth, refreshToken } = grant;
  try {
    const endpoint = await revocationEndpoint(client, TIMEOUT_MS);
    if (endpoint === null) return 'its server names no address for it (revocation_endpoint)';
    const revoke = async (token: string, hint: string): Promise<string | null> => {
      const form = { token, token_type_hint: hint };
      const { json, status } = await postForm(endpoint, form, clientIdentity(client, clientAuth), TIMEOUT_MS);
      return status === 200 ? null : `${hostOf(endpoint)} answered ${status}${word(json['error'])}`;
    };
    const refused = refreshToken === null ? null : await revoke(refreshToken, 'refresh_token');
    const access = await revoke(accessToken, 'access_token');
    // RFC 7009, 2.1: a server need not end access tokens by themselves, which end soon in any case.
    return refreshToken === null ? access : refused;
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    const { code, fault } = transportFault(error as Error);
    return `its server cannot be asked: ${fault === 'no-answer' ? 'no answer in time' : code}`;
  }
}

function word(error: unknown): string {
  return typeof error === 'string' && /^[\w.-]{1,60}$/.test(error) ? ` (${error})` : '';
}
