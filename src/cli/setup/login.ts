import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Grant } from '../../connections/accounts/schema.ts';
import { finishBrowserLogin } from '../../connections/oauth/browser.ts';
import { finishDeviceLogin } from '../../connections/oauth/device.ts';
import { browserLogin, deviceLogin, type LoginTarget } from '../../connections/oauth/logins.ts';
import type { Context } from '../context.ts';
import { failure, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { connectionRecords, connections, noConnection } from './connect.ts';

export interface LoginOptions {
  io: Io;
  now: () => number;
  /** For the person, in milliseconds. */
  timeoutMs: number;
}

/**
 * The connection that is named, which people log in for.
 * @throws a failure with exit 1 for another
 */
export async function loginTargetOf(selector: string, context: Context): Promise<LoginTarget> {
  const any = (await connectionRecords(context)).length > 0;
  const open = any ? await (await connections(context)).findOpen(selector) : null;
  if (open === null) throw noConnection(selector);
  if (open.account?.kind !== 'oauth')
    throw failure(1, 'conflict', `The connection "${open.name}" has no login: add it with --auth oauth`);
  const { account, id, name, provider } = open;
  return { id, name, provider, client: account.client };
}

/** Logs in with a code that is typed on any device. @throws GatewayError */
export async function logInByCode(target: LoginTarget, { io, now, timeoutMs }: LoginOptions): Promise<Grant> {
  const login = await deviceLogin(target, now);
  io.note(`Open ${login.verificationUrl} on any device and type the code ${login.userCode}`);
  if (login.completeUrl !== null) io.note(`or open ${login.completeUrl}`);
  const expiresAt = Math.min(login.expiresAt, now() + timeoutMs);
  const wait = (ms: number) => delay(ms);
  return finishDeviceLogin({ ...login, expiresAt }, target.client, { now, wait });
}

/**
 * Logs in by a browser on this machine, which comes back to a port of this process (RFC 8252, 7.3). Opens nothing: the
 * address is shown.
 * @param port 0 for any that is free
 * @throws GatewayError, or a failure with exit 124 when the login was not finished in time
 */
export async function logInByBrowser(
  target: LoginTarget,
  port: number,
  { io, now, timeoutMs }: LoginOptions,
): Promise<Grant> {
  const { answered, listening, close } = awaitReturn(returnAddress(target.client.redirectUri, port));
  try {
    const login = await browserLogin(target, await listening);
    io.note(`Open this address in a browser on this machine:\n${login.url}`);
    const late = delay(timeoutMs, null, { ref: false });
    for (;;) {
      const back = await Promise.race([answered(), late]);
      if (back === null)
        throw failure(124, 'login_timeout', 'The login was not completed in time: start it again.');
      // Any program on this machine can send to this port; only requests with the right state are answered.
      if (back.get('state') === login.state) return await finishBrowserLogin(login, target.client, back, now);
    }
  } finally {
    close();
  }
}

const page =
  '<!doctype html><title>Modelgate</title><p>You can close this page and go back to the terminal.</p>\n';

/** Where to listen: as it is registered, else at any port (RFC 8252, 7.3). @throws a usage error for an address elsewhere */
function returnAddress(
  registered: string | null,
  port: number,
): { port: number; path: string; host: string } {
  if (registered === null) return { port, path: '/callback', host: '127.0.0.1' };
  const url = new URL(registered);
  if (url.protocol !== 'http:' || !['127.0.0.1', 'localhost'].includes(url.hostname))
    throw usageError(
      `The login comes back to ${url.origin}, which is not this program: log in through the gateway there, or use --device`,
    );
  return { port: Number(url.port || 80), path: url.pathname, host: url.hostname };
}

function awaitReturn({ host, path, port }: ReturnType<typeof returnAddress>) {
  const arrived: URLSearchParams[] = [];
  let wake = () => {};
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    const isReturn = request.method === 'GET' && url?.pathname === path;
    response.writeHead(isReturn ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    });
    response.end(isReturn ? page : '');
    if (!isReturn || url === null) return;
    arrived.push(url.searchParams);
    wake();
  });
  const { promise: listening, reject, resolve } = Promise.withResolvers<string>();
  server.once('error', (error: NodeJS.ErrnoException) =>
    reject(failure(1, 'login_failed', `Cannot listen on 127.0.0.1:${port} for the answer: ${error.code}`)),
  );
  server.listen(port, '127.0.0.1', () =>
    resolve(`http://${host}:${(server.address() as AddressInfo).port}${path}`),
  );
  return {
    listening,
    async answered(): Promise<URLSearchParams> {
      for (;;) {
        const next = arrived.shift();
        if (next !== undefined) return next;
        await new Promise<void>((resolved) => {
          wake = resolved;
        });
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
