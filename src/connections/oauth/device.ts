import { GatewayError } from '../../lib/error.ts';
import type { Grant, OAuthClient } from '../accounts/schema.ts';
import { type Endpoints, hostOf, postForm } from './endpoint.ts';
import { audienceOf, clientIdentity, grantOf, requestToken, TOKEN_TIMEOUT_MS, TokenError } from './token.ts';

/** A login that a person finishes on another device (RFC 8628). Kept in memory only. */
export interface DeviceLogin {
  /** What the person types. */
  userCode: string;
  verificationUrl: string;
  /** The same with the code in it; null where the server has none. */
  completeUrl: string | null;
  deviceCode: string;
  /** Between two questions. */
  intervalMs: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  endpoints: Endpoints;
}

/** Asks for a code to type. @throws GatewayError when the server gives none */
export async function beginDeviceLogin(
  client: OAuthClient,
  endpoints: Endpoints,
  now: () => number,
): Promise<DeviceLogin> {
  const { device } = endpoints;
  if (device === null)
    throw new GatewayError(
      'invalid_request',
      'This provider has no login by device code: log in with a browser, or give oauth.device_url',
      { param: 'oauth.device_url' },
    );
  const form = {
    ...audienceOf(client),
    ...(client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') }),
  };
  const requestedAt = now();
  const { json, status } = await postForm(
    device,
    form,
    clientIdentity(client, endpoints.clientAuth),
    TOKEN_TIMEOUT_MS,
  ).catch((error: Error) => {
    throw new GatewayError('login_failed', `${hostOf(device)} gave no code: ${error.name}`, { cause: error });
  });
  const { device_code: deviceCode, user_code: userCode, verification_uri_complete: complete } = json;
  const verificationUrl = json['verification_uri'] ?? json['verification_url'];
  if (status !== 200 || !isText(deviceCode) || !isText(userCode) || !isText(verificationUrl)) {
    const word = isText(json['error']) && /^[\w.-]{1,60}$/.test(json['error']) ? ` ${json['error']}` : '';
    throw new GatewayError('login_failed', `${hostOf(device)} gave no code: it answered ${status}${word}`);
  }
  return {
    userCode,
    verificationUrl,
    deviceCode,
    endpoints,
    completeUrl: isText(complete) ? complete : null,
    intervalMs: positive(json['interval'], 5) * 1000,
    expiresAt: requestedAt + positive(json['expires_in'], 600) * 1000,
  };
}

/** RFC 8628, 3.5: what `slow_down` adds, for this and all later questions. */
const SLOWER_MS = 5000;

/**
 * Asks until the person has answered, and no faster than the server allows.
 * @param wait resolves after so many milliseconds
 * @throws GatewayError when it was refused, or nobody answered in time
 */
export async function finishDeviceLogin(
  login: DeviceLogin,
  client: OAuthClient,
  { now, wait }: { now(): number; wait(ms: number): Promise<void> },
): Promise<Grant> {
  const { deviceCode, endpoints, expiresAt } = login;
  let { intervalMs } = login;
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode };
  const request = { url: endpoints.token, form, client: clientIdentity(client, endpoints.clientAuth) };
  for (;;) {
    await wait(intervalMs);
    if (now() >= expiresAt)
      throw new GatewayError('login_failed', 'The login was not completed in time: start it again');
    try {
      return grantOf(await requestToken(request, now), endpoints);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      intervalMs = nextInterval(error, intervalMs);
    }
  }
}

/** @throws GatewayError for an answer that ends it */
function nextInterval({ reason, word, message }: TokenError, intervalMs: number): number {
  switch (reason) {
    case 'pending':
      return intervalMs;
    case 'slow':
      return intervalMs + SLOWER_MS;
    // RFC 8628, 3.5: after a time-out of the connection, back off exponentially.
    case 'transient':
      return Math.min(intervalMs * 2, 60_000);
    case 'refused':
      throw new GatewayError('login_failed', `The login failed: ${endings[word ?? ''] ?? message}`);
  }
}

const endings: Readonly<Record<string, string>> = {
  access_denied: 'the login was refused at the provider',
  expired_token: 'the code has expired, begin again',
};

function positive(value: unknown, fallback: number): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : fallback;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
