import { createOutboundAgent, type OutboundAgent } from '../../http/outbound/agent.ts';
import type { ToolPlace } from '../configuring/configure.ts';
import type { Detection } from '../schema.ts';
import type { Tool } from '../tool.ts';
import type { Check } from './check.ts';
import { diagnose, type ToolRequest } from './doctor.ts';
import type { HttpAnswer } from './route.ts';

export interface ProofInput {
  place: ToolPlace;
  tool: Tool;
  detection: Detection;
  /** Address of this gateway. */
  root: string;
  /** The key to try; null takes the one that stands in the tool's files. */
  apiKey: string | null;
  /** The key of the owner of the machine, for a tool whose own is not known here; null when there is none. */
  ownerKey(): string | null;
  /** The model to try; null takes the tool's own. */
  model: string | null;
}

/** What came of a real request of a tool. */
export interface Proof {
  checks: Check[];
  /** Whether the model answered. */
  answered: boolean;
  model: string | null;
  /** Id of the request in the ledger; null where none was sent. */
  requestId: string | null;
}

/** For a dry run, and for a whole answer of a model. */
const TIMEOUT_MS = { dry: 15_000, real: 60_000 };

/**
 * Sends the request that a tool sends through the gateway to the model, with the address, key and model that the tool has,
 * and says what came of it. The environment of the terminal in which the tool is started is not known here.
 */
export async function prove(input: ProofInput): Promise<Proof> {
  const { apiKey, detection, model, ownerKey, place, root, tool } = input;
  const agent = createOutboundAgent();
  let requestId: string | null = null;
  const send = (url: string, method: 'GET' | 'POST', { body, headers, key }: Omit<ToolRequest, 'url'>) => {
    const dry = method === 'GET' || headers['x-gateway-dry-run'] !== undefined;
    return exchange(agent, url, {
      method,
      key: key ?? ownerKey(),
      headers,
      body,
      timeoutMs: dry ? TIMEOUT_MS.dry : TIMEOUT_MS.real,
    });
  };
  try {
    const { checks, model: tried } = await diagnose({
      place,
      tool,
      detection,
      root,
      environment: null,
      key: apiKey,
      model,
      send: true,
      async models(address, key) {
        const { status, text } = await send(`${address}/v1/models`, 'GET', { key, headers: {}, body: {} });
        return status === 200 ? modelIds(JSON.parse(text)) : null;
      },
      async ask({ url, ...init }) {
        const answer = await send(url, 'POST', init);
        if (init.headers['x-gateway-dry-run'] === undefined)
          requestId = answer.headers['x-request-id'] ?? null;
        return answer;
      },
    });
    const answered = checks.some(({ name, status }) => name === 'Answer' && status === 'ok');
    return { checks, answered, model: tried, requestId };
  } finally {
    await agent.destroy();
  }
}

interface ProofRequest extends Pick<ToolRequest, 'body' | 'headers' | 'key'> {
  method: 'GET' | 'POST';
  timeoutMs: number;
}

/** @throws an Error whose message says why nothing answered */
async function exchange(
  agent: OutboundAgent,
  url: string,
  { body, headers, key, method, timeoutMs }: ProofRequest,
): Promise<HttpAnswer> {
  try {
    const answer = await agent.request(url, {
      method,
      headers: {
        ...headers,
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      },
      body: method === 'POST' ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: answer.statusCode, headers: flat(answer.headers), text: await answer.body.text() };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
    throw new Error(code, { cause: error });
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): HttpAnswer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

function modelIds(list: unknown): string[] | null {
  if (typeof list !== 'object' || list === null || !('data' in list) || !Array.isArray(list.data))
    return null;
  return list.data.flatMap((model: { id?: unknown }) => (typeof model?.id === 'string' ? [model.id] : []));
}
