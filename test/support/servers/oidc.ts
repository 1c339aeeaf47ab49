import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { request } from 'undici';

/** What is asked of the provider package, whose types are not published. */
interface Oidc {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  on(event: string, listener: (...values: unknown[]) => void): void;
  AccessToken: { find(token: string): Promise<{ isExpired: boolean } | undefined> };
  Grant: new (what: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
}

interface Interaction {
  prompt: { name: string };
  params: Record<string, string>;
  session?: { accountId: string };
}

export interface OidcServer {
  issuer: string;
  /** Refresh tokens that were exchanged for others. */
  refreshed: number;
  /** Whole logins that were ended because an old refresh token came again. */
  reused: number;
  /** Requests to the token endpoint that are answered 503 instead. */
  failing: number;
  /** Called before a request to the token endpoint is passed on. */
  beforeToken: () => Promise<void>;
  /** Form fields of each request to the token endpoint. */
  tokenRequests: URLSearchParams[];
  /** Ends every login there is: their refresh tokens are worth nothing any more. */
  endLogins(): Promise<void>;
  /** Tokens that somebody asked to be ended (RFC 7009). */
  revoked: string[];
  /** Whether a token is good. */
  accepts(token: string): Promise<boolean>;
  /** What a person does with the address that was printed. @returns the last answer */
  visit(url: string): Promise<{ url: string; status: number; text: string }>;
  /** The same for a code of the device flow; `refuse` presses the other button. */
  enterCode(url: string, code: string, refuse?: boolean): Promise<void>;
  close(): Promise<void>;
}

export const oidcClient = { id: 'modelgate', secret: 'a-client-secret-of-the-test' };

export interface OidcOptions {
  /** Seconds for which access tokens are good. */
  accessSeconds?: number;
  /** A client without a secret. */
  isPublic?: boolean;
  /** Whether logins can be ended there (RFC 7009). Default true. */
  revocation?: boolean;
}

/** A real authorization server in this process: PKCE, device codes, refresh tokens that are good once. */
export async function startOidc({
  accessSeconds = 3600,
  isPublic = false,
  revocation = true,
}: OidcOptions = {}): Promise<OidcServer> {
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = makeProvider(issuer, { accessSeconds, isPublic, revocation });
  const given: { destroy(): Promise<void> }[] = [];
  provider.on('refresh_token.saved', (token) => given.push(token as { destroy(): Promise<void> }));
  const server: OidcServer = {
    issuer,
    refreshed: 0,
    reused: 0,
    failing: 0,
    tokenRequests: [],
    revoked: [],
    beforeToken: async () => {},
    accepts: async (token) => (await provider.AccessToken.find(token))?.isExpired === false,
    visit: (url) => browse(url, new Map()),
    enterCode: (url, code, refuse = false) => enterCode(url, code, refuse),
    endLogins: async () => void (await Promise.all(given.map((token) => token.destroy()))),
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  provider.on('refresh_token.consumed', () => {
    server.refreshed += 1;
  });
  provider.on('grant.revoked', () => {
    server.reused += 1;
  });
  const answer = provider.callback();
  http.on('request', (asked: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      if (asked.url?.startsWith('/interaction/')) return interact(provider, asked, response);
      if (asked.url !== '/token' && asked.url !== '/token/revocation') return answer(asked, response);
      const body = await bodyOf(asked);
      if (asked.url === '/token/revocation') {
        server.revoked.push(new URLSearchParams(body).get('token') ?? '');
        return answer(withBody(asked, body), response);
      }
      server.tokenRequests.push(new URLSearchParams(body));
      await server.beforeToken();
      if (server.failing > 0) {
        server.failing -= 1;
        return response.writeHead(503).end('busy');
      }
      return answer(withBody(asked, body), response);
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return server;
}

/** The package takes a body that somebody else has read (koa-bodyparser's convention). */
function withBody(asked: IncomingMessage & { body?: object }, body: string): IncomingMessage {
  asked.body = Object.fromEntries(new URLSearchParams(body));
  return asked;
}

function makeProvider(issuer: string, { accessSeconds, isPublic, revocation }: Required<OidcOptions>): Oidc {
  const client = {
    client_id: oidcClient.id,
    ...(isPublic ? { token_endpoint_auth_method: 'none' } : { client_secret: oidcClient.secret }),
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    // A loopback address may have any port (RFC 8252, 7.3).
    redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/api/oauth/callback'],
  };
  return new Provider(issuer, {
    clients: [client],
    features: {
      deviceFlow: { enabled: true, ...forms },
      devInteractions: { enabled: false },
      revocation: { enabled: revocation },
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    scopes: ['openid', 'offline_access'],
    ttl: {
      AccessToken: accessSeconds,
      DeviceCode: 60,
      Grant: 3600,
      RefreshToken: 3600,
      Session: 60,
      Interaction: 60,
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    cookies: { keys: ['a cookie key of the test'] },
  }) as Oidc;
}

/** Pages with nothing but the form. */
const forms = {
  userCodeInputSource: async (context: { body: string }, form: string) => {
    context.body = form;
  },
  userCodeConfirmSource: async (context: { body: string }, form: string) => {
    context.body = form;
  },
  successSource: async (context: { body: string }) => {
    context.body = 'done';
  },
};

/** The person says who they are, and agrees. */
async function interact(provider: Oidc, asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params, prompt, session } = await provider.interactionDetails(asked, response);
  if (prompt.name === 'login')
    return provider.interactionFinished(asked, response, { login: { accountId: 'person' } });
  const grant = new provider.Grant({ accountId: session?.accountId, clientId: params['client_id'] });
  grant.addOIDCScope(params['scope'] ?? 'openid');
  return provider.interactionFinished(asked, response, { consent: { grantId: await grant.save() } });
}

type Cookies = Map<string, string>;

async function browse(
  url: string,
  cookies: Cookies,
  form?: Record<string, string>,
): Promise<{ url: string; status: number; text: string }> {
  const answer = await request(url, {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: form === undefined ? null : new URLSearchParams(form).toString(),
  });
  for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  const { location } = answer.headers;
  const text = await answer.body.text();
  if (typeof location === 'string') return browse(new URL(location, url).href, cookies);
  return { url, status: answer.statusCode, text };
}

async function enterCode(url: string, code: string, refuse: boolean): Promise<void> {
  const cookies: Cookies = new Map();
  const first = await browse(url, cookies);
  const second = await browse(url, cookies, { xsrf: hidden(first.text, 'xsrf'), user_code: code });
  const choice: Record<string, string> = refuse ? { abort: 'yes' } : { confirm: 'yes' };
  await browse(url, cookies, { xsrf: hidden(second.text, 'xsrf'), user_code: code, ...choice });
}

function hidden(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
}

async function bodyOf(asked: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of asked) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
