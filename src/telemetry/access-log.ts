import type { RequestHead } from '../http/exchange.ts';
import { inputTokens, outputTokens } from '../ledger/buckets.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { Log } from '../lib/log.ts';

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

interface Noted {
  /** Null where the ledger keeps nothing. */
  entry: LedgerEntry | null;
  keyId: string | null;
  keyName: string;
}

export function createAccessLog(log: Log): AccessLog {
  const noted = new WeakMap<RequestHead, Noted>();
  return {
    identify(request, keyId, keyName) {
      noted.set(request, { entry: null, keyId, keyName });
    },
    note(request, entry, keyName) {
      noted.set(request, { entry, keyId: entry.keyId, keyName });
    },
    write({ bytesOut, durationMs, id, isProbe, path, request, status }) {
      const model = noted.get(request);
      const line = {
        id,
        method: request.method,
        path,
        status: status ?? model?.entry?.status ?? CLIENT_CLOSED,
        duration_ms: Math.round(durationMs),
        bytes_in: bodyBytes(request),
        bytes_out: bytesOut ?? undefined,
        ...(model === undefined ? {} : { key: model.keyName, key_id: model.keyId ?? undefined }),
        ...(model?.entry == null ? {} : modelFields(model.entry)),
      };
      if (isProbe) log.debug(line, 'request');
      else log.info(line, 'request');
    },
  };
}

/** What nginx writes for a client that closed the connection before it was answered. */
const CLIENT_CLOSED = 499;

const LONGEST_TEXT = 500;

/** The name that a client chose takes no more room in a line than this. */
function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}

/** As the client announced it; undefined where it did not. */
function bodyBytes({ headers }: RequestHead): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

function modelFields(entry: LedgerEntry) {
  const { usage } = entry;
  return {
    format: entry.format,
    requested_model: entry.requestedModel === null ? undefined : shortened(entry.requestedModel),
    provider: entry.provider ?? undefined,
    connection: entry.connection ?? undefined,
    model: entry.model ?? undefined,
    outcome: entry.outcome,
    error: entry.errorCode ?? undefined,
    attempts: entry.attempts,
    ttft_ms: entry.ttftMs ?? undefined,
    input_tokens: usage === null ? undefined : inputTokens(usage),
    output_tokens: usage === null ? undefined : outputTokens(usage),
    cost_usd: entry.costUsd ?? undefined,
  };
}
