import { createHash } from 'node:crypto';
import { outboundConnector } from '../../http/outbound/connector.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { Agent, request } from '../../http/outbound/undici.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { encodeHttp } from '../cloudevents/http.ts';
import type { EventProcessor, ProcessorOutcome } from './processor.ts';
import { signatureHeaders } from './signature.ts';

const TIMEOUT_MS = 10_000;
const MOST_RETRY_AFTER_MS = 3_600_000;

export interface WebhookInput {
  /** The id of the trigger. */
  trigger: string;
  /** Without references any more: it may hold a secret, so no message repeats it. */
  url: string;
  key: Buffer | null;
  listening: Listening;
  now: () => number;
}

/**
 * Posts each event in the binary mode of HTTP. Redirects are not followed, and addresses that `outbound.ts` refuses are not
 * connected to, whatever name leads there.
 */
export function createWebhook({ key, listening, now, trigger, url }: WebhookInput): EventProcessor {
  const connect = outboundConnector({ timeoutMs: TIMEOUT_MS, listening });
  const agent = new Agent({ connect });
  const post = async (event: CloudEvent): Promise<ProcessorOutcome> => {
    const { body, headers } = encodeHttp(event, 'binary');
    const bytes = body ?? Buffer.alloc(0);
    const {
      body: answer,
      headers: answered,
      statusCode,
    } = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: { ...headers, ...signatureHeaders(key, idOf(trigger, event), bytes, now()) },
      body: bytes,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // Nothing of it is used, and a connection with an unread answer cannot be used again.
    await answer.dump({ limit: 65_536 });
    return outcomeOf(statusCode, retryAfter(answered['retry-after'], now()));
  };
  return {
    process: (event) => post(event).catch((error: unknown) => unreached(error)),
    close: () => agent.destroy(),
  };
}

/** The same for each attempt to bring one event to one trigger, and for no other. */
function idOf(trigger: string, { attributes: { id, source } }: CloudEvent): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([trigger, source, id]))
    .digest('base64url');
  return `msg_${digest.slice(0, 32)}`;
}

/** Statuses of 400 and above that another attempt may mend. */
const mendable: ReadonlySet<number> = new Set([404, 408, 409, 425, 429]);

function outcomeOf(status: number, afterMs: number): ProcessorOutcome {
  if (status >= 200 && status < 300) return { kind: 'done' };
  const reason = `The receiver answered with the status ${status}`;
  if (status === 410) return { kind: 'gone', reason };
  return status >= 500 || mendable.has(status)
    ? { kind: 'retry', reason, status, afterMs }
    : { kind: 'failed', reason, status };
}

/** A connection that was refused, broken or too slow. The address stays out of the reason. */
function unreached(error: unknown): ProcessorOutcome {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'none';
  const timedOut = error instanceof Error && error.name === 'TimeoutError';
  const reason = `The receiver was not reached: ${timedOut ? 'timed out' : code}`;
  return code === 'ADDRESS_REFUSED'
    ? { kind: 'failed', reason, status: null }
    : { kind: 'retry', reason, status: null, afterMs: 0 };
}

/** Seconds, or a date of HTTP. @returns milliseconds, at most an hour */
function retryAfter(header: string | string[] | undefined, now: number): number {
  const text = String(header ?? '').trim();
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), MOST_RETRY_AFTER_MS);
}
