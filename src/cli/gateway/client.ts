import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { readRunFile } from '../../run-file.ts';
import { failure } from '../terminal/failure.ts';

export interface RunningGateway {
  pid: number;
  host: string;
  port: number;
  url: string;
  /** Epoch milliseconds. */
  startedAt: number;
  version: string;
  /** Sends a request with the key of this process, which works from loopback only. */
  send(path: string, what: GatewayRequest): Promise<GatewayResponse>;
}

export interface GatewayRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: object;
  /** Sent as it is, in the place of a body. */
  content?: { type: string; bytes: string | Uint8Array };
  /** Milliseconds until the whole answer must have been read; null for one that does not end. */
  timeoutMs: number | null;
}

export interface GatewayResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Uint8Array>;
}

/** How long a healthy gateway on this machine may take to answer /healthz. */
const healthTimeoutMs = 2000;
/** How long a change may take to reach a running gateway, which looks for one every half second. */
const takeOverMs = 2000;
const takeOverPollMs = 25;

/** The gateway that runs on `dataDir`, or null when there is none or it does not answer. */
export async function findGateway(dataDir: string): Promise<RunningGateway | null> {
  const run = readRunFile(dataDir);
  if (run === null || !(await answers(run.url))) return null;
  return {
    pid: run.pid,
    host: run.host,
    port: run.port,
    url: run.url,
    startedAt: new Date(run.started_at).getTime(),
    version: run.version,
    send: async (path, { body, content, headers = {}, method, timeoutMs }) => {
      const sent = body === undefined ? content : { type: 'application/json', bytes: JSON.stringify(body) };
      const answer = await request(new URL(path, run.url), {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${run.key}`,
          ...(sent === undefined ? {} : { 'content-type': sent.type }),
        },
        body: sent?.bytes ?? null,
        signal: timeoutMs === null ? null : AbortSignal.timeout(timeoutMs),
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    },
  };
}

export function notRunning(dataDir: string): Error {
  return failure(
    3,
    'gateway_not_running',
    `No gateway is running on ${dataDir}: start it with \`gateway serve\``,
  );
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await probe(new URL('/healthz', url), healthTimeoutMs)) === 200;
  } catch {
    // Refused, reset or silent all mean the same to the caller: nothing that answers is there.
    return false;
  }
}

/**
 * Waits until the gateway that runs on `dataDir` works by the settings of `revision` or later. Gives up without a
 * word after two seconds, and at once when none runs: the change is stored in any case.
 */
export async function waitForRevision(dataDir: string, revision: number): Promise<void> {
  const run = readRunFile(dataDir);
  if (run === null) return;
  const signal = AbortSignal.timeout(takeOverMs);
  try {
    while ((await revisionOf(new URL('/readyz', run.url), signal)) < revision) {
      await delay(takeOverPollMs, undefined, { signal });
    }
  } catch {
    // Gone, silent, or of another version: the next command that needs it says so.
  }
}

/** Whether what answers at the address of a gateway's `/readyz` is one. @throws when nothing answers in time */
export async function answersAsGateway(readyz: string): Promise<boolean> {
  const { body, headers } = await request(readyz, { signal: AbortSignal.timeout(healthTimeoutMs) });
  const content: unknown = await body.json();
  const isReadiness =
    typeof content === 'object' && content !== null && 'status' in content && 'revision' in content;
  return isReadiness && String(headers['x-request-id'] ?? '').startsWith('req_');
}

/** @throws when the gateway does not say its revision */
async function revisionOf(url: URL, signal: AbortSignal): Promise<number> {
  const { body } = await request(url, { signal });
  const content: unknown = await body.json();
  if (
    typeof content === 'object' &&
    content !== null &&
    'revision' in content &&
    typeof content.revision === 'number'
  ) {
    return content.revision;
  }
  throw new Error('the gateway does not say its revision');
}

/** The status of a GET. `fetch` is not used because it refuses some ports. @throws when nothing answers in time */
export async function probe(url: string | URL, timeoutMs: number): Promise<number> {
  const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(timeoutMs) });
  await body.dump();
  return statusCode;
}
