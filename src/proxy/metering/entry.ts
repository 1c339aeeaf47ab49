import type { Principal } from '../../access/authenticate.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { cacheSavings, costOf } from '../../catalog/cost.ts';
import type { Usage, WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/resolve.ts';
import { sessionNameOf } from '../../combos/session.ts';
import type { Trace } from '../../combos/trace.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { RequestOrigin } from '../context.ts';
import type { Call, CallEnd, Priced } from '../dispatch/call.ts';
import { totalUsage } from './prior-usage.ts';

/** What is known of a call before it has a target. */
export interface LedgerFacts {
  exchange: AnyExchange;
  format: WireFormat;
  principal: Principal;
  requestedModel: string | null;
  /** The combo through which it was resolved. */
  comboId: string | null;
  /** Why it goes where it goes; null before that is decided. */
  trace: Trace | null;
  /** What it is counted under, beside its key; those of the key alone before the request was read. */
  tags: readonly string[];
  /** The service tier that was asked for, as `tierWord` has it; null where none was named, or the request is not read yet. */
  askedTier: string | null;
}

/** What is known of a call before anything of it was read. */
export function newFacts({
  exchange,
  format,
  principal,
}: Pick<LedgerFacts, 'exchange' | 'format' | 'principal'>): LedgerFacts {
  const { tags = [] } = principal;
  return {
    exchange,
    format,
    principal,
    requestedModel: null,
    comboId: null,
    trace: null,
    tags,
    askedTier: null,
  };
}

const unpriced: Priced = { usd: null, saved: null, source: null };

/** What an answer used, and the tier that it was served in; null where it did not say. */
export interface Served {
  usage: Usage | null;
  tier: string | null;
}

/** What was used costs at the price of the request's own time; null where usage or price is unknown. */
export function priceOf(
  catalog: Catalog,
  target: Pick<Target, 'provider' | 'model'>,
  { tier, usage }: Served,
  at: number,
): Priced {
  const price = usage === null ? null : catalog.priceOf(target.provider, target.model, at, tier);
  if (usage === null || price === null) return unpriced;
  return { usd: costOf(price, usage), saved: cacheSavings(price, usage), source: price.source };
}

/** What all targets used that wrote a part of the answer. */
function usedBy(call: Call | null, end: CallEnd): Pick<CallEnd, 'usage' | 'estimated'> & Priced {
  if (call === null) return { ...end, ...unpriced };
  return call.priorUsage === null ? { ...end, ...call.price(end.usage) } : totalUsage(call, end);
}

/** The ledger entry of a call that ended; `call` is null when it never had a target. */
export function ledgerEntry(facts: LedgerFacts, end: CallEnd, call: Call | null, now: number): LedgerEntry {
  const { exchange, format, principal } = facts;
  const used = usedBy(call, end);
  const target = call?.target ?? null;
  return {
    id: exchange.id,
    startedAt: exchange.startedAt,
    keyId: principal.keyId,
    connectionId: target?.connection.id ?? null,
    connection: target?.connection.name ?? null,
    provider: target?.provider.id ?? null,
    format,
    requestedModel: facts.requestedModel?.slice(0, 256) ?? null,
    comboId: facts.comboId,
    innerComboIds: target?.innerCombos ?? [],
    model: target?.model.slice(0, 256) ?? null,
    dropped: call === null ? [] : keptWords(call.dropped),
    status: end.status,
    outcome: end.outcome,
    errorCode: end.error?.code ?? null,
    errorMessage: end.error?.message.slice(0, 1000) ?? null,
    streamed: end.streamed,
    usage: used.usage,
    estimated: used.estimated,
    cached: false,
    continued: call?.failovers ?? 0,
    askedTier: facts.askedTier,
    servedTier: call?.servedTier ?? null,
    costUsd: used.usd,
    priceSource: used.source,
    cacheSavingsUsd: used.saved,
    billing: target?.connection.billing ?? 'metered',
    routingSavingsUsd: call === null ? null : call.savedByRouting(used.usage, used.usd),
    ttftMs: call === null || call.firstByteAt === null ? null : Math.round(call.firstByteAt - exchange.clock),
    durationMs: Math.max(0, now - exchange.startedAt),
    attempts: call?.attempts ?? 0,
    upstreamRequestId: call?.upstreamRequestId ?? null,
    userAgent: exchange.request.headers['user-agent']?.slice(0, 256) ?? null,
    session: sessionNameOf(exchange.request.headers),
    tags: facts.tags,
  };
}

/** What the client sent to tie its traces to the gateway's (W3C Trace Context), as it came. */
export function traceparentOf({ exchange }: Pick<RequestOrigin, 'exchange'>): string | null {
  const { traceparent } = exchange.request.headers;
  return typeof traceparent === 'string' ? traceparent : null;
}

/** What is kept of a request's words, which are the client's and may be many and long. */
const MAX_WORDS = 50;
const MAX_WORD = 100;

function keptWords(words: readonly string[]): string[] {
  return words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD));
}
