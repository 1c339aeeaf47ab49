import type { RequestHead } from '../http/exchange.ts';
import type { Exchange } from '../http/server/server.ts';
import { inputTokens, outputTokens } from '../ledger/buckets.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import { jsonString, type LineLog } from '../lib/log.ts';

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
  { clock, id, request, sentBefore }: Exchange,
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

interface Noted {
  /** Null where the ledger keeps nothing. */
  entry: LedgerEntry | null;
  keyId: string | null;
  keyName: string;
}

export function createAccessLog(log: LineLog): AccessLog {
  const noted = new WeakMap<RequestHead, Noted>();
  return {
    identify(request, keyId, keyName) {
      noted.set(request, { entry: null, keyId, keyName });
    },
    note(request, entry, keyName) {
      noted.set(request, { entry, keyId: entry.keyId, keyName });
    },
    write({ bytesOut, durationMs, id, isProbe, path, request, status }) {
      const level = isProbe ? 'debug' : 'info';
      if (!log.isOn(level)) return;
      const model = noted.get(request);
      // The table would otherwise grow until the next large collection, and each small one walks through it.
      noted.delete(request);
      const members =
        member('id', id) +
        member('method', request.method) +
        member('path', path) +
        member('status', status ?? model?.entry?.status ?? CLIENT_CLOSED) +
        member('duration_ms', Math.round(durationMs)) +
        member('bytes_in', bodyBytes(request)) +
        member('bytes_out', bytesOut) +
        (model === undefined ? '' : member('key', model.keyName) + member('key_id', model.keyId)) +
        (model?.entry == null ? '' : modelMembers(model.entry));
      log.write(level, members, 'request');
    },
  };
}

/** One member of a line, behind its comma; nothing where there is no value. A number that JSON does not have is null. */
function member(name: string, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return `,"${name}":${jsonString(value)}`;
  return `,"${name}":${Number.isFinite(value) ? value : 'null'}`;
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

function modelMembers(entry: LedgerEntry): string {
  const { requestedModel, usage } = entry;
  return (
    member('format', entry.format) +
    member('requested_model', requestedModel === null ? null : shortened(requestedModel)) +
    member('provider', entry.provider) +
    member('connection', entry.connection) +
    member('model', entry.model) +
    member('outcome', entry.outcome) +
    member('error', entry.errorCode) +
    member('attempts', entry.attempts) +
    member('ttft_ms', entry.ttftMs) +
    member('input_tokens', usage === null ? null : inputTokens(usage)) +
    member('output_tokens', usage === null ? null : outputTokens(usage)) +
    member('cost_usd', entry.costUsd)
  );
}
