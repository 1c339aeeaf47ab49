import { codecOf } from '../codecs/index.ts';
import type { Usage, WireFormat } from '../codecs/model.ts';
import type { Target } from '../combos/resolve.ts';
import { sendJson } from '../http/send.ts';
import { GatewayError } from '../lib/error.ts';
import type { Snapshot } from '../snapshot.ts';
import { errorHeaders } from './answer-error.ts';
import { type AnswerReader, Attempt } from './attempt.ts';
import { type Call, callerGone, endOfError, gatewayHeaders, type NamedInPath, type Priced } from './call.ts';
import type { OpenCall, ProxyContext } from './context.ts';
import { type LedgerFacts, ledgerEntry, priceOf } from './entry.ts';
import type { Failure } from './failure.ts';
import { learnedRefusal } from './refused-members.ts';
import { Relay } from './relay.ts';
import { MediaRelay } from './relay-media.ts';
import { keepAnswer } from './responses-keep.ts';
import type { Turn } from './responses-turn.ts';
import { leaveOutSeals } from './retry-unsealed.ts';
import type { Span } from './splice.ts';
import { Translation } from './translate.ts';
import { translateRequest } from './translate-request.ts';
import type { Upload } from './upload.ts';
import { upstreamRequest } from './upstream-request.ts';

export interface Prepared {
  facts: LedgerFacts;
  body: readonly Buffer[];
  /** What the caller asked for, and where its literal stands in the body. */
  requested: string;
  span: Span;
  named: NamedInPath | null;
  turn: Turn | null;
  /** A form that passes through, instead of a body. */
  upload?: Upload;
  /** At least one. */
  targets: readonly [Target, ...Target[]];
  snapshot: Snapshot;
}

/**
 * Runs a prepared call: one attempt after the other until one answers, the targets are used up or the caller
 * leaves. The only retry loop.
 */
export function runCall(context: ProxyContext, prepared: Prepared): void {
  const { facts, targets } = prepared;
  const { exchange } = facts;
  let relay: AnswerReader | null = null;
  let index = 0;
  let retried = false;
  let unsealing = false;

  const call = newCall(context, prepared, {
    ended: () => context.watch.remove(open),
    triedAgain(error) {
      if (learnedRefusal(context.refused, call, error)) unsealing = false;
      else if (!unsealing && leaveOutSeals(call, error)) unsealing = true;
      else return false;
      attempt();
      return true;
    },
    failed(failure) {
      if (call.ended) return;
      if (exchange.response.destroyed) call.end(callerGone(false));
      else if (failure.safeToRetry && !retried) {
        retried = true;
        attempt();
      } else if (failure.safeToRetry && targets[index + 1] !== undefined) {
        retried = false;
        unsealing = false;
        index += 1;
        attempt();
      } else answerFailure(call, failure);
    },
  });
  const open: OpenCall = {
    slot: -1,
    tick(elapsed) {
      call.attempt?.tick(elapsed);
      if (!call.ended) relay?.tick(elapsed);
    },
    interrupt(error) {
      call.attempt?.abort();
      relay?.interrupt(error);
    },
  };
  const attempt = () => {
    call.target = targets[index] ?? targets[0];
    call.attempts += 1;
    try {
      relay = answerReader(context, call, facts.format, unsealing);
      const request = upstreamRequest(context, call, retried);
      call.attempt = new Attempt(request.host, relay, context.config.timeouts);
      call.attempt.start(request);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      call.failed({ error, safeToRetry: false });
    }
  };
  exchange.response.on('close', () => {
    if (call.ended) return;
    relay?.onCallerGone();
    call.attempt?.abort();
  });
  if (exchange.response.destroyed) {
    // It left while the request was being made ready.
    call.end(callerGone(false));
    return;
  }
  context.watch.add(open);
  attempt();
}

interface CallEvents extends Pick<Call, 'failed' | 'triedAgain'> {
  ended(): void;
}

function newCall(context: ProxyContext, prepared: Prepared, events: CallEvents): Call {
  const { body, facts, named, requested, snapshot, span, targets, turn, upload = null } = prepared;
  const { exchange } = facts;
  const call: Call = {
    exchange,
    codec: codecOf(facts.format),
    body,
    upload,
    requestedModel: requested,
    translated: null,
    turn,
    dropped: [],
    named,
    span,
    bodyModel: requested,
    target: targets[0],
    attempt: null,
    attempts: 0,
    firstByteAt: null,
    upstreamRequestId: null,
    ended: false,
    price: remembered((usage) => priceOf(snapshot.catalog, call.target, usage, exchange.startedAt)),
    end(end) {
      if (call.ended) return;
      call.ended = true;
      events.ended();
      context.record(ledgerEntry(facts, end, call, context.now()));
    },
    answered: (read) => keepAnswer(context.responses, call, read),
    triedAgain: events.triedAgain,
    failed: events.failed,
  };
  return call;
}

/** The same price without a second look for the same usage: once for the answer's header, once for the ledger. */
function remembered(price: Call['price']): Call['price'] {
  let last: (Priced & { usage: Usage | null }) | null = null;
  return (usage) => {
    if (last?.usage !== usage) last = { usage, ...price(usage) };
    return last;
  };
}

/**
 * Translates the request if its target needs that, and says who carries the answer back.
 * @param prepared the request is ready for its target
 */
function answerReader(
  { config, refused }: ProxyContext,
  call: Call,
  format: WireFormat,
  prepared: boolean,
): AnswerReader {
  if (call.target.format === format && call.turn?.compacts !== true) {
    call.translated = null;
    const { media } = call.codec;
    if (media !== undefined) return new MediaRelay(call, media, config.keepAliveMs);
    return new Relay(call, config.keepAliveMs);
  }
  if (!prepared || call.translated === null) {
    call.translated = translateRequest(call, format, refused.of(call.target));
    call.dropped = call.translated.dropped;
  }
  return new Translation(call, call.translated, config.keepAliveMs);
}

/** A failure with no attempt left and nothing sent: the error answer, in the caller's dialect. */
function answerFailure(call: Call, { error }: Failure): void {
  const { exchange } = call;
  const headers = { ...Object.fromEntries(pairs(gatewayHeaders(call))), ...errorHeaders(error) };
  sendJson(exchange, error.status, call.codec.encodeError(error, exchange.id), headers);
  call.end(endOfError(error, false));
}

function* pairs(flat: readonly string[]): Iterable<[string, string]> {
  for (let index = 0; index + 1 < flat.length; index += 2) yield [flat[index] ?? '', flat[index + 1] ?? ''];
}
