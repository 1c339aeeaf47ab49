import type { Dispatcher } from 'undici';
import { createOutboundAgent, type OutboundAgent } from '../../http/outbound/agent.ts';
import { outboundConnector } from '../../http/outbound/connector.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import type { Provider } from '../../providers/provider.ts';
import type { AccessTokens } from '../credentials/access-tokens.ts';
import { authorise, bearer } from '../credentials/authorise.ts';
import type { OpenConnection } from '../schema.ts';
import type { ProbeRequest } from './probe-request.ts';

export interface AskOptions {
  /** For the whole exchange. */
  timeoutMs: number;
  tokens: Pick<AccessTokens, 'current' | 'fresh' | 'issued'>;
  /** Where the gateway listens, which is not asked; nowhere when absent. */
  listening?: Listening;
}

export interface ProbeResponse {
  statusCode: number;
  /** Its content type; empty for none. */
  type: string;
  text: string;
}

/** A list of models is never longer than this in practice (OpenRouter: 2 MB). */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Asks an upstream a small question beside the requests of callers, as the connection.
 * @throws Error of the transport, and GatewayError when no access token is to be had
 */
export async function ask(
  question: ProbeRequest,
  connection: OpenConnection,
  provider: Provider,
  { listening = () => null, timeoutMs, tokens }: AskOptions,
): Promise<ProbeResponse> {
  const agent = createOutboundAgent({ connect: outboundConnector({ timeoutMs, listening }) });
  try {
    const asking = { connection, provider, tokens, timeoutMs, agent };
    const { body, headers, statusCode } = await send(question, asking);
    return { statusCode, type: String(headers['content-type'] ?? ''), text: await bounded(body) };
  } finally {
    await agent.destroy();
  }
}

interface TokenRequest extends Pick<AskOptions, 'timeoutMs' | 'tokens'> {
  connection: OpenConnection;
  provider: Provider;
  agent: OutboundAgent;
}

/** Sends the question as the connection; one that is refused because its token has ended is sent once more. */
async function send(
  { auth, body, headers, url }: ProbeRequest,
  { agent, connection, provider, timeoutMs, tokens }: TokenRequest,
): Promise<Dispatcher.ResponseData> {
  const method = body === null ? 'GET' : 'POST';
  const { origin, pathname, search } = new URL(url);
  const type = headers['content-type'];
  const signed: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const toSign = {
    method,
    origin,
    path: pathname + search,
    headers: signed,
    body: body === null ? [] : [Buffer.from(body)],
  };
  const once = (proof: Record<string, string>) =>
    agent.request(url, {
      method,
      headers: { ...headers, ...proof },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
  const proof = await authorise(connection, { auth, provider, request: toSign, tokens, now: Date.now });
  const answer = await once(proof);
  const token = /^Bearer (.+)$/.exec(proof['authorization'] ?? '')?.[1];
  if (answer.statusCode !== 401 || connection.account === undefined || token === undefined) return answer;
  await answer.body.dump();
  return once(bearer(await tokens.fresh(connection, token)));
}

async function bounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('its answer is larger than any list of models');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
