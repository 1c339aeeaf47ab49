import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import { sessionNameOf } from '../../combos/session.ts';
import type { Target } from '../../combos/target.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { RequestEnd } from '../request/end.ts';
import type { LedgerFacts, RequestFacts } from '../request/facts.ts';
import type { Priced, PriorUsage } from '../request/use.ts';
import { finishFields } from './finish-reason.ts';
import { totalUsage } from './prior-usage.ts';

/** What is known of a request before anything of it was read. */
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

/** How a request went that had targets. */
export interface Attempted {
  readonly facts: RequestFacts;
  /** Who answered, or whose failure was answered. */
  readonly target: Target;
  readonly attempts: number;
  /** What the last one was not told. */
  readonly dropped: readonly string[];
  /** How many targets have gone on with an answer that another began. */
  readonly continued: number;
  readonly servedTier: string | null;
  readonly finishReason: FinishReason | null;
  /** What earlier targets used for the beginning of the answer. */
  readonly priorUsage: PriorUsage | null;
  /** performance.now() of the first byte that went to the caller. */
  readonly firstByteAt: number | null;
  readonly upstreamRequestId: string | null;
}

type Used = Pick<RequestEnd, 'usage' | 'estimated'> & Priced;

/** What all targets used that wrote a part of the answer. */
function usedBy(attempted: Attempted | null, { estimated, usage }: RequestEnd): Used {
  if (attempted === null) return { usage, estimated, usd: null, saved: null, source: null };
  const { facts, priorUsage, servedTier: tier, target } = attempted;
  if (priorUsage !== null) return totalUsage(facts.price, target, { usage, estimated, tier }, priorUsage);
  const { saved, source, usd } = facts.price(target, { usage, tier });
  return { usage, estimated, usd, saved, source };
}

/** USD that the combo saved with what a request used and cost, against its first model; null where that is not known. */
function savedByRouting({ facts: { plan, price } }: Attempted, { usage, usd: cost }: Used): number | null {
  if (plan.first === null || cost === null) return null;
  const { usd } = price(plan.first, { usage, tier: null });
  return usd === null ? null : usd - cost;
}

/** The ledger entry of a request that ended; `attempted` is null when it never had a target. */
export function ledgerEntry(
  facts: LedgerFacts,
  end: RequestEnd,
  attempted: Attempted | null,
  now: number,
): LedgerEntry {
  const { exchange, format, principal } = facts;
  const used = usedBy(attempted, end);
  const target = attempted?.target ?? null;
  const { finishReason, rawFinishReason } = finishFields(attempted?.finishReason ?? null);
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
    dropped: keptWords(attempted?.dropped ?? []),
    status: end.status,
    outcome: end.outcome,
    errorCode: end.error?.code ?? null,
    errorMessage: end.error?.message.slice(0, 1000) ?? null,
    streamed: end.streamed,
    usage: used.usage,
    estimated: used.estimated,
    cached: false,
    continued: attempted?.continued ?? 0,
    askedTier: facts.askedTier,
    servedTier: attempted?.servedTier ?? null,
    finishReason,
    rawFinishReason,
    costUsd: used.usd,
    priceSource: used.source,
    cacheSavingsUsd: used.saved,
    billing: target?.connection.billing ?? 'metered',
    routingSavingsUsd: attempted === null ? null : savedByRouting(attempted, used),
    ttftMs:
      attempted === null || attempted.firstByteAt === null
        ? null
        : Math.round(attempted.firstByteAt - exchange.clock),
    durationMs: Math.max(0, now - exchange.startedAt),
    attempts: attempted?.attempts ?? 0,
    upstreamRequestId: attempted?.upstreamRequestId ?? null,
    userAgent: exchange.request.headers['user-agent']?.slice(0, 256) ?? null,
    session: sessionNameOf(exchange.request.headers),
    tags: facts.tags,
  };
}

/** What the client sent to tie its traces to the gateway's (W3C Trace Context), as it came. */
export function traceparentOf({ exchange }: { exchange: Pick<AnyExchange, 'request'> }): string | null {
  const { traceparent } = exchange.request.headers;
  return typeof traceparent === 'string' ? traceparent : null;
}

/** What is kept of a request's words, which are the client's and may be many and long. */
const MAX_WORDS = 50;
const MAX_WORD = 100;

function keptWords(words: readonly string[]): string[] {
  return words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD));
}
