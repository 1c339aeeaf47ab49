import { createOutboundAgent } from '../../http/outbound/agent.ts';
import { outboundConnector } from '../../http/outbound/connector.ts';
import { hostRefusal } from '../../http/outbound/outbound.ts';
import { GatewayError } from '../../lib/error.ts';
import { withoutTrailing } from '../../lib/trailing.ts';
import type { ClientAuth, OAuthClient } from '../accounts/schema.ts';
import { describeFailure } from '../testing/diagnosis.ts';

/** Who may be asked, and how a client names itself there. */
export interface Endpoints {
  issuer: string | null;
  authorization: string | null;
  token: string;
  device: string | null;
  clientAuth: ClientAuth;
}

/** The gateway itself is no authorization server, and to be asked like one does it no harm. */
const nowhere = () => null;
/** No document or answer of an authorization server is longer. */
const MAX_BYTES = 256 * 1024;

/** Who asks an authorization server, and how it says so. */
export interface ClientIdentity {
  id: string;
  secret: string | null;
  auth: ClientAuth;
}

/** An answer of an authorization server. `json` is empty where it sent none. */
export interface ServerAnswer {
  status: number;
  json: Record<string, unknown>;
}

/**
 * Where a client logs in: what was given of it, and for the rest what its issuer publishes (RFC 8414, and OpenID
 * Connect Discovery).
 * @param timeoutMs for each document
 * @throws GatewayError that says what to give instead
 */
export async function endpointsOf(client: OAuthClient, timeoutMs: number): Promise<Endpoints> {
  const { authorizationUrl: authorization, deviceUrl: device, issuer, tokenUrl } = client;
  const configured = { issuer, authorization, device };
  if (tokenUrl !== null && (authorization !== null || device !== null || issuer === null))
    return { ...configured, token: tokenUrl, clientAuth: client.clientSecret === null ? 'none' : 'basic' };
  if (issuer === null)
    throw invalid('name the issuer, or token_url and one of authorization_url, device_url');
  const metadata = await discovered(issuer, timeoutMs).catch((error: Error) => {
    throw error instanceof GatewayError
      ? error
      : invalid(describeFailure(error, issuer, timeoutMs, 'issuer'));
  });
  const token = tokenUrl ?? urlIn(metadata, 'token_endpoint');
  if (token === null) throw invalid(`${hostOf(issuer)} publishes no token_endpoint: give token_url`);
  return {
    issuer,
    token,
    authorization: authorization ?? urlIn(metadata, 'authorization_endpoint'),
    device: device ?? urlIn(metadata, 'device_authorization_endpoint'),
    clientAuth: clientAuthOf(client, metadata['token_endpoint_auth_methods_supported']),
  };
}

/**
 * Where a client ends its logins (RFC 7009), as the issuer publishes it; null where it does not.
 * @throws GatewayError when the issuer's documents cannot be used
 */
export async function revocationEndpoint({ issuer }: OAuthClient, timeoutMs: number): Promise<string | null> {
  return issuer === null ? null : urlIn(await discovered(issuer, timeoutMs), 'revocation_endpoint');
}

/** Basic is what every server must take (RFC 6749, 2.3.1), unless it says that it does not. */
function clientAuthOf({ clientSecret }: OAuthClient, methods: unknown): ClientAuth {
  if (clientSecret === null) return 'none';
  const listed = Array.isArray(methods) ? methods : ['client_secret_basic'];
  return listed.includes('client_secret_basic') || !listed.includes('client_secret_post') ? 'basic' : 'post';
}

async function discovered(issuer: string, timeoutMs: number): Promise<Record<string, unknown>> {
  const url = checkedUrl(issuer, 'issuer');
  const path = withoutTrailing(url.pathname, '/');
  const places = [
    `${url.origin}${path}/.well-known/openid-configuration`,
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
  ];
  let why = 'it publishes none of the documents for it';
  for (const place of places) {
    const { json, status } = await answerOf(place, { method: 'GET' }, timeoutMs);
    if (status !== 200) continue;
    // RFC 8414, 3.3: a document that names another issuer must not be used.
    if (json['issuer'] === issuer) return json;
    why = `the document there names another issuer, ${JSON.stringify(json['issuer'])}`;
  }
  throw invalid(
    `the endpoints of ${hostOf(issuer)} cannot be found: ${why}. Give token_url and authorization_url`,
  );
}

function urlIn(document: Record<string, unknown>, name: string): string | null {
  const value = document[name];
  if (typeof value !== 'string') return null;
  return checkedUrl(value, name).href;
}

/**
 * Addresses to which a secret is sent: https, or http on this machine; nothing that `http/outbound/outbound.ts` refuses, which
 * is looked at once more when the name is resolved.
 * @throws GatewayError naming the field
 */
export function checkedUrl(text: string, param: string): URL {
  const url = URL.parse(text);
  if (url === null) throw invalid('is not a URL', param);
  const { hash, hostname, password, port, protocol, username } = url;
  const near = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && near))
    throw invalid('must be an https address', param);
  if (username !== '' || password !== '' || hash !== '')
    throw invalid('must hold no user name, password or fragment', param);
  const refusal = hostRefusal(hostname, Number(port) || (protocol === 'https:' ? 443 : 80), nowhere);
  if (refusal !== null) throw invalid(`is refused: ${refusal}`, param);
  return url;
}

/**
 * Sends a form to an endpoint of an authorization server as `client`, or without one. Redirects are not followed, for
 * they would carry the secret along.
 * @throws the transport's error when no answer came in time
 */
export function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
  client: ClientIdentity | null,
  timeoutMs: number,
): Promise<ServerAnswer> {
  const { auth, id, secret } = client ?? { auth: 'none', id: null, secret: null };
  const basic = auth === 'basic' && secret !== null;
  const body = new URLSearchParams(form);
  if (!basic && id !== null) body.set('client_id', id);
  if (auth === 'post' && secret !== null) body.set('client_secret', secret);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (basic) headers['authorization'] = `Basic ${btoa(`${formText(id)}:${formText(secret)}`)}`;
  return answerOf(url, { method: 'POST', headers, body: body.toString() }, timeoutMs);
}

/** RFC 6749, 2.3.1: both are written as in a form before they are joined. */
function formText(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

interface EndpointRequest {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

async function answerOf(url: string, question: EndpointRequest, timeoutMs: number): Promise<ServerAnswer> {
  const { body, headers, method } = question;
  const agent = createOutboundAgent({ connect: outboundConnector({ timeoutMs, listening: nowhere }) });
  try {
    const answer = await agent.request(url, {
      method,
      headers: headers ?? {},
      body: body ?? null,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: answer.statusCode, json: objectIn(await bounded(answer.body)) };
  } finally {
    await agent.destroy();
  }
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new Error('its answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the server';
}

function invalid(problem: string, param = 'issuer'): GatewayError {
  return new GatewayError('invalid_request', `"oauth.${param}": ${problem}`, { param: `oauth.${param}` });
}
