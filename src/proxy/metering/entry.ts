import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import { sessionNameOf } from '../../combos/sessions/session.ts';
import type { Target } from '../../combos/target.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { AnswerCost, PriorUsage } from '../request/answer-usage.ts';
import type { RequestEnd } from '../request/end.ts';
import type { LedgerFacts, RequestFacts } from '../request/facts.ts';
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
    requestedTier: null,
  };
}

/** How a request went that had targets. */
export interface RunSummary {
  readonly facts: RequestFacts;
  /** Who answered, or whose failure was answered. */
  readonly target: Target;
  readonly attempts: number;
  /** What the last one was not sent. */
  readonly dropped: readonly string[];
  /** How many targets have gone on with an answer that another began. */
  readonly failovers: number;
  readonly servedTier: string | null;
  readonly finishReason: FinishReason | null;
  /** What earlier targets used for the beginning of the answer. */
  readonly priorUsage: PriorUsage | null;
  /** performance.now() of the first byte that went to the client. */
  readonly firstByteAt: number | null;
  readonly upstreamRequestId: string | null;
}

type PricedUsage = Pick<RequestEnd, 'usage' | 'estimated'> & AnswerCost;

/** What all targets used that wrote a part of the answer. */
function totalOf(summary: RunSummary | null, { estimated, usage }: RequestEnd): PricedUsage {
  if (summary === null) return { usage, estimated, usd: null, saved: null, source: null };
  const { facts, priorUsage, servedTier: tier, target } = summary;
  if (priorUsage !== null) return totalUsage(facts.price, target, { usage, estimated, tier }, priorUsage);
  const { saved, source, usd } = facts.price(target, { usage, tier });
  return { usage, estimated, usd, saved, source };
}

/** USD that the combo saved with what a request used and cost, against its first model; null where that is not known. */
function savedByRouting(
  { facts: { plan, price } }: RunSummary,
  { usage, usd: cost }: PricedUsage,
): number | null {
  if (plan.first === null || cost === null) return null;
  const { usd } = price(plan.first, { usage, tier: null });
  return usd === null ? null : usd - cost;
}

/** The ledger entry of a request that ended. @param summary how its attempts went; null when it never had a target */
export function ledgerEntry(
  facts: LedgerFacts,
  end: RequestEnd,
  summary: RunSummary | null,
  now: number,
): LedgerEntry {
  const { exchange, format, principal } = facts;
  const total = totalOf(summary, end);
  const target = summary?.target ?? null;
  const { finishReason, rawFinishReason } = finishFields(summary?.finishReason ?? null);
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
    dropped: boundedWords(summary?.dropped ?? []),
    status: end.status,
    outcome: end.outcome,
    errorCode: end.error?.code ?? null,
    errorMessage: end.error?.message.slice(0, 1000) ?? null,
    streamed: end.streamed,
    usage: total.usage,
    estimated: total.estimated,
    cached: false,
    continued: summary?.failovers ?? 0,
    requestedTier: facts.requestedTier,
    servedTier: summary?.servedTier ?? null,
    finishReason,
    rawFinishReason,
    costUsd: total.usd,
    priceSource: total.source,
    cacheSavingsUsd: total.saved,
    billing: target?.connection.billing ?? 'metered',
    routingSavingsUsd: summary === null ? null : savedByRouting(summary, total),
    ttftMs:
      summary === null || summary.firstByteAt === null
        ? null
        : Math.round(summary.firstByteAt - exchange.clock),
    durationMs: Math.max(0, now - exchange.startedAt),
    attempts: summary?.attempts ?? 0,
    upstreamRequestId: summary?.upstreamRequestId ?? null,
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

function boundedWords(words: readonly string[]): string[] {
  return words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD));
}
