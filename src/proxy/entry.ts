import type { Principal } from '../access/authenticate.ts';
import { costOf } from '../catalog/cost.ts';
import type { Catalog } from '../catalog/price.ts';
import type { Usage, WireFormat } from '../codecs/model.ts';
import type { Target } from '../combos/resolve.ts';
import type { Trace } from '../combos/trace.ts';
import type { AnyExchange } from '../http/server.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { Call, CallEnd, Priced } from './call.ts';
import { spentWith } from './spent.ts';

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
}

/** What `usage` costs at the price of the request's own time; null where usage or price is unknown. */
export function priceOf(catalog: Catalog, target: Target, usage: Usage | null, at: number): Priced {
  if (usage === null) return { usd: null, source: null };
  const price = catalog.priceOf(target.provider, target.model, at);
  if (price === null) return { usd: null, source: null };
  return { usd: costOf(price, usage), source: price.source };
}

/** What all targets used that wrote a part of the answer. */
function usedBy(call: Call | null, end: CallEnd): Pick<CallEnd, 'usage' | 'estimated'> & Priced {
  if (call === null) return { ...end, usd: null, source: null };
  return call.spent === null ? { ...end, ...call.price(end.usage) } : spentWith(call, end);
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
    status: end.status,
    outcome: end.outcome,
    errorCode: end.error?.code ?? null,
    errorMessage: end.error?.message.slice(0, 1000) ?? null,
    streamed: end.streamed,
    usage: used.usage,
    estimated: used.estimated,
    cached: false,
    continued: call?.continued ?? 0,
    costUsd: used.usd,
    priceSource: used.source,
    ttftMs: call === null || call.firstByteAt === null ? null : Math.round(call.firstByteAt - exchange.clock),
    durationMs: Math.max(0, now - exchange.startedAt),
    attempts: call?.attempts ?? 0,
    upstreamRequestId: call?.upstreamRequestId ?? null,
    userAgent: exchange.request.headers['user-agent']?.slice(0, 256) ?? null,
  };
}
