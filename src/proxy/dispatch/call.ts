import type { IncomingHttpHeaders } from 'node:http';
import type { Codec } from '../../codecs/codec.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/resolve.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { CallerStream } from '../answer/caller-stream.ts';
import type { RequestReservation } from '../inbound/admit.ts';
import type { Span } from '../json/splice.ts';
import type { Turn } from '../responses-state/response-state.ts';
import type { TranslatedRequest } from '../translate/request.ts';
import type { Upload } from '../upload/upload.ts';
import type { Attempt } from '../upstream/attempt.ts';
import type { Failure } from '../upstream/failure.ts';
import type { PartialAnswer } from '../relay/partial-relay.ts';

/** How a call ended, as the ledger keeps it. */
export interface CallEnd {
  /** What the caller saw; 499 when it left. */
  status: number;
  outcome: 'ok' | 'failed' | 'aborted';
  error: { code: string; message: string } | null;
  streamed: boolean;
  usage: Usage | null;
  estimated: boolean;
}

export interface Priced {
  usd: number | null;
  /** USD that the upstream's prompt cache saved; null where that is not known. */
  saved: number | null;
  source: string | null;
}

/** What earlier targets used for the beginning of an answer. */
export interface PriorUsage extends Priced {
  usage: Usage;
  estimated: boolean;
}

/** A request that names its model in its path, and says there how it wants the answer. */
export interface NamedInPath {
  model: string;
  stream: boolean;
  /** A stream as one JSON array instead of events. */
  array: boolean;
}

/** One model request on its way through the gateway. */
export interface Call {
  readonly exchange: AnyExchange;
  readonly codec: Codec;
  /** Where frames go, whichever targets are asked; a whole answer goes to the exchange itself. */
  readonly caller: CallerStream;
  /** The request's bytes; empty once a stream has begun and they cannot be needed again. */
  body: readonly Buffer[];
  /** The request, where it is a form that passes through; its `body` is empty then. */
  readonly upload: Upload | null;
  /** What it holds of the budgets; null where none concerns it. */
  readonly admission: RequestReservation | null;
  /** Id of the gateway key that asks. */
  readonly keyId: string;
  /** The model as the caller named it. */
  readonly requestedModel: string;
  /** What the path said of the request; null where the body says it. */
  readonly named: NamedInPath | null;
  /** Where the model's literal stands in the body, and what it says. */
  span: Span;
  bodyModel: string;
  target: Target;
  /** The request in the target's format, where that is another than the caller's. */
  translated: TranslatedRequest | null;
  /** The most that this target said it would write for this call; null where it did not. */
  outputCap: { target: Target; most: number } | null;
  /** For requests of the responses format: what the gateway does about their state. */
  readonly turn: Turn | null;
  /** What the target was not told, in the caller's words; shown as `x-gateway-dropped`. */
  dropped: readonly string[];
  /** Whether a target of another format is told what to keep in its prompt cache. */
  readonly cacheMarks: boolean;
  /** Whether another target is to go on with an answer that breaks off after its first words. */
  readonly midStreamFailover: boolean;
  /** The answer that broke off and that the target goes on with; null for one that begins. */
  partialAnswer: PartialAnswer | null;
  /** What that has used up to then. */
  priorUsage: PriorUsage | null;
  /** How many targets have gone on with it. */
  failovers: number;
  attempt: Attempt | null;
  attempts: number;
  /** HTTP status of the attempt under way; null until it has one. */
  upstreamStatus: number | null;
  /** performance.now() of the first byte that went to the caller. */
  firstByteAt: number | null;
  upstreamRequestId: string | null;
  /** The service tier that was asked for, as `tierWord` has it; null where none was named. */
  readonly askedTier: string | null;
  /** The tier that this target said it served in; null where it did not say. The usage is priced by it. */
  servedTier: string | null;
  ended: boolean;
  /** A text of the upstream without what the target's connection proves itself with. */
  redact(this: void, text: string): string;
  /** USD of this call's usage; null where no price is known. */
  price(usage: Usage | null): Priced;
  /** USD that the combo saved with what this used and cost, against its first model; null where that is not known. */
  savedByRouting(usage: Usage | null, usd: number | null): number | null;
  /** Writes the call's one ledger entry. Later calls do nothing. */
  end(end: CallEnd): void;
  /** Told of the first bytes of a good answer that is relayed, before the request is let go of. */
  begun(head: Buffer): void;
  /** Told of the head of an answer. */
  heard(status: number, headers: IncomingHttpHeaders): void;
  /**
   * A failure after the first words of a stream: another target goes on with it, or the answer ends there.
   * @param used what the target used for its part
   */
  interrupted(
    failure: Failure,
    partialAnswer: PartialAnswer,
    used: Pick<CallEnd, 'usage' | 'estimated'>,
  ): void;
  /** Told that content goes to the caller. */
  delivers(): void;
  /** Told of a whole and good answer of the responses format; `read` gives it, if it has to be kept. */
  answered(read: () => JsonObject | null): void;
  /** Tries the same target again when its error means that it would take the request without something optional. */
  triedAgain(error: GatewayError): boolean;
  /** A failure before any content was sent to the caller: another attempt, or the error answer. */
  failed(failure: Failure): void;
}

