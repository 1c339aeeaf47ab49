import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { type Api, type ApiBody, ApiError, onlyReads } from '../../mcp/api.ts';
import { textOf } from './api.ts';
import { findGateway, type GatewayRequest, notRunning } from './client.ts';

/** Tools that look at the machine run programs, which may take a while. */
const TIMEOUT_MS = 60_000;

/**
 * The management API of the gateway that runs on a data directory, for the owner of the machine. It is looked for at
 * each call, so that it may be started, stopped and started again meanwhile.
 */
export function managementApi(dataDir: string, { readOnly }: { readOnly: boolean }): Api {
  const ask = async (path: string, send: Omit<GatewayRequest, 'timeoutMs'>): Promise<ApiBody> => {
    const gateway = await findGateway(dataDir);
    if (gateway === null) throw new ApiError('gateway_not_running', notRunning(dataDir).message);
    const answer = await gateway.send(`/api${path}`, { ...send, timeoutMs: TIMEOUT_MS });
    const body = bodyOf(await textOf(answer));
    if (answer.status < 400) return body;
    throw refusalIn(body, answer.status);
  };
  return {
    can: (permission) => !readOnly || onlyReads(permission),
    get: (path, params = new URLSearchParams()) => ask(`${path}?${params}`, { method: 'GET' }),
    post: (path, body) => ask(path, { method: 'POST', body }),
    async watchEvents({ cesql, limit, ms }) {
      const gateway = await findGateway(dataDir);
      if (gateway === null) throw new ApiError('gateway_not_running', notRunning(dataDir).message);
      const query = cesql === null ? '' : `?cesql=${encodeURIComponent(cesql)}`;
      const answer = await gateway.send(`/api/events/tail${query}`, { method: 'GET', timeoutMs: ms });
      if (answer.status >= 400) throw refusalIn(bodyOf(await textOf(answer)), answer.status);
      return firstEvents(answer.body, limit);
    },
  };
}

/** The first events of a stream that ends when its time is over. */
async function firstEvents(body: AsyncIterable<Uint8Array>, limit: number): Promise<unknown[]> {
  const events: unknown[] = [];
  const buffer = new FrameBuffer<Uint8Array>(splitFrames);
  try {
    for await (const bytes of body) {
      for (const { data, event } of buffer.push(bytes))
        if (event === 'event') events.push(bodyOf(data)['event']);
      if (events.length >= limit) break;
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) throw error;
  }
  return events.slice(0, limit);
}

function refusalIn(body: ApiBody, status: number): ApiError {
  const message = body['detail'] ?? body['message'] ?? `The gateway answered ${status}`;
  return new ApiError(String(body['code'] ?? 'failed'), String(message));
}

function bodyOf(text: string): ApiBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
