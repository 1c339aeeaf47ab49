import type { RequestHead } from '../http/exchange.ts';
import type { HttpExchange } from '../http/server/server.ts';
import { inputTokens, outputTokens } from '../ledger/buckets.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { LineLog } from '../lib/log.ts';

/** What is known of any HTTP request once it is over. */
export interface ServedRequest {
  id: string;
  request: RequestHead;
  /** Without the query and without a key. */
  path: string;
  /** Null where the client left before there was an answer. */
  status: number | null;
  durationMs: number;
  /** Bytes of the answer on the wire, with its head; null where they cannot be told apart. */
  bytesOut: number | null;
  /** A probe or a scrape, which comes every few seconds. */
  isProbe: boolean;
}

/** A request that is over, as it is logged. @param path without the query and without a key */
export function servedRequest(
  { clock, id, request, sentBefore }: HttpExchange,
  { isProbe, path, status }: Pick<ServedRequest, 'isProbe' | 'path' | 'status'>,
): ServedRequest {
  return {
    id,
    request,
    path,
    status,
    durationMs: performance.now() - clock,
    bytesOut: request.socket.bytesWritten - sentBefore,
    isProbe,
  };
}

/** One line for each request, with no more of it than its path. */
export interface AccessLog {
  /** Notes who sent a request of which the ledger keeps nothing. */
  identify(request: RequestHead, keyId: string, keyName: string): void;
  /**
   * Notes what the ledger keeps of a model request; its line is written when the request is over.
   * @param request what it came with, whatever stands in for its exchange
   */
  note(request: RequestHead, entry: LedgerEntry, keyName: string): void;
  /** Writes the line of a request that is over. */
  write(served: ServedRequest): void;
}

interface PendingLine {
  /** Null where the ledger keeps nothing. */
  entry: LedgerEntry | null;
  keyId: string | null;
  keyName: string;
}

const noted = Symbol('what is logged of a request');

/** A table from requests to their notes would cost each collection of garbage more than all else that is logged. */
type NotedRequest = RequestHead & { [noted]?: PendingLine | undefined };

export function createAccessLog(log: LineLog): AccessLog {
  return {
    identify(request: NotedRequest, keyId, keyName) {
      request[noted] = { entry: null, keyId, keyName };
    },
    note(request: NotedRequest, entry, keyName) {
      request[noted] = { entry, keyId: entry.keyId, keyName };
    },
    write({ bytesOut, durationMs, id, isProbe, path, request, status }) {
      const level = isProbe ? 'debug' : 'info';
      if (!log.isOn(level)) return;
      const notedRequest: NotedRequest = request;
      const note = notedRequest[noted];
      notedRequest[noted] = undefined;
      const entry = note?.entry ?? null;
      log.write(level, {
        id,
        method: request.method,
        path,
        status: status ?? entry?.status ?? CLIENT_CLOSED,
        duration_ms: Math.round(durationMs),
        bytes_in: bodyBytes(request),
        bytes_out: bytesOut ?? undefined,
        key: note?.keyName,
        key_id: note?.keyId ?? undefined,
        format: entry?.format,
        requested_model: shortened(entry?.requestedModel),
        provider: entry?.provider ?? undefined,
        connection: entry?.connection ?? undefined,
        model: entry?.model ?? undefined,
        outcome: entry?.outcome,
        error: entry?.errorCode ?? undefined,
        attempts: entry?.attempts,
        ttft_ms: entry?.ttftMs ?? undefined,
        input_tokens: entry?.usage ? inputTokens(entry.usage) : undefined,
        output_tokens: entry?.usage ? outputTokens(entry.usage) : undefined,
        cost_usd: entry?.costUsd ?? undefined,
        msg: 'request',
      });
    },
  };
}

/** What nginx writes for a client that closed the connection before it was answered. */
const CLIENT_CLOSED = 499;

const LONGEST_TEXT = 500;

/** The name that a client chose takes no more room in a line than this. */
function shortened(text: string | null = null): string | undefined {
  if (text === null) return undefined;
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}

/** As the client announced it; undefined where it did not. */
function bodyBytes({ headers }: RequestHead): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
