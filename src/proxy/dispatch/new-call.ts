import type { IncomingHttpHeaders } from 'node:http';
import { codecOf } from '../../codecs/index.ts';
import { tierWord } from '../../codecs/model/tier.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/resolve.ts';
import type { Plan } from '../../combos/routing.ts';
import type { Snapshot } from '../../snapshot.ts';
import { CallerStream } from '../answer/caller-stream.ts';
import type { ProxyContext } from '../context.ts';
import type { RequestReservation } from '../inbound/admit.ts';
import { type LedgerFacts, ledgerEntry, priceOf } from '../metering/entry.ts';
import type { Span } from '../json/splice.ts';
import { keepAnswer } from '../responses-state/keep.ts';
import { notePlace } from '../responses-state/place.ts';
import type { Turn } from '../responses-state/response-state.ts';
import type { Upload } from '../upload/upload.ts';
import { redactedFailure, redactSecrets } from '../upstream/redaction.ts';
import type { Call, CallEnd, NamedInPath, Priced } from './call.ts';

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
  /** How they were found, and what the combo wants beside that; its trace is told of the attempts. */
  plan: Plan;
  /** What the call holds of the budgets, for the first target; null where none concerns it. */
  admission: RequestReservation | null;
  snapshot: Snapshot;
  /** Told how it ended, where its answer may be kept for others. */
  ended?(end: CallEnd, call: Call): void;
}

/** What a call tells the one who runs it. */
export interface CallEvents extends Pick<Call, 'interrupted' | 'failed' | 'triedAgain'> {
  ended(end: CallEnd): void;
  heard(headers: IncomingHttpHeaders): void;
  /** @param at of the monotonic clock */
  delivers(at: number): void;
}

/** A call that is ready for its first attempt. */
export function newCall(context: ProxyContext, prepared: Prepared, events: CallEvents): Call {
  const { admission, body, facts, named, plan, requested, snapshot, span, targets, turn } = prepared;
  // What is used when the call ends outlives its body: `prepared` must not.
  const { ended, upload = null } = prepared;
  const { exchange } = facts;
  const codec = codecOf(facts.format);
  const call: Call = {
    exchange,
    codec,
    caller: new CallerStream({
      response: exchange.response,
      codec: codec.stream,
      array: named?.array === true,
      onDrain: () => call.attempt?.resume(),
    }),
    body,
    upload,
    admission,
    keyId: facts.principal.keyId,
    requestedModel: requested,
    translated: null,
    turn,
    dropped: [],
    named,
    span,
    bodyModel: requested,
    target: targets[0],
    cacheMarks: plan.options.cacheMarks,
    midStreamFailover: plan.options.continueStream,
    partialAnswer: null,
    priorUsage: null,
    failovers: 0,
    attempt: null,
    attempts: 0,
    upstreamStatus: null,
    outputCap: null,
    firstByteAt: null,
    upstreamRequestId: null,
    askedTier: facts.askedTier,
    servedTier: null,
    ended: false,
    redact: (text) => redactSecrets(context, call.target.connection, text),
    price: remembered(
      () => call,
      (usage, tier) => priceOf(snapshot.catalog, call.target, { usage, tier }, exchange.startedAt),
    ),
    savedByRouting(usage, usd) {
      if (plan.first === null || usd === null) return null;
      const { usd: otherwise } = priceOf(
        snapshot.catalog,
        plan.first,
        { usage, tier: null },
        exchange.startedAt,
      );
      return otherwise === null ? null : otherwise - usd;
    },
    end(end) {
      if (call.ended) return;
      call.ended = true;
      if (end.error !== null) end.error.message = call.redact(end.error.message);
      events.ended(end);
      if (end.outcome === 'ok') plan.remember(call.target);
      const entry = ledgerEntry(facts, end, call, context.now());
      admission?.settle(call.attempts > 0 ? entry : null);
      context.record(entry, plan.trace, facts);
      ended?.(end, call);
    },
    heard(status, headers) {
      call.upstreamStatus = status;
      call.servedTier = headerTier(headers);
      const id = headers['request-id'] ?? headers['x-request-id'];
      if (typeof id === 'string') call.upstreamRequestId = id;
      events.heard(headers);
    },
    delivers() {
      const at = performance.now();
      call.firstByteAt ??= at;
      events.delivers(at);
    },
    begun: (head) => notePlace(context.places, call, head),
    answered: (read) => keepAnswer(context.responses, call, read),
    ...failureEvents(events, (text) => call.redact(text)),
  };
  return call;
}

/** Headers in which upstreams name the tier (Gemini API, "Priority inference"; Amazon Bedrock, "Service tiers"). */
const tierHeaders = ['x-gemini-service-tier', 'x-amzn-bedrock-service-tier'] as const;

function headerTier(headers: IncomingHttpHeaders): string | null {
  for (const name of tierHeaders) {
    const tier = tierWord(headers[name]);
    if (tier !== null) return tier;
  }
  return null;
}

/** What the one who runs a call is told of failures, without secrets. */
function failureEvents(
  { interrupted: brokeOff, failed, triedAgain }: CallEvents,
  redact: Call['redact'],
): Pick<Call, 'interrupted' | 'failed' | 'triedAgain'> {
  return {
    triedAgain,
    failed: (failure) => failed(redactedFailure(failure, redact)),
    interrupted: (failure, partialAnswer, used) =>
      brokeOff(redactedFailure(failure, redact), partialAnswer, used),
  };
}

/** The same price without a second look for the same usage in the same tier: once for the answer's header, once for the ledger. */
function remembered(
  call: () => Pick<Call, 'servedTier'>,
  price: (usage: Usage | null, tier: string | null) => Priced,
): Call['price'] {
  let last: (Priced & { usage: Usage | null; tier: string | null }) | null = null;
  return (usage) => {
    const { servedTier: tier } = call();
    if (last?.usage !== usage || last.tier !== tier) last = { usage, tier, ...price(usage, tier) };
    return last;
  };
}
