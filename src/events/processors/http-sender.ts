import { createOutboundAgent } from '../../http/outbound/agent.ts';
import { outboundConnector } from '../../http/outbound/connector.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { transportFault } from '../../http/outbound/transport-fault.ts';
import type { ProcessorOutcome } from './processor.ts';

export interface HttpAnswer {
  readonly kind: 'answered';
  readonly status: number;
  header(name: string): string | null;
  /** The beginning of the body. */
  readonly text: string;
}

/** No answer came: `refused` where the gateway does not connect to the address, and no other attempt will. */
export interface NoAnswer {
  readonly kind: 'unreached';
  readonly refused: boolean;
  /** Without the address, which may be a secret. */
  readonly reason: string;
}

export interface HttpRequest {
  readonly method: 'POST' | 'OPTIONS';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Sends requests to receivers of events. Follows no redirects, and never throws. */
export interface HttpSender {
  send(request: HttpRequest): Promise<HttpAnswer | NoAnswer>;
  close(): Promise<void>;
}

export interface HttpSenderInput {
  listening: Listening;
  timeoutMs: number;
  /** Whether it may reach loopback and private networks. Link-local addresses and those of metadata it never reaches. */
  privateNetworks: boolean;
}

const MOST_ANSWER_BYTES = 65_536;
const MOST_TEXT = 300;

export function createHttpSender({ listening, privateNetworks, timeoutMs }: HttpSenderInput): HttpSender {
  const connect = outboundConnector({ timeoutMs, listening, privateNetworks });
  const agent = createOutboundAgent({ connect });
  const ask = async ({ body, headers, method, url }: HttpRequest): Promise<HttpAnswer> => {
    const answer = await agent.request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await beginningOf(answer.body);
    return {
      kind: 'answered',
      status: answer.statusCode,
      text,
      header(name) {
        const value = answer.headers[name];
        return value === undefined ? null : String(value);
      },
    };
  };
  return {
    send: (wanted) => ask(wanted).catch(unreachedRoute),
    close: () => agent.destroy(),
  };
}

/** Reads an answer to its end, for its connection to be used again; one that is too long is cut off. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (bytes < MOST_TEXT) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, MOST_TEXT);
}

function unreachedRoute(error: unknown): NoAnswer {
  const { code, fault } = transportFault(error as Error);
  return {
    kind: 'unreached',
    refused: fault === 'address-refused',
    reason: `The receiver was not reached: ${fault === 'no-answer' ? 'timed out' : code}`,
  };
}

const MOST_RETRY_AFTER_MS = 3_600_000;
/** Statuses of 400 and above that another attempt may mend. */
const mendable: ReadonlySet<number> = new Set([404, 408, 409, 425, 429]);

/**
 * What came of handing an event to a receiver over HTTP.
 * @param now milliseconds since the epoch
 */
export function outcomeOf(answer: HttpAnswer | NoAnswer, now: number): ProcessorOutcome {
  if (answer.kind === 'unreached') {
    const { reason, refused } = answer;
    return refused
      ? { kind: 'failed', reason, status: null }
      : { kind: 'retry', reason, status: null, afterMs: 0 };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'done' };
  const reason = `The receiver answered with the status ${status}`;
  if (status === 410) return { kind: 'gone', reason };
  return status >= 500 || mendable.has(status)
    ? { kind: 'retry', reason, status, afterMs: retryAfter(answer.header('retry-after'), now) }
    : { kind: 'failed', reason, status };
}

/** Seconds, or a date of HTTP. @returns milliseconds, at most an hour */
function retryAfter(header: string | null, now: number): number {
  const text = (header ?? '').trim();
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), MOST_RETRY_AFTER_MS);
}
