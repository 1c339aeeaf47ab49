import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createOutboundAgent } from '../../http/outbound/agent.ts';
import type { OtlpTarget } from '../../lib/otel-variables.ts';

const compressed = promisify(gzip);

/** Sends OTLP/HTTP with JSON bodies. */
export interface OtlpSender {
  /** Sends one body, again where the receiver is busy. @throws Error that says why it was not taken; no header and no address in it */
  send(body: object): Promise<void>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface OtlpSenderInput {
  target: OtlpTarget;
  gzip: boolean;
  /** For one body with all its repetitions, in milliseconds. */
  timeoutMs: number;
}

/** What OTLP/HTTP says may be sent again. */
const retryable = new Set([429, 502, 503, 504]);
const FIRST_PAUSE_MS = 1000;
const MAX_ANSWER_BYTES = 65_536;

export function createOtlpSender({ gzip: isCompressed, target, timeoutMs }: OtlpSenderInput): OtlpSender {
  const agent = createOutboundAgent({ connections: 1 });
  const closed = new AbortController();
  const headers = {
    ...target.headers,
    'content-type': 'application/json',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  };
  const post = async (body: string | Buffer, signal: AbortSignal): Promise<Answer> => {
    const answer = await agent.request(target.url, { method: 'POST', headers, body, signal });
    const retryAfter = Number(answer.headers['retry-after']) * 1000 || 0;
    const isRead = Number(answer.headers['content-length'] ?? 0) <= MAX_ANSWER_BYTES;
    const text = isRead ? await answer.body.text() : '';
    if (!isRead) await answer.body.dump();
    return { status: answer.statusCode, retryAfter, text };
  };
  return {
    async send(body) {
      const json = JSON.stringify(body);
      const bytes = isCompressed ? await compressed(json) : json;
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), closed.signal]);
      for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
        const answer = await post(bytes, signal).catch((error: unknown) => failure(error, signal));
        if ('status' in answer && answer.status >= 200 && answer.status < 300)
          return checkAccepted(answer.text);
        const isFinal = 'status' in answer ? !retryable.has(answer.status) : answer.isFinal;
        if (isFinal) throw new Error(reasonOf(answer));
        const waited = await pauseFor(Math.max(pause, 'status' in answer ? answer.retryAfter : 0), signal);
        if (!waited) throw new Error(reasonOf(answer));
      }
    },
    async close() {
      closed.abort();
      await agent.destroy();
    },
  };
}

interface Answer {
  status: number;
  retryAfter: number;
  text: string;
}

interface NoAnswer {
  isFinal: boolean;
  code: string;
}

function failure(error: unknown, signal: AbortSignal): NoAnswer {
  const code = (error as { code?: unknown }).code;
  return { isFinal: signal.aborted, code: typeof code === 'string' ? code : 'no answer' };
}

function reasonOf(answer: Answer | NoAnswer): string {
  return 'status' in answer
    ? `the receiver answered with ${answer.status}`
    : `the receiver cannot be reached (${answer.code})`;
}

/** A receiver may take a part only, and says so in a successful answer. @throws Error */
function checkAccepted(text: string): void {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return;
  }
  const partial = (answer as { partialSuccess?: Record<string, unknown> } | null)?.partialSuccess ?? {};
  const rejected = Number(partial['rejectedSpans'] ?? partial['rejectedDataPoints'] ?? 0);
  if (rejected > 0) throw new Error(`the receiver rejected ${rejected} of what was sent`);
}

/** False where the signal came first. */
function pauseFor(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const done = (waited: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(waited);
    };
    const onAbort = () => done(false);
    const timer = setTimeout(() => done(true), milliseconds);
    signal.addEventListener('abort', onAbort);
  });
}
