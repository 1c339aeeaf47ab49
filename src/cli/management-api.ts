import { type Api, ApiError, type Body } from '../mcp/api.ts';
import { textOf } from './api.ts';
import { findGateway, notRunning, type Send } from './client.ts';

/** Tools that look at the machine run programs, which may take a while. */
const TIMEOUT_MS = 60_000;

/**
 * The management API of the gateway that runs on a data directory, for the owner of the machine. It is looked for at
 * each call, so that it may be started, stopped and started again meanwhile.
 */
export function managementApi(dataDir: string, { readOnly }: { readOnly: boolean }): Api {
  const ask = async (path: string, send: Omit<Send, 'timeoutMs'>): Promise<Body> => {
    const gateway = await findGateway(dataDir);
    if (gateway === null) throw new ApiError('gateway_not_running', notRunning(dataDir).message);
    const answer = await gateway.send(`/api${path}`, { ...send, timeoutMs: TIMEOUT_MS });
    const body = bodyOf(await textOf(answer));
    if (answer.status < 400) return body;
    const message = body['detail'] ?? body['message'] ?? `The gateway answered ${answer.status}`;
    throw new ApiError(String(body['code'] ?? 'failed'), String(message));
  };
  return {
    can: (permission) => !readOnly || permission.endsWith(':read'),
    get: (path, params = new URLSearchParams()) => ask(`${path}?${params}`, { method: 'GET' }),
    post: (path, body) => ask(path, { method: 'POST', body }),
  };
}

function bodyOf(text: string): Body {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
