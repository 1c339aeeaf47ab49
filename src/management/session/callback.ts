import { sendWhole } from '../../http/send.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { ApiPath } from '../api-path.ts';
import type { ManagementContext } from '../context.ts';
import { securityHeaders } from '../guard/security-headers.ts';
import { notAllowed } from '../request-body.ts';

/** Whether it is the address to which a provider sends a browser back after a login. */
export function isLoginCallback({ collection, rest, version }: ApiPath): boolean {
  return version === null && collection === 'oauth' && rest.length === 1 && rest[0] === 'callback';
}

/**
 * Takes what a browser brings back from a login at a provider. It comes without a token: that it contains the random
 * state, which is good once, is what lets it in. The page says only how it went, and repeats nothing.
 */
export async function serveLoginCallback(context: ManagementContext, exchange: Exchange): Promise<null> {
  const { method } = exchange.request;
  if (method !== 'GET') throw notAllowed(method ?? '');
  const { ok, text } = await outcome(context, new URLSearchParams(exchange.query));
  const page = `<!doctype html><html lang="en"><title>Modelgate</title><p>${text}</p></html>\n`;
  sendWhole(exchange, ok ? 200 : 400, page, {
    ...securityHeaders,
    'content-type': 'text/html; charset=utf-8',
  });
  return null;
}

async function outcome(
  { finishLogin, report }: ManagementContext,
  returned: URLSearchParams,
): Promise<{ ok: boolean; text: string }> {
  try {
    await finishLogin(returned);
    return { ok: true, text: 'You are logged in, and can close this page.' };
  } catch (error) {
    if (!(error instanceof GatewayError)) report(error);
    return {
      ok: false,
      text: 'The login failed. Start it again where you started it; the reason is shown there.',
    };
  }
}