/**
 * The request's id and the headers that say where an answer came from, flat.
 * @param upstream what the caller gets of the upstream's headers
 */
function gatewayHeaders(call: Call, upstream: IncomingHttpHeaders): string[] {
  const { connection, model, provider } = call.target;
  const headers = [
    'x-request-id',
    call.exchange.id,
    'x-gateway-provider',
    provider.id,
    'x-gateway-connection',
    headerText(connection.name),
    'x-gateway-model',
    headerText(model),
    'x-gateway-attempts',
    String(call.attempts),
  ];
  // Where Anthropic's clients look for the id; the vendor's own is passed on.
  if (call.codec.format === 'anthropic-messages' && upstream['request-id'] === undefined)
    headers.push('request-id', call.exchange.id);
  const lowered = call.translated?.lowered ?? null;
  if (lowered !== null) headers.push('x-gateway-lowered', lowered);
  if (call.translated?.addsTurn === true) headers.push('x-gateway-added', 'user-turn');
  if (call.target.deprecated === true) headers.push('x-gateway-deprecated', headerText(model));
  if (call.dropped.length > 0) headers.push('x-gateway-dropped', headerList(call.dropped));
  return headers;
}

/** The headers of a stream that a keep-alive opens, flat: nobody knows yet whose answer it will carry. */
export function openingHeaders({ codec, exchange: { id } }: Call): string[] {
  const own = codec.format === 'anthropic-messages' ? ['request-id', id] : [];
  return ['x-request-id', id, ...own];
}

/**
 * Adds the request's id, where the answer came from, and what is left of the gateway's limits to the headers of an
 * upstream, flat. What the upstream says of the same limits is about another account than the caller's.
 */
export function addGatewayHeaders(headers: string[], call: Call, upstream: IncomingHttpHeaders = {}): void {
  const limits = call.admission?.headers() ?? [];
  if (limits.length > 0) {
    for (let index = headers.length - 2; index >= 0; index -= 2)
      if (ofLimits(headers[index])) headers.splice(index, 2);
  }
  headers.push(...gatewayHeaders(call, upstream), ...limits);
}

function ofLimits(name: string | undefined): boolean {
  return name !== undefined && (name.startsWith('x-ratelimit-') || name.startsWith('anthropic-ratelimit-'));
}

const MAX_LIST = 1_000;

function headerList(names: readonly string[]): string {
  const text = names.map((name) => name.replace(/[^\x21-\x2b\x2d-\x7e]/g, '?')).join(',');
  return text.length > MAX_LIST ? `${text.slice(0, MAX_LIST)}...` : text;
}

export function endOfError(error: GatewayError, streamed: boolean): CallEnd {
  return {
    status: error.status,
    outcome: 'failed',
    error: { code: error.code, message: error.message },
    streamed,
    usage: null,
    estimated: false,
  };
}

export function callerGone(streamed: boolean): CallEnd {
  return {
    status: 499,
    outcome: 'aborted',
    error: { code: 'client_closed', message: 'The client left before the answer was complete' },
    streamed,
    usage: null,
    estimated: false,
  };
}

/** Header values are Latin-1 without control characters (RFC 9110, 5.5); a name outside that is percent-encoded, lone surrogates as U+FFFD. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
