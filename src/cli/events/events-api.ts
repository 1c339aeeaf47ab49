import type { Context } from '../context.ts';
import { textOf } from '../gateway/api.ts';
import type { GatewayRequest, GatewayResponse } from '../gateway/client.ts';
import { failure } from '../terminal/failure.ts';

const TIMEOUT_MS = 60_000;

export interface EventsReply {
  status: number;
  headers: GatewayResponse['headers'];
  /** The body as JSON. */
  body: unknown;
  text: string;
}

/**
 * Asks the running gateway for something below `/api/events`.
 * @throws a failure for any status of 400 and above but `allowed`
 */
export async function requestEvents(
  context: Context,
  path: string,
  send: Omit<GatewayRequest, 'timeoutMs'>,
  allowed?: number,
): Promise<EventsReply> {
  const gateway = await context.gateway();
  const answer = await gateway.send(`/api/events${path}`, { ...send, timeoutMs: TIMEOUT_MS });
  const text = await textOf(answer);
  const { headers, status } = answer;
  const isJson = /json/.test(String(headers['content-type'] ?? ''));
  const body: unknown = isJson && text !== '' ? JSON.parse(text) : null;
  if (status >= 400 && status !== allowed) throw refusal(status, body);
  return { status, headers, body, text };
}

function refusal(status: number, body: unknown): Error {
  const { code = 'unexpected_answer', detail = `The gateway answered ${status}` } = Object(body);
  return failure(status === 403 || status === 401 ? 4 : 1, String(code), String(detail));
}

/** What to say of an answer that is no success. */
export async function refusalOf(answer: GatewayResponse): Promise<Error> {
  return refusal(answer.status, JSON.parse(await textOf(answer)));
}
