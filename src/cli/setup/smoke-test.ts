import { setTimeout as delay } from 'node:timers/promises';
import { type LedgerRow, recentRequests } from '../../ledger/report.ts';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import type { Context } from '../context.ts';
import type { RunningGateway } from '../gateway/client.ts';
import type { ExitCode } from '../terminal/exit-code.ts';
import { reportOf } from '../terminal/failure.ts';

/** Outcome of one small request through the running gateway. Times in milliseconds. */
export interface SmokeTest {
  streamed: boolean;
  path: string;
  status: number | null;
  /** Null when the answer was complete. */
  error: string | null;
  exit: ExitCode;
  latencyMs: number;
  /** Until the first byte of the answer's body. */
  firstByteMs: number | null;
  requestId: string | null;
  /** What the ledger wrote down; null when the request never got that far. */
  entry: LedgerRow | null;
}

export interface SmokeTestRequest {
  model: string;
  stream: boolean;
  timeoutMs: number;
}

interface Surface {
  path: string;
  body: (model: string, stream: boolean) => object;
  /** How a complete stream says so, as the data of a frame or the name of its event. */
  end: string;
}

const question = 'Reply with the single word: ready';
const ask = [{ role: 'user', content: question }];

const chat: Surface = {
  path: '/v1/chat/completions',
  body: (model, stream) => ({ model, stream, messages: ask }),
  end: '[DONE]',
};
const messages: Surface = {
  path: '/v1/messages',
  body: (model, stream) => ({ model, stream, max_tokens: 64, messages: ask }),
  end: 'message_stop',
};
const responses: Surface = {
  path: '/v1/responses',
  body: (model, stream) => ({ model, stream, input: question }),
  end: 'response.completed',
};

/** How long the ledger may take to show a request that has ended. */
const ledgerWaitMs = 2000;
const ledgerPollMs = 50;

/** Sends one small request through `gateway`, in the first format that the model's provider speaks. */
export async function runSmokeTest(
  gateway: RunningGateway,
  request: SmokeTestRequest,
  context: Context,
): Promise<SmokeTest> {
  let outcome = await attempt(gateway, chat, request, context);
  for (const surface of [messages, responses]) {
    if (outcome.code !== 'format_not_supported') break;
    outcome = await attempt(gateway, surface, request, context);
  }
  const { code: _, ...smoke } = outcome;
  return smoke;
}

interface Outcome extends SmokeTest {
  /** The error code of the answer, or null. */
  code: string | null;
}

async function attempt(
  gateway: RunningGateway,
  surface: Surface,
  { model, stream, timeoutMs }: SmokeTestRequest,
  context: Context,
): Promise<Outcome> {
  const start = performance.now();
  const outcome: Outcome = {
    streamed: stream,
    path: surface.path,
    status: null,
    error: null,
    exit: 0,
    latencyMs: 0,
    firstByteMs: null,
    requestId: null,
    entry: null,
    code: null,
  };
  try {
    const response = await gateway.send(surface.path, {
      method: 'POST',
      body: surface.body(model, stream),
      timeoutMs,
    });
    outcome.status = response.status;
    const requestId = response.headers['x-request-id'];
    outcome.requestId = typeof requestId === 'string' ? requestId : null;
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) {
      outcome.firstByteMs ??= performance.now() - start;
      pieces.push(piece);
    }
    const { code, error, exit } = verdict(response.status, Buffer.concat(pieces), surface, stream);
    outcome.code = code;
    outcome.error = error;
    outcome.exit = exit;
  } catch (error) {
    const report = reportOf(error);
    outcome.error = report.message;
    outcome.exit = report.exit;
  }
  outcome.latencyMs = performance.now() - start;
  outcome.entry = outcome.requestId === null ? null : await ledgerRow(outcome.requestId, context);
  return outcome;
}

function verdict(
  status: number,
  body: Buffer,
  surface: Surface,
  stream: boolean,
): Pick<Outcome, 'error' | 'exit' | 'code'> {
  if (status !== 200) {
    const { code, message } = errorIn(body);
    const error = `${status}: ${message}`;
    return { error, code, exit: reportOf(new GatewayError('upstream_error', error, { status })).exit };
  }
  const complete = stream ? endsWith(body, surface.end) : isJsonObject(body);
  if (complete) return { error: null, code: null, exit: 0 };
  const error = stream ? `the stream ended without ${surface.end}` : 'the answer is not a JSON object';
  return { error, code: null, exit: 1 };
}

function endsWith(body: Buffer, end: string): boolean {
  return splitFrames(body).frames.some(({ event, data }) => data === end || event === end);
}

function isJsonObject(body: Buffer): boolean {
  return typeof parsed(body) === 'object';
}

/** The code and message of an error in the dialects of OpenAI and Anthropic. */
function errorIn(body: Buffer): { code: string | null; message: string } {
  const document = parsed(body);
  const error = member(document, 'error');
  const code = member(error, 'code') ?? member(error, 'type');
  const message = member(error, 'message');
  return {
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message : body.toString('utf8', 0, 300),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // The caller says what was expected instead.
    return undefined;
  }
}

/** The row of a request that has just ended; the gateway writes rows in batches. */
async function ledgerRow(id: string, context: Context): Promise<LedgerRow | null> {
  const store = await context.existingStore();
  if (store === null) return null;
  const until = performance.now() + ledgerWaitMs;
  do {
    const row = (await recentRequests(store, { limit: 50 })).find((entry) => entry.id === id);
    if (row !== undefined) return row;
    await delay(ledgerPollMs);
  } while (performance.now() < until);
  return null;
}
